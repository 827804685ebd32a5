/** What a unified diff says, parsed. @module */
import type { Line } from "./lines.ts";

/** One line of a hunk. */
export interface HunkLine {
  readonly kind: "keep" | "drop" | "add";
  readonly line: Line;
}

/** One hunk: where it stands (lines count from 1) and its lines. */
export interface Hunk {
  /** Absent where its head gives no numbers: it stands at the only place where its lines do. */
  readonly oldStart?: number;
  readonly newStart?: number;
  /** What stands behind the second `@@`; of a head without numbers, a line above the hunk. */
  readonly section: string;
  readonly lines: readonly HunkLine[];
}

/** What happens to a file. `mode` and `binary` cannot be staged. */
export type FileKind = "change" | "new" | "delete" | "rename" | "copy" | "mode" | "binary";

/** What a diff says of one file. */
export interface FilePatch {
  readonly kind: FileKind;
  /** Path before; absent for `new`. */
  readonly oldPath?: string;
  /** Path after; absent for `delete`. */
  readonly newPath?: string;
  readonly hunks: readonly Hunk[];
  /** The new mode, when the diff names one: it is not applied. */
  readonly mode?: string;
  /** A file that is deleted whatever it holds. */
  readonly whole?: true;
}

/** Lines that a hunk finds (kept and dropped), or leaves (kept and added). */
export function sideOf(hunk: Hunk, side: "old" | "new"): readonly Line[] {
  const other = side === "old" ? "add" : "drop";
  return hunk.lines.flatMap(({ kind, line }) => kind === other ? [] : [line]);
}

/** How many lines of a kind a file's hunks hold. */
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
