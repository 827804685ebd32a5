/** Reads staged contents by digest, verifies them, and shows their changes. @module */
import { structuredPatch } from "diff";
import { join } from "node:path";
import type { Digest } from "../../contracts/authority/mod.ts";
import { Fault } from "../../contracts/base/mod.ts";
import type { StagedChange } from "../../contracts/tool/mod.ts";
import { sha256Hex } from "../../port/digest.ts";
import { displayBlock, displayText } from "../../text/mod.ts";
import type { DiskRead } from "../../launch/disk/machine.ts";
import type { Paint } from "../terminal/paint.ts";

const MAX_DIFF = 400_000;
const DIFF_MS = 2_000;
/** A longer line is not counted as seen by the person. */
const MAX_READABLE_LINE = 20_000;
// The frame wraps lines, so nothing is cut here.
const WHOLE = { prefix: "", max: 1_000_000, maxLines: 100_000, columns: 1_000_000 };

/** Reads content by digest. Throws `refused` when the file's content does not match. */
export function readContent(
  disk: Pick<DiskRead, "read">,
  folder: string,
  digest: Digest,
): Uint8Array {
  const bytes = disk.read(join(folder, digest));
  if (bytes === undefined) {
    throw new Fault("notFound", `Cannot show content ${digest.slice(0, 12)}: it is not there`);
  }
  if (sha256Hex(bytes) !== digest) {
    throw new Fault(
      "refused",
      `Cannot show content ${digest.slice(0, 12)}: the file is not what its digest says`,
    );
  }
  return bytes;
}

/** One file's change, ready to show. All lines are safe text without colours. */
export interface ShownChange {
  /** Safe text. */
  readonly path: string;
  readonly kind: "added" | "changed" | "deleted";
  readonly plus: number;
  readonly minus: number;
  /** Lines of the diff, each beginning with `+`, `-`, a space or `@`. */
  readonly lines: readonly string[];
  /** The digest of the new content, where `lines` show the whole change. */
  readonly whole?: Digest;
  /** What the lines do not show: content that is no text, an encoding other than UTF-8. */
  readonly note?: string;
}

/** A file's content; agents edit text in these encodings, so people see it as text. */
interface Content {
  /** Undefined for content that is no text. */
  readonly text: string | undefined;
  readonly encoding: "utf-8" | "utf-16le" | "utf-16be";
}

function contentOf(bytes: Uint8Array): Content {
  const [a, b] = bytes;
  const encoding = a === 0xff && b === 0xfe
    ? "utf-16le"
    : a === 0xfe && b === 0xff
    ? "utf-16be"
    : "utf-8";
  try {
    const text = new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(bytes);
    return { text: text.includes("\0") ? undefined : text, encoding };
  } catch (error) {
    if (error instanceof TypeError) return { text: undefined, encoding };
    throw error;
  }
}

/** What the lines do not show: a side that is no text, an unusual encoding. */
function noteOf(old: Content, next: Content, whole: string): string | undefined {
  if (next.text === undefined) return `no text: ${whole}`;
  if (old.text === undefined) return `what was there is no text; all that comes: ${whole}`;
  if (old.encoding !== next.encoding) {
    return `encoded anew, from ${old.encoding} to ${next.encoding}`;
  }
  return next.encoding === "utf-8" ? undefined : `in ${next.encoding}`;
}

function safeLines(raw: readonly string[]): string[] {
  return raw.flatMap((line) => {
    const [mark, rest] = [line.slice(0, 1), line.slice(1)];
    return displayBlock(rest, WHOLE).map((each) => `${mark}${each}`);
  });
}

/** Shows one change. Throws as {@link readContent}. */
export function showChange(
  disk: Pick<DiskRead, "read">,
  folder: string,
  change: StagedChange,
): ShownChange {
  const path = displayText(change.path, { max: 512 });
  const kind = change.base === undefined
    ? "added"
    : change.next === undefined
    ? "deleted"
    : "changed";
  const read = (digest: Digest | undefined): Uint8Array =>
    digest === undefined ? new Uint8Array() : readContent(disk, folder, digest);
  const [before, after] = [read(change.base), read(change.next)];
  const now = contentOf(after);
  // An added or deleted file has one side only: the other takes its encoding.
  const was = change.base === undefined ? { ...now, text: "" } : contentOf(before);
  const to = change.next === undefined ? { ...was, text: was.text && "" } : now;
  const [held, hash] = change.next === undefined ? [before, change.base] : [after, change.next];
  const notes = [
    noteOf(was, to, `${held.length} bytes, sha256 ${hash}`),
    change.executable === true ? "it may be run as a program" : undefined,
  ].filter((each) => each !== undefined);
  const note = notes.length === 0 ? undefined : notes.join("; ");
  const noted = note === undefined ? {} : { note };
  if (to.text === undefined) return { path, kind, plus: 0, minus: 0, lines: [], ...noted };
  const old = was.text ?? "", next = to.text;
  const patch = old.length + next.length > MAX_DIFF
    ? undefined
    : structuredPatch("a", "b", old, next, "", "", { context: 3, timeout: DIFF_MS });
  const raw = patch === undefined
    // Too large or too slow to compare: all old lines, then all new ones.
    ? [...whole("-", old), ...whole("+", next)]
    : patch.hunks.flatMap((hunk) => [
      `@@ -${hunk.oldStart},${hunk.oldLines} +${hunk.newStart},${hunk.newLines} @@`,
      ...hunk.lines,
    ]);
  // One note where all lines on both sides end in CRLF; else each differing line end is visible.
  const crlf = (old + next).includes("\r\n") && ![old, next].some((text) => /(?<!\r)\n/.test(text));
  const allNotes = crlf ? [...notes, "all lines end in CRLF"] : notes;
  const readable = raw.every((line) => line.length <= MAX_READABLE_LINE);
  return {
    ...(change.next !== undefined && readable ? { whole: change.next } : {}),
    path,
    kind,
    plus: raw.filter((line) => line.startsWith("+")).length,
    minus: raw.filter((line) => line.startsWith("-")).length,
    lines: safeLines(crlf ? raw.map((line) => line.replace(/\r$/, "")) : raw),
    ...(allNotes.length === 0 ? {} : { note: allNotes.join("; ") }),
  };
}

function whole(mark: string, text: string): string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.map((line) => mark + line);
}

/** Colours a safe diff line by its first character. */
export function paintDiff(line: string, paint: Paint): string {
  switch (line.charAt(0)) {
    case "+":
      return paint.green(line);
    case "-":
      return paint.red(line);
    case "@":
      return paint.dim(line);
    default:
      return line;
  }
}
