/** What programs read: files in pieces, lines across pieces, or the text given as stdin. @module */
import type { Entry, Files, Piece } from "./_remit.ts";
import { FileError, fileError } from "./faults.ts";
import { utf8Bytes } from "./output.ts";
import { placeOf } from "./place.ts";

/** Bytes of one piece. */
const PIECE = 1024 * 1024;
/** Bytes that programs which need a file whole take. */
export const WHOLE_LIMIT = 16 * 1024 * 1024;
/** Most entries of one walk, and levels that one call lists. */
const ENTRIES = 5_000, LEVELS = 16;

/** Reading, for one program. All throw {@link FileError}. A name `-` is stdin. */
export interface Input {
  /** The workspace path of a name. */
  place(name: string): string;
  /** Text from the byte `from` on, piece by piece. */
  texts(name: string, from?: number): AsyncGenerator<string>;
  /** Lines without their ends, many at a time; `open` is set where the last has no end. */
  lines(name: string): AsyncGenerator<Lines>;
  /** All of it; too much is a {@link FileError}. */
  whole(name: string): Promise<string>;
  /** Bytes in base64 pieces, each but the last a multiple of three bytes. */
  base64(name: string): AsyncGenerator<string>;
  size(name: string): Promise<number>;
  /** What lies in the folder, down to `depth`; undefined where a file lies. */
  entries(name: string, depth?: number): Promise<readonly Entry[] | undefined>;
}

/** Some lines. */
export interface Lines {
  readonly lines: readonly string[];
  /** True when the last line ended with the text, not with a line end. */
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
      const after = next ?? at + utf8Bytes(text);
      if (after >= bytes || after <= at) return;
      at = after;
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

  /** Levels below those of one call are asked for folder by folder. */
  async function listed(path: string, depth: number): Promise<readonly Entry[]> {
    const { entries } = await files.list({ path, depth: Math.min(depth, LEVELS), limit: ENTRIES });
    if (depth <= LEVELS) return entries;
    const all = [...entries];
    const level = path.split("/").length + LEVELS;
    for (const entry of entries) {
      if (entry.kind !== "folder" || entry.path.split("/").length !== level) continue;
      if (all.length >= ENTRIES) break;
      all.push(...await listed(entry.path, depth - LEVELS));
    }
    return all;
  }

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
    async entries(name: string, depth = 1): Promise<readonly Entry[] | undefined> {
      const path = place(name);
      if (path === "") throw new FileError(`${name}: give cwd, or begin with a mount's name`);
      try {
        const entries = await listed(path, depth);
        if (entries.length < ENTRIES) return entries;
      } catch (error) {
        const isFile = path.includes("/") && error instanceof Error && "code" in error &&
          error.code === "invalidArguments";
        if (isFile) return undefined;
        throw fileError(name, error);
      }
      throw new FileError(`${name}: more than ${ENTRIES} entries; name a folder below it`);
    },
  });
}

/** The text from its UTF-8 byte `from` on; a character that was begun is left out. */
function fromByte(text: string, from: number): string {
  let bytes = 0, at = 0;
  for (; at < text.length && bytes < from; at++) bytes += utf8Bytes(text.charAt(at));
  return text.slice(at);
}
