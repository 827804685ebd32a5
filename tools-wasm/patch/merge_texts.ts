/** Three-way merge of texts, by lines. @module */
import { Fault } from "../../contracts/base/fault.ts";
import { diff3MergeRegions } from "node-diff3";
import { commonEnd, joinLines, type Line, splitLines } from "./diff_model.ts";

/** The three versions. */
export interface Versions {
  readonly base: string;
  readonly ours: string;
  readonly theirs: string;
}

/** Lines that both sides changed differently. Lines count from 1. */
export interface MergeConflict {
  readonly base: { readonly line: number; readonly lines: readonly string[] };
  readonly ours: { readonly line: number; readonly lines: readonly string[] };
  readonly theirs: { readonly line: number; readonly lines: readonly string[] };
}

/** The merged text, with conflict markers around undecided parts. */
export interface Merged {
  readonly text: string;
  readonly conflicts: readonly MergeConflict[];
}

/** Maximum pairs of equal lines to compare. */
const MAX_PAIRS = 2_000_000;
/** Maximum lines between the common head and tail: the time is quadratic in them. */
const MAX_LINES = 5_000;

/**
 * Merges `ours` and `theirs`, which both derive from `base`.
 *
 * @throws {Fault} `tooLarge` for texts of too many lines, or too many equal lines
 */
export function mergeTexts({ base, ours, theirs }: Versions): Merged {
  if (ours === theirs || base === theirs) return { text: ours, conflicts: [] };
  if (base === ours) return { text: theirs, conflicts: [] };
  const { left, origin, right, head, tail } = trimCommon(whole(ours), whole(base), whole(theirs));
  refuseHeavy(origin, left);
  refuseHeavy(origin, right);
  const end = commonEnd(splitLines(ours));
  const out: string[] = [];
  appendAll(out, head);
  const conflicts: MergeConflict[] = [];
  // Regions instead of diff3Merge, which spreads whole files onto the engine's stack.
  for (const region of diff3MergeRegions(left, origin, right)) {
    if (region.stable || sameLines(region.aContent, region.bContent)) {
      appendAll(out, region.stable ? region.bufferContent : region.aContent);
      continue;
    }
    conflicts.push({
      base: { line: head.length + region.oStart + 1, lines: region.oContent.map(bare) },
      ours: { line: head.length + region.aStart + 1, lines: region.aContent.map(bare) },
      theirs: { line: head.length + region.bStart + 1, lines: region.bContent.map(bare) },
    });
    appendAll(out, [`<<<<<<< ours${end}`]);
    appendAll(out, region.aContent);
    appendAll(out, [`||||||| base${end}`]);
    appendAll(out, region.oContent);
    appendAll(out, [`=======${end}`]);
    appendAll(out, region.bContent);
    appendAll(out, [`>>>>>>> theirs${end}`]);
  }
  appendAll(out, tail);
  return { text: joinLines(out.map(lineOf), end), conflicts };
}

/** Lines with their ends, so that a changed end is a change. */
function whole(text: string): string[] {
  return splitLines(text).map((line) => line.text + line.end);
}

/** Takes off what all three begin and end with. */
function trimCommon(ours: readonly string[], base: readonly string[], theirs: readonly string[]) {
  const shortest = Math.min(ours.length, base.length, theirs.length);
  let from = 0;
  while (from < shortest && base[from] === ours[from] && base[from] === theirs[from]) from += 1;
  let off = 0;
  const back = (lines: readonly string[]): string | undefined => lines[lines.length - 1 - off];
  while (off < shortest - from && back(base) === back(ours) && back(base) === back(theirs)) {
    off += 1;
  }
  const middle = (lines: readonly string[]): string[] => lines.slice(from, lines.length - off);
  return {
    left: middle(ours),
    origin: middle(base),
    right: middle(theirs),
    head: base.slice(0, from),
    tail: base.slice(base.length - off),
  };
}

function sameLines(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((line, at) => line === right[at]);
}

function appendAll(out: string[], lines: readonly string[]): void {
  for (const line of lines) out.push(line);
}

function bare(line: string): string {
  return lineOf(line).text;
}

function lineOf(line: string): Line {
  return splitLines(line)[0] ?? { text: "", end: "" };
}

function refuseHeavy(origin: readonly string[], side: readonly string[]): void {
  if (origin.length > MAX_LINES || side.length > MAX_LINES) {
    throw new Fault(
      "tooLarge",
      `Cannot merge: more than ${MAX_LINES} lines between the first change and the last`,
    );
  }
  const counts = new Map<string, number>();
  for (const line of origin) counts.set(line, (counts.get(line) ?? 0) + 1);
  let pairs = 0;
  for (const line of side) pairs += counts.get(line) ?? 0;
  if (pairs > MAX_PAIRS) {
    throw new Fault(
      "tooLarge",
      "Cannot merge: the same lines repeat too often to tell them apart",
    );
  }
}
