/** The word that somebody meant. @module */

/** Letters to change, add or take away to make `b` of `a`, at most; words here are short. */
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

/** The word of `words` that `word` is a slip of: two letters off at most, and less than half of it; or undefined. */
export function nearest(word: string, words: readonly string[]): string | undefined {
  const most = Math.min(2, Math.floor((word.length - 1) / 2));
  const [best] = words.map((each) => ({ each, off: distance(word.slice(0, 40), each) }))
    .filter(({ off }) => off <= most).sort((a, b) => a.off - b.off);
  return best?.each;
}
