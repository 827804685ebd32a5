/** Colours a diff: added, removed and moved lines, and the words that changed within a line. @module */
import { diffWordsWithSpace } from "diff";
import type { Paint } from "../terminal/paint.ts";
import { paintDiff } from "./shown_content.ts";

/** Shorter lines are equal by chance, so they do not count as moved. */
const MIN_MOVED = 8;
/** Longer pairs of lines, and pairs past this number, are coloured as whole lines. */
const MAX_PAIR_CHARACTERS = 400;
const MAX_PAIRS = 400;

const bodyOf = (line: string): string => line.slice(1).trim();
const marked = (lines: readonly string[], mark: string): readonly string[] =>
  lines.filter((line) => line.startsWith(mark));

/** Texts of lines that were removed in one place and added in another. */
function movedIn(lines: readonly string[]): ReadonlySet<string> {
  const gone = new Set(marked(lines, "-").map(bodyOf));
  return new Set(
    marked(lines, "+").map(bodyOf).filter((body) => body.length >= MIN_MOVED && gone.has(body)),
  );
}

/** Pairs of a removed line and its replacement: adjacent runs of equal length. */
function pairsIn(lines: readonly string[]): readonly (readonly [string, string])[] {
  const pairs: (readonly [string, string])[] = [];
  for (let at = 0; at < lines.length;) {
    const run = (mark: string, from: number): number => {
      let to = from;
      while (lines[to]?.startsWith(mark) === true) to += 1;
      return to;
    };
    const middle = run("-", at), end = run("+", middle);
    const count = middle - at;
    if (count > 0 && end - middle === count) {
      for (let n = 0; n < count; n += 1) {
        pairs.push([lines[at + n] ?? "", lines[middle + n] ?? ""]);
      }
    }
    at = Math.max(end, at + 1);
  }
  return pairs.slice(0, MAX_PAIRS);
}

/** Makes a paint for the safe diff lines of one file. Adds colours only; the text stays. */
export function makeDiffPaint(lines: readonly string[], paint: Paint): (line: string) => string {
  const moved = movedIn(lines);
  const words = new Map<string, string>();
  for (const [old, next] of pairsIn(lines)) {
    if (old.length + next.length > MAX_PAIR_CHARACTERS) continue;
    const parts = diffWordsWithSpace(old.slice(1), next.slice(1));
    const side = (mark: "-" | "+", tint: (text: string) => string): string =>
      tint(mark) + parts.filter((part) => mark === "-" ? !part.added : !part.removed)
        .map((part) => part.added || part.removed ? paint.bold(tint(part.value)) : tint(part.value))
        .join("");
    // A line that occurs twice keeps the colours of its first pair.
    if (!words.has(old)) words.set(old, side("-", paint.red));
    if (!words.has(next)) words.set(next, side("+", paint.green));
  }
  return (line) => {
    const changed = line.startsWith("+") || line.startsWith("-");
    if (changed && moved.has(bodyOf(line))) return paint.cyan(line);
    return words.get(line) ?? paintDiff(line, paint);
  };
}
