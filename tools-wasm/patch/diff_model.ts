/** A parsed unified diff. @module */

/** One line of a hunk. */
export interface HunkLine {
  readonly kind: "keep" | "drop" | "add";
  readonly line: Line;
}

/** One hunk: its position (lines count from 1) and its lines. */
export interface Hunk {
  /** Absent where the head has no numbers: the hunk then belongs where its lines occur once. */
  readonly oldStart?: number;
  readonly newStart?: number;
  /** The text behind the second `@@`; for a head without numbers, a line above the hunk. */
  readonly section: string;
  readonly lines: readonly HunkLine[];
}

/** The change of a file. `mode` and `binary` cannot be staged. */
export type FileKind = "change" | "new" | "delete" | "rename" | "copy" | "mode" | "binary";

/** A diff's part for one file. */
export interface FilePatch {
  readonly kind: FileKind;
  /** Path before; absent for `new`. */
  readonly oldPath?: string;
  /** Path after; absent for `delete`. */
  readonly newPath?: string;
  readonly hunks: readonly Hunk[];
  /** The new mode, if named by the diff: it is not applied. */
  readonly mode?: string;
  /** Marks a file that is deleted whatever it contains. */
  readonly whole?: true;
}

/** The lines before a hunk (kept and dropped), or after it (kept and added). */
export function sideOf(hunk: Hunk, side: "old" | "new"): readonly Line[] {
  const other = side === "old" ? "add" : "drop";
  return hunk.lines.flatMap(({ kind, line }) => kind === other ? [] : [line]);
}

/** The number of lines of a kind in a file's hunks. */
export function countKind(hunks: readonly Hunk[], wanted: HunkLine["kind"]): number {
  let count = 0;
  for (const hunk of hunks) for (const { kind } of hunk.lines) if (kind === wanted) count += 1;
  return count;
}

/** Every path that the files name, each once, in order. */
export function pathsOf(files: readonly FilePatch[]): readonly string[] {
  const named = files.flatMap(({ oldPath, newPath }) => [oldPath, newPath]);
  return [...new Set(named.filter((path) => path !== undefined))];
}

// Texts as lines that keep their ends.

/** One line: its text, and its end: `\n`, `\r\n`, or empty for an unterminated last line. */
export interface Line {
  readonly text: string;
  readonly end: "" | "\n" | "\r\n";
}

/** Splits at `\n`. Joining all texts and ends gives the input again. */
export function splitLines(text: string): readonly Line[] {
  const lines: Line[] = [];
  let from = 0;
  while (from < text.length) {
    const at = text.indexOf("\n", from);
    if (at < 0) {
      lines.push({ text: text.slice(from), end: "" });
      break;
    }
    const crlf = at > from && text[at - 1] === "\r";
    lines.push({ text: text.slice(from, crlf ? at - 1 : at), end: crlf ? "\r\n" : "\n" });
    from = at + 1;
  }
  return lines;
}

/** The most common line end of a text; `\n` for a text without any. */
export function commonEnd(lines: readonly Line[]): "\n" | "\r\n" {
  let crlf = 0;
  let lf = 0;
  for (const { end } of lines) {
    if (end === "\r\n") crlf += 1;
    else if (end === "\n") lf += 1;
  }
  return crlf > lf ? "\r\n" : "\n";
}

/** Joins lines. An unterminated line that is no longer the last gets `end`. */
export function joinLines(lines: readonly Line[], end: "\n" | "\r\n"): string {
  const last = lines.length - 1;
  return lines.map((line, at) => line.text + (line.end === "" && at < last ? end : line.end))
    .join("");
}
