/**
 * Reads lines and passages of text files in raw/. The first read of a file verifies its digest and records
 * where every 64th line begins; later reads only read the requested part.
 * @module
 */
import { createHash } from "node:crypto";
import { Fault } from "../../../contracts/base/mod.ts";
import { joinBytes } from "../../../port/join_bytes.ts";
import { eachPiece, type OpenFile, type WikiFolder } from "./wiki_folder.ts";

/** Lines between two recorded offsets. */
const STRIDE = 64;
/** Files with cached offsets. */
const MAX_CACHED_FILES = 2_000;
/** Bytes of files cached completely: per file and in total. */
const [MAX_CACHED_FILE, MAX_CACHED_BYTES] = [131_072, 16_777_216];
const LF = 10;

interface Marks {
  readonly mark: string;
  readonly digest: string;
  /** Offsets of lines 1 + 64 n. */
  readonly starts: readonly number[];
  readonly bytes: number;
  /** Content of a small file, if cached. */
  readonly content: Uint8Array | undefined;
}

/** A text file. */
export interface TextFile {
  /** `raw/NAME` */
  readonly path: string;
  readonly digest: string;
}

/** Reads text files of the wiki. All methods throw `storeCorrupt` when the file is missing or altered. */
export interface TextLines {
  /** Lines `from`..`to` joined by newlines: whole lines up to `max` bytes; a single longer line is cut. */
  lines(file: TextFile, from: number, to: number, max: number): string;
  /** Bytes `from`..`to`, end exclusive. */
  passage(file: TextFile, from: number, to: number): string;
}

/** Number of lines; a final newline begins none. */
export function countLines(bytes: Uint8Array): number {
  if (bytes.length === 0) return 0;
  let lines = bytes[bytes.length - 1] === LF ? 0 : 1;
  for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1)) lines += 1;
  return lines;
}

/** Makes the reader for `folder`. */
export function makeTextLines(folder: WikiFolder): TextLines {
  const known = new Map<string, Marks>();
  let kept = 0;
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

  function marksOf({ path, digest }: TextFile): Marks {
    const found = folder.look(path);
    if (found === undefined) {
      throw new Fault("storeCorrupt", `Cannot read "${path}": the file is gone`);
    }
    const have = known.get(path);
    if (have !== undefined && have.mark === found.mark && have.digest === digest) return have;
    const hash = createHash("sha256");
    const starts = [0];
    let lines = 0;
    let bytes = 0;
    let content: Uint8Array | undefined;
    eachPiece(folder.open(path), (piece, base) => {
      hash.update(piece);
      bytes = base + piece.length;
      content = base === 0 && bytes <= MAX_CACHED_FILE ? piece.slice() : undefined;
      for (let at = piece.indexOf(LF); at !== -1; at = piece.indexOf(LF, at + 1)) {
        lines += 1;
        if (lines % STRIDE === 0) starts.push(base + at + 1);
      }
    });
    if (hash.digest("hex") !== digest) {
      throw new Fault(
        "storeCorrupt",
        `Cannot read "${path}": its bytes are not what was ingested; restore the file`,
      );
    }
    const marks = { mark: found.mark, digest, starts, bytes, content };
    kept += content?.length ?? 0;
    if (known.size >= MAX_CACHED_FILES || kept > MAX_CACHED_BYTES) {
      known.clear();
      kept = content?.length ?? 0;
    }
    known.set(path, marks);
    return marks;
  }

  function reader({ path }: TextFile, { content }: Marks): Pick<OpenFile, "read" | "close"> {
    if (content === undefined) return folder.open(path);
    return {
      read(into, at) {
        const part = content.subarray(at, at + into.length);
        into.set(part);
        return part.length;
      },
      close: () => {},
    };
  }

  return Object.freeze<TextLines>({
    passage(file, from, to) {
      const into = new Uint8Array(Math.max(0, to - from));
      const open = reader(file, marksOf(file));
      try {
        let length = 0;
        for (let got = 1; got > 0 && length < into.length; length += got) {
          got = open.read(into.subarray(length), from + length);
        }
        return decoder.decode(into.subarray(0, length));
      } finally {
        open.close();
      }
    },
    lines(file, from, to, max) {
      const marks = marksOf(file);
      const { starts, bytes } = marks;
      if (from < 1 || to < from) return "";
      const mark = Math.floor((from - 1) / STRIDE);
      const start = starts[mark];
      if (start === undefined) return "";
      // Reads up to the recorded offset after the last line.
      const end = starts[Math.floor((to - 1) / STRIDE) + 1] ?? bytes;
      const skip = from - 1 - mark * STRIDE;
      const open = reader(file, marks);
      try {
        return collect(open, { start, end, skip, lines: to - from + 1, max });
      } finally {
        open.close();
      }
    },
  });

  function collect(
    file: { read(into: Uint8Array, at: number): number },
    { start, end, skip, lines, max }: {
      start: number;
      end: number;
      skip: number;
      lines: number;
      max: number;
    },
  ): string {
    const piece = new Uint8Array(Math.min(65_536, Math.max(1, end - start)));
    const kept: Uint8Array[] = [];
    let size = 0;
    let whole = 0;
    let wholeSize = 0;
    let at = start;
    let open = false;
    while (at < end && whole < lines) {
      const got = file.read(piece, at);
      if (got === 0) break;
      const read = piece.subarray(0, Math.min(got, end - at));
      at += read.length;
      // The requested part of a piece is contiguous, so it is copied at once.
      let first = -1;
      let from = 0;
      while (from < read.length) {
        const feed = read.indexOf(LF, from);
        const stop = feed === -1 ? read.length : feed + 1;
        if (skip > 0) {
          if (feed !== -1) skip -= 1;
        } else {
          if (first === -1) first = from;
          size += stop - from;
          open = feed === -1;
          if (size <= max + 2 && feed !== -1) {
            whole += 1;
            wholeSize = size;
          }
        }
        from = stop;
        if (whole === lines || size > max + 2) break;
      }
      if (first !== -1) kept.push(read.slice(first, from));
      if (size > max + 2) break;
    }
    // The last line of the file without newline.
    if (open && size <= max) wholeSize = size;
    return spell(joinBytes(kept), wholeSize, max);
  }

  /** Decodes the lines of `joined`, or only its whole lines if there are any. */
  function spell(joined: Uint8Array, wholeSize: number, max: number): string {
    const text = decoder.decode(wholeSize > 0 ? joined.subarray(0, wholeSize) : joined);
    const lines = text.split("\n").map((line) => line.endsWith("\r") ? line.slice(0, -1) : line);
    if (text.endsWith("\n")) lines.pop();
    // An invalid byte becomes three.
    return joined.length * 3 <= max ? lines.join("\n") : withinBytes(lines, max);
  }
}

/** Whole lines up to `max` bytes; a longer first line is cut between characters. */
function withinBytes(lines: readonly string[], max: number): string {
  const encoder = new TextEncoder();
  let [count, size] = [0, -1];
  for (const line of lines) {
    size += 1 + encoder.encode(line).length;
    if (size > max) break;
    count += 1;
  }
  if (count > 0) return lines.slice(0, count).join("\n");
  const [first = ""] = lines;
  return first.slice(0, encoder.encodeInto(first, new Uint8Array(max)).read);
}
