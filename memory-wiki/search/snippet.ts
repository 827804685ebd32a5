/** The lines of a passage that answer best. @module */
import { termsOf } from "./terms.ts";

/** Most UTF-16 code units of a snippet. */
export const MOST_SNIPPET = 1_200;
/** Of a line without an end. */
const MOST_LOOKED_AT = 200_000;

/** Whole lines of a text. */
export interface Snippet {
  readonly startLine: number;
  readonly endLine: number;
  readonly text: string;
}

/**
 * Of `lines`, the first of which is line `first`: all if they fit, else the run of whole lines, at most
 * {@link MOST_SNIPPET} characters, that holds most of the weight of `terms`. Blank lines at both ends are left out; of a single line that is too
 * long, its best part.
 */
export function bestSnippet(
  lines: readonly string[],
  first: number,
  terms: ReadonlyMap<string, number>,
): Snippet {
  const size = (from: number, to: number): number => {
    let sum = to - from;
    for (let n = from; n <= to; n++) sum += (lines[n] ?? "").length;
    return sum;
  };
  let [from, to] = [0, lines.length - 1];
  if (size(from, to) > MOST_SNIPPET) [from, to] = bestRun(lines, terms);
  while (from < to && (lines[from] ?? "").trim() === "") from++;
  while (to > from && (lines[to] ?? "").trim() === "") to--;
  const text = cutText(lines.slice(from, to + 1).join("\n"), terms);
  return { startLine: first + from, endLine: first + to, text };
}

function bestRun(
  lines: readonly string[],
  terms: ReadonlyMap<string, number>,
): readonly [number, number] {
  const held = lines.map((line) =>
    new Set(termsOf(line.slice(0, 4 * MOST_SNIPPET)).filter((term) => terms.has(term)))
  );
  let best: readonly [number, number] = [0, 0];
  let most = -1;
  let to = -1;
  let length = -1;
  const counts = new Map<string, number>();
  let weight = 0;
  const add = (n: number, by: 1 | -1): void => {
    for (const term of held[n] ?? []) {
      const before = counts.get(term) ?? 0;
      counts.set(term, before + by);
      if (before === 0 || before + by === 0) weight += by * (terms.get(term) ?? 0);
    }
    length += by * ((lines[n] ?? "").length + 1);
  };
  for (let from = 0; from < lines.length; from++) {
    while (to + 1 < lines.length && length + (lines[to + 1] ?? "").length + 1 <= MOST_SNIPPET) {
      add(++to, 1);
    }
    if (to < from) {
      // A line that is too long by itself.
      add(++to, 1);
    }
    if (weight > most + 1e-9) {
      most = weight;
      best = [from, to];
    }
    add(from, -1);
  }
  return best;
}

/** Of a text that is too long: the part that holds most, looked for in steps of half a snippet. */
function cutText(text: string, terms: ReadonlyMap<string, number>): string {
  if (text.length <= MOST_SNIPPET) return text;
  let [best, most] = [0, -1];
  for (let at = 0; at < Math.min(text.length, MOST_LOOKED_AT); at += MOST_SNIPPET / 2) {
    const held = new Set(termsOf(text.slice(at, at + MOST_SNIPPET)));
    let weight = 0;
    for (const term of held) weight += terms.get(term) ?? 0;
    if (weight > most + 1e-9) [best, most] = [at, weight];
  }
  // Neither end may halve a character.
  return text.slice(best, best + MOST_SNIPPET).replace(/^[\udc00-\udfff]/, "")
    .replace(/[\ud800-\udbff]$/, "");
}
