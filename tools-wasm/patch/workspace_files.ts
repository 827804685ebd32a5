/** The files that a call may touch, through the host's functions. @module */
import { Refusal } from "./refusal.ts";

/** A part of a file. */
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

/** What the host offers of `remit.fs`. */
export interface HostFiles {
  read(
    args: { readonly path: string; readonly from?: number; readonly bytes?: number },
  ): Promise<FilePart>;
  write(args: { readonly path: string; readonly text: string }): Promise<unknown>;
  delete(args: { readonly path: string }): Promise<unknown>;
}

/** Most bytes of a file that is patched or merged: 4 MiB. */
const FILE_BYTES = 4 * 1024 * 1024;

/**
 * The whole text of a file; undefined when there is none.
 *
 * @throws {Refusal} `tooLarge` past {@link FILE_BYTES}, `invalidInput` when it is not UTF-8 text.
 */
export async function readWhole(files: HostFiles, path: string): Promise<string | undefined> {
  const parts: string[] = [];
  let from = 0;
  while (true) {
    const part = await readPart(files, path, from);
    if (part === undefined) return undefined;
    if (part.bytes > FILE_BYTES) {
      throw new Refusal(
        "tooLarge",
        `Cannot read "${path}": it has ${part.bytes} bytes, and ${FILE_BYTES} are taken`,
      );
    }
    if (part.lossy === true || part.text === undefined) {
      throw new Refusal("invalidInput", `Cannot read "${path}": it is not UTF-8 text`);
    }
    parts.push(part.text);
    const next = part.next ?? (typeof part.end === "number" ? part.end : part.bytes);
    // A host that does not move on would be asked for ever.
    if (next >= part.bytes || next <= from) return parts.join("");
    from = next;
  }
}

async function readPart(
  files: HostFiles,
  path: string,
  from: number,
): Promise<FilePart | undefined> {
  try {
    return await files.read({ path, from, bytes: FILE_BYTES });
  } catch (error) {
    if (codeOf(error) === "notFound") return undefined;
    throw error;
  }
}

function codeOf(error: unknown): unknown {
  return typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
}
