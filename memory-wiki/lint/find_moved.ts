/** Finds cited words again in another version of a text, on whichever lines they stand now. @module */
import type { Span } from "./rule.ts";

/** So many words in a row name a place in a text. */
const GRAM = 3;
/** Most places that are tried for one passage. */
const PLACES = 64;

/** Words of a text with their lines: what was wrapped anew is still the same. */
function wordsOf(lines: readonly string[]): { words: string[]; lineOf: number[] } {
  const words: string[] = [];
  const lineOf: number[] = [];
  for (const [index, line] of lines.entries()) {
    for (const word of line.split(/\s+/u)) {
      if (word === "") continue;
      words.push(word);
      lineOf.push(index + 1);
    }
  }
  return { words, lineOf };
}

/**
 * Reads `lines` once and gives a search: the lines that now hold exactly these words in this order, the place nearest
 * to `near` when there are several, undefined when there is none. Time: linear in the text, then in each passage.
 */
export function findMoved(
  lines: readonly string[],
): (passage: string, near: number) => Span | undefined {
  const { words, lineOf } = wordsOf(lines);
  const places = new Map<string, number[]>();
  for (const at of words.keys()) {
    const key = words.slice(at, at + GRAM).join(" ");
    const known = places.get(key);
    if (known === undefined) places.set(key, [at]);
    else if (known.length < PLACES) known.push(at);
  }
  return (passage, near) => {
    const wanted = passage.split(/\s+/u).filter((word) => word !== "");
    if (wanted.length === 0) return undefined;
    // A passage shorter than a gram stands where a gram begins with it: only whole lines of it are looked for.
    const starts = wanted.length < GRAM
      ? shortPlaces(lines, wanted.join(" "))
      : places.get(wanted.slice(0, GRAM).join(" ")) ?? [];
    let best: Span | undefined;
    for (const at of starts) {
      const found = wanted.length < GRAM ? { startLine: at, endLine: at } : wholeAt(at);
      if (found !== undefined && (best === undefined || gap(found) < gap(best))) best = found;
    }
    return best;

    function gap(span: Span): number {
      return Math.abs(span.startLine - near);
    }
    function wholeAt(at: number): Span | undefined {
      for (const [index, word] of wanted.entries()) {
        if (words[at + index] !== word) return undefined;
      }
      const startLine = lineOf[at];
      const endLine = lineOf[at + wanted.length - 1];
      return startLine === undefined || endLine === undefined ? undefined : { startLine, endLine };
    }
  };
}

function shortPlaces(lines: readonly string[], passage: string): number[] {
  const found: number[] = [];
  for (const [index, line] of lines.entries()) {
    if (line.trim().replaceAll(/\s+/gu, " ") !== passage) continue;
    found.push(index + 1);
    if (found.length === PLACES) break;
  }
  return found;
}
