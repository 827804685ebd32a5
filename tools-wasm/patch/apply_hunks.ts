/**
 * Applies hunks to a text: exactly, or moved to the only place where they fit; never by guessing.
 * @module
 */
import { commonEnd, type Hunk, joinLines, type Line, sideOf, splitLines } from "./diff_model.ts";

/** Why a hunk does not fit. */
export interface HunkConflict {
  /** The hunk's number in the file, from 1. */
  readonly hunk: number;
  /** The expected line, from 1. */
  readonly line: number;
  readonly why: string;
  readonly expected: readonly string[];
  readonly found: readonly string[];
}

/** A text with all hunks applied, or every hunk that does not fit. */
type Applied =
  | {
    readonly kind: "applied";
    readonly text: string;
    /** Lines by which each hunk was moved. */
    readonly offsets: readonly number[];
    /** Whether line ends differed, and the file's own were kept. */
    readonly keptEnds: boolean;
  }
  | { readonly kind: "conflicts"; readonly conflicts: readonly HunkConflict[] };

const exactly: Same = (left, right) => left.text === right.text && left.end === right.end;
const butForEnds: Same = (left, right) => left.text === right.text;

/** Maximum lines of an excerpt in a conflict report. */
const SHOWN = 12;
const SHOWN_CHARS = 200;

/** Applies all hunks or none. */
export function applyHunks(text: string, hunks: readonly Hunk[]): Applied {
  const lines = splitLines(text);
  const out: Line[] = [];
  const conflicts: HunkConflict[] = [];
  const offsets: number[] = [];
  const end = commonEnd(lines);
  let keptEnds = false;
  let done = 0;
  let moved = 0;
  for (const [index, hunk] of hunks.entries()) {
    const old = sideOf(hunk, "old");
    const { oldStart } = hunk;
    const stated = oldStart === undefined
      ? undefined
      : Math.max(0, old.length === 0 ? oldStart : oldStart - 1);
    const expected = stated === undefined ? undefined : stated + moved;
    const place = findPlace(lines, { hunk, old, expected, from: done });
    if (typeof place === "string") {
      const at = Math.min(expected ?? nearest(lines, old, done), lines.length);
      conflicts.push({
        hunk: index + 1,
        line: at + 1,
        why: place,
        expected: excerpt(old),
        found: excerpt(lines.slice(at, at + Math.max(old.length, 1))),
      });
      continue;
    }
    if (stated !== undefined) moved = place.at - stated;
    offsets.push(stated === undefined ? 0 : moved);
    keptEnds ||= !place.exact;
    appendLines(out, lines, { from: done, to: place.at });
    done = place.at;
    for (const { kind, line } of hunk.lines) {
      if (kind === "add") {
        out.push(place.exact || line.end === "" ? line : { text: line.text, end });
      } else {
        const own = lines[done];
        done += 1;
        if (kind === "keep" && own !== undefined) out.push(own);
      }
    }
  }
  if (conflicts.length > 0) return { kind: "conflicts", conflicts };
  appendLines(out, lines, { from: done, to: lines.length });
  return { kind: "applied", text: joinLines(out, end), offsets, keptEnds };
}

interface Search {
  readonly hunk: Hunk;
  readonly old: readonly Line[];
  /** Index of the expected line; undefined where the hunk's head has no numbers. */
  readonly expected: number | undefined;
  /** Lines above this index belong to earlier hunks. */
  readonly from: number;
}

function findPlace(
  lines: readonly Line[],
  search: Search,
): { readonly at: number; readonly exact: boolean } | string {
  const { hunk, old, expected, from } = search;
  if (old.length === 0) {
    if (lines.length === 0) return { at: 0, exact: true };
    return "it only adds lines and has no context that says where: give the lines around it";
  }
  // A head without numbers may name a line above the hunk.
  const named = expected === undefined && hunk.section !== ""
    ? lines.findIndex(({ text }, at) => at >= from && text.trim() === hunk.section.trim())
    : -1;
  const above = named < 0 ? from : named;
  // A line marked as the end of its file fits only there.
  const atEnd = hunk.lines.some(({ line }) => line.end === "");
  for (const same of [exactly, butForEnds]) {
    const exact = same === exactly;
    const places = findRuns(lines, old, same)
      .filter((at) => at >= above && (!atEnd || at + old.length === lines.length));
    if (expected !== undefined && places.includes(expected)) return { at: expected, exact };
    const [first, second] = places;
    if (first === undefined) continue;
    if (second === undefined) return { at: first, exact };
    return `its context stands at line ${first + 1} and at line ${second + 1}: ` +
      (expected === undefined
        ? "give more of the lines around it, or a line above it behind @@"
        : "give the right line number, or more context");
  }
  return "its context stands nowhere in the rest of the file";
}

/** The position of a hunk's first non-blank line, to show the file's lines in its place. */
function nearest(lines: readonly Line[], old: readonly Line[], from: number): number {
  const first = old.find(({ text }) => text.trim() !== "")?.text.trim();
  const at = lines.findIndex(({ text }, index) => index >= from && text.trim() === first);
  return at < 0 ? from : at;
}

/** Spreading a whole file would overflow the engine's stack. */
function appendLines(
  out: Line[],
  lines: readonly Line[],
  { from, to }: { readonly from: number; readonly to: number },
): void {
  for (let at = from; at < to; at += 1) {
    const line = lines[at];
    if (line !== undefined) out.push(line);
  }
}

function excerpt(lines: readonly Line[]): readonly string[] {
  const shown = lines.slice(0, SHOWN).map(({ text }) => text.slice(0, SHOWN_CHARS));
  return lines.length > SHOWN ? [...shown, `… ${lines.length - SHOWN} more lines`] : shown;
}

// All positions of a run of lines in a text, in linear time (Knuth, Morris and Pratt).

/** When two lines count as equal. */
type Same = (left: Line, right: Line) => boolean;

/** Indexes of the non-empty `run` in `lines`; runs may overlap. */
function findRuns(
  lines: readonly Line[],
  run: readonly Line[],
  same: Same,
): readonly number[] {
  const equal = (left: Line | undefined, right: Line | undefined): boolean =>
    left !== undefined && right !== undefined && same(left, right);
  // For each length of a matched head: how much still matches when the next line does not.
  const back: number[] = [0];
  for (let at = 1, held = 0; at < run.length; at += 1) {
    while (held > 0 && !equal(run[at], run[held])) held = back[held - 1] ?? 0;
    if (equal(run[at], run[held])) held += 1;
    back.push(held);
  }
  const found: number[] = [];
  for (let at = 0, held = 0; at < lines.length; at += 1) {
    while (held > 0 && !equal(lines[at], run[held])) held = back[held - 1] ?? 0;
    if (equal(lines[at], run[held])) held += 1;
    if (held === run.length) {
      found.push(at + 1 - run.length);
      held = back[held - 1] ?? 0;
    }
  }
  return found;
}
