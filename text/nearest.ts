/** Suggests the word that a mistyped one was meant to be. @module */

/** Levenshtein distance; the words here are short. */
function distance(a: string, b: string): number {
  let last = Array.from({ length: b.length + 1 }, (_, n) => n);
  [...a].forEach((letter, row) => {
    const next = [row + 1];
    [...b].forEach((other, n) => {
      const same = (last[n] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(same, (last[n + 1] ?? 0) + 1, (next[n] ?? 0) + 1));
    });
    last = next;
  });
  return last.at(-1) ?? 0;
}

/** The one of `words` nearest to `word`, at most two edits and less than half of the word away; undefined without one. */
export function nearest(word: string, words: readonly string[]): string | undefined {
  const max = Math.min(2, Math.floor((word.length - 1) / 2));
  const [best] = words.map((each) => ({ each, off: distance(word.slice(0, 40), each) }))
    .filter(({ off }) => off <= max).sort((a, b) => a.off - b.off);
  return best?.each;
}
