/** Colours of a diff: what comes, what goes, what moved, and the words that changed within a line. @module */
import { diffWordsWithSpace } from "diff";
import type { Paint } from "../terminal/paint.ts";
import { paintDiff } from "./shown_content.ts";

/** Shorter lines are alike by chance. */
const MOVED_LETTERS = 8;
/** Longer lines, and more pairs, are coloured as a whole. */
const MAX_LETTERS = 400;
const MAX_PAIRS = 400;

const bodyOf = (line: string): string => line.slice(1).trim();
const marked = (lines: readonly string[], mark: string): readonly string[] =>
  lines.filter((line) => line.startsWith(mark));

/** Lines that went at one place and came at another: their text. */
function movedIn(lines: readonly string[]): ReadonlySet<string> {
  const gone = new Set(marked(lines, "-").map(bodyOf));
  return new Set(
    marked(lines, "+").map(bodyOf).filter((body) => body.length >= MOVED_LETTERS && gone.has(body)),
  );
}

/** Pairs of a line that went and the one that came in its place: runs of as many of each. */
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

/** Makes the colour of one file's safe diff lines. Colours only: without them the lines are as they were. */
export function makeDiffPaint(lines: readonly string[], paint: Paint): (line: string) => string {
  const moved = movedIn(lines);
  const words = new Map<string, string>();
  for (const [old, next] of pairsIn(lines)) {
    if (old.length + next.length > MAX_LETTERS) continue;
    const parts = diffWordsWithSpace(old.slice(1), next.slice(1));
    const side = (mark: "-" | "+", tint: (text: string) => string): string =>
      tint(mark) + parts.filter((part) => mark === "-" ? !part.added : !part.removed)
        .map((part) => part.added || part.removed ? paint.bold(tint(part.value)) : tint(part.value))
        .join("");
    // A line that stands twice keeps the colours of its first place.
    if (!words.has(old)) words.set(old, side("-", paint.red));
    if (!words.has(next)) words.set(next, side("+", paint.green));
  }
  return (line) => {
    const changed = line.startsWith("+") || line.startsWith("-");
    if (changed && moved.has(bodyOf(line))) return paint.cyan(line);
    return words.get(line) ?? paintDiff(line, paint);
  };
}
