/** Files as a plugin reads them of its host: in parts, put together within bounds. @module */
import { Fault } from "../contracts/base/fault.ts";

/** A part of a file, as the host function `fs.read` gives it. */
export interface FilePart {
  readonly text?: string;
  /** Size of the whole file. */
  readonly bytes: number;
  /** Byte to go on from. */
  readonly next?: number;
  /** Byte after the last one that was read. */
  readonly end?: number | boolean;
  /** Some bytes were no UTF-8. */
  readonly lossy?: boolean;
}

/** What reads files. */
export interface PartReader {
  read(
    args: { readonly path: string; readonly from?: number; readonly bytes?: number },
  ): Promise<FilePart>;
}

/** Most bytes that are asked for at once: 4 MiB. */
const PART_BYTES = 4 * 1024 * 1024;

/**
 * The whole text of a file of at most `most` bytes.
 *
 * @throws {Fault} `tooLarge` past them, `invalidInput` when the file is not UTF-8 text, and as the host does
 */
export async function readWhole(files: PartReader, path: string, most: number): Promise<string> {
  const parts: string[] = [];
  let from = 0;
  while (true) {
    const part = await files.read({ path, from, bytes: PART_BYTES });
    if (part.bytes > most) {
      throw new Fault(
        "tooLarge",
        `Cannot read "${path}": it has ${part.bytes} bytes, and ${most} are taken`,
      );
    }
    if (part.lossy === true || part.text === undefined) {
      throw new Fault("invalidInput", `Cannot read "${path}": it is not UTF-8 text`);
    }
    parts.push(part.text);
    const next = part.next ?? (typeof part.end === "number" ? part.end : part.bytes);
    // A host that does not move on would be asked for ever.
    if (next >= part.bytes || next <= from) return parts.join("");
    from = next;
  }
}
