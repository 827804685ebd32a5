/** Reads a plugin's files from its host in parts, whole and within bounds. @module */
import { Fault } from "../contracts/base/fault.ts";

/** A part of a file, as the host function `fs.read` returns it. */
export interface FilePart {
  readonly text?: string;
  /** Size of the whole file. */
  readonly bytes: number;
  /** Offset of the next part. */
  readonly next?: number;
  /** Offset after the last byte read. */
  readonly end?: number | boolean;
  /** Some bytes were not UTF-8. */
  readonly lossy?: boolean;
}

/** The host's function for reading. */
export interface PartReader {
  read(
    args: { readonly path: string; readonly from?: number; readonly bytes?: number },
  ): Promise<FilePart>;
}

/** Bytes of one request: 4 MiB. */
const PART_BYTES = 4 * 1024 * 1024;

/**
 * The whole text of a file of at most `maxBytes` bytes.
 *
 * @throws {Fault} `tooLarge` past `maxBytes`, `invalidInput` for a file that is not UTF-8 text; the host's faults
 */
export async function readWhole(
  files: PartReader,
  path: string,
  maxBytes: number,
): Promise<string> {
  const parts: string[] = [];
  let from = 0;
  while (true) {
    const part = await files.read({ path, from, bytes: PART_BYTES });
    if (part.bytes > maxBytes) {
      throw new Fault(
        "tooLarge",
        `Cannot read "${path}": it has ${part.bytes} bytes, and ${maxBytes} are taken`,
      );
    }
    if (part.lossy === true || part.text === undefined) {
      throw new Fault("invalidInput", `Cannot read "${path}": it is not UTF-8 text`);
    }
    parts.push(part.text);
    const next = part.next ?? (typeof part.end === "number" ? part.end : part.bytes);
    // Without progress the loop would never end.
    if (next >= part.bytes || next <= from) return parts.join("");
    from = next;
  }
}
