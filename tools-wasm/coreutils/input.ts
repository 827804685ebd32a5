/**
 * The input of programs: files in pieces, lines across pieces, or the text given as stdin. @module
 */
import type { Entry, Files, Listing, Piece } from "./_remit.ts";
import { FileError, fileError } from "./faults.ts";
import { utf8Bytes } from "./output.ts";
import { placeOf } from "./place.ts";

/** Bytes of one piece. */
const PIECE = 1024 * 1024;
/** Maximum bytes for programs that need a whole file. */
export const WHOLE_LIMIT = 16 * 1024 * 1024;
/** Maximum entries of one listing. */
const ENTRIES = 5_000;
/** Maximum levels of a listing: the kernel's own limit. */
export const LEVELS = 64;

/** Reading, for one program. All throw {@link FileError}. A name `-` means stdin. */
export interface Input {
  /** The workspace path of a name. */
  place(name: string): string;
  /** Text from the byte `from` on, piece by piece. */
  texts(name: string, from?: number): AsyncGenerator<string>;
  /** Lines without their ends, in batches; `open` marks a last line without an end. */
  lines(name: string): AsyncGenerator<Lines>;
  /** The whole text; a {@link FileError} if it is too large. */
  whole(name: string): Promise<string>;
  /** Bytes in base64 pieces, each but the last a multiple of three bytes. */
  base64(name: string): AsyncGenerator<string>;
  size(name: string): Promise<number>;
  /** The contents of a folder down to `depth`; undefined for a file. */
  listing(name: string, depth?: number): Promise<Listing | undefined>;
  /** The kind of a path. */
  kind(name: string): Promise<Entry["kind"]>;
}

/** A batch of lines. */
export interface Lines {
  readonly lines: readonly string[];
  /** Whether the last line ended with the text, without a line end. */
  readonly open: boolean;
}

/** Makes the input of one program, in the folder `cwd`. */
export function makeInput(
  files: Files,
  { cwd, stdin }: { readonly cwd: string; readonly stdin: string },
): Input {
  const place = (name: string): string => placeOf(name, cwd);

  const piece = async (
    name: string,
    from: number,
    { bytes, encoding }: { readonly bytes: number; readonly encoding: "text" | "base64" },
  ): Promise<Piece> => {
    const path = place(name);
    if (!path.includes("/")) throw new FileError(`${name}: Is a directory`);
    try {
      return await files.read({ path, from, bytes, encoding });
    } catch (error) {
      throw fileError(name, error);
    }
  };

  async function* texts(name: string, from = 0): AsyncGenerator<string> {
    if (name === "-") {
      yield from === 0 ? stdin : fromByte(stdin, from);
      return;
    }
    for (let at = from;;) {
      const { text = "", bytes, next } = await piece(name, at, { bytes: PIECE, encoding: "text" });
      if (text !== "") yield text;
      if (next >= bytes || next <= at) return;
      at = next;
    }
  }

  async function* lines(name: string): AsyncGenerator<Lines> {
    let rest = "";
    for await (const text of texts(name)) {
      const parts = text.split("\n");
      parts[0] = rest + (parts[0] ?? "");
      rest = parts.pop() ?? "";
      if (rest.length > WHOLE_LIMIT) throw new FileError(`${name}: a line is too long`);
      if (parts.length > 0) yield { lines: parts, open: false };
    }
    if (rest !== "") yield { lines: [rest], open: true };
  }

  async function whole(name: string): Promise<string> {
    let all = "";
    for await (const text of texts(name)) {
      all += text;
      if (all.length > WHOLE_LIMIT) {
        throw new FileError(`${name}: larger than ${WHOLE_LIMIT} bytes, which is too much to hold`);
      }
    }
    return all;
  }

  async function* base64(name: string): AsyncGenerator<string> {
    const bytes = PIECE - PIECE % 3;
    for (let at = 0;; at += bytes) {
      const got = await piece(name, at, { bytes, encoding: "base64" });
      if (got.base64 !== undefined && got.base64 !== "") yield got.base64;
      if (at + bytes >= got.bytes) return;
    }
  }

  const list = async (
    name: string,
    { depth, limit }: { readonly depth: number; readonly limit: number },
  ): Promise<Listing | undefined> => {
    const path = place(name);
    if (path === "") throw new FileError(`${name}: give cwd, or begin with a mount's name`);
    try {
      return await files.list({ path, depth, limit });
    } catch (error) {
      const isFile = path.includes("/") && error instanceof Error && "code" in error &&
        error.code === "invalidArguments";
      if (isFile) return undefined;
      throw fileError(name, error);
    }
  };

  return Object.freeze({
    place,
    texts,
    lines,
    whole,
    base64,
    size: async (name: string) =>
      name === "-"
        ? utf8Bytes(stdin)
        : (await piece(name, 0, { bytes: 1, encoding: "base64" })).bytes,
    kind: async (name: string) =>
      await list(name, { depth: 1, limit: 1 }) === undefined ? "file" : "folder",
    async listing(name: string, depth = 1): Promise<Listing | undefined> {
      const listing = await list(name, { depth, limit: ENTRIES });
      if (listing === undefined || listing.entries.length < ENTRIES) return listing;
      throw new FileError(`${name}: more than ${ENTRIES} entries; name a folder below it`);
    },
  });
}

/** The text from UTF-8 byte `from` on, without a partial first character. */
function fromByte(text: string, from: number): string {
  let bytes = 0, at = 0;
  for (; at < text.length && bytes < from; at++) bytes += utf8Bytes(text.charAt(at));
  return text.slice(at);
}
