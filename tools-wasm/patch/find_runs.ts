/** Every place where a run of lines stands in a text, in linear time (Knuth, Morris and Pratt). @module */
import type { Line } from "./lines.ts";

/** When two lines count as equal. */
export type Same = (left: Line, right: Line) => boolean;

/** Indexes at which `run`, which is not empty, stands in `lines`; runs may overlap. */
export function findRuns(
  lines: readonly Line[],
  run: readonly Line[],
  same: Same,
): readonly number[] {
  const equal = (left: Line | undefined, right: Line | undefined): boolean =>
    left !== undefined && right !== undefined && same(left, right);
  // For each length of a matched head: how much of it may still be right when the next line is not.
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
