/** Decides which sequences cache which prompt prefixes. Whole blocks only: see engine.ts. Used by engine.ts. @module */

/** Tokens computed at once, at most. */
export const BLOCK = 128;
/** A shorter message does not end a block: many small blocks take longer than few large ones. */
const MIN_BLOCK = 8;

/**
 * Where the blocks of a prompt end: at the end of a message, and after {@link BLOCK} tokens without one.
 * Later tokens do not move an end, so prompts with a common prefix share its blocks.
 */
export function blockEnds(tokens: Uint32Array, isEnd: (token: number) => boolean): number[] {
  const ends: number[] = [];
  let from = 0;
  tokens.forEach((token, n) => {
    const length = n + 1 - from;
    if (length < BLOCK && (length < MIN_BLOCK || !isEnd(token))) return;
    from = n + 1;
    ends.push(from);
  });
  return ends;
}

/** Where to compute a prompt. */
export interface Place {
  readonly sequence: number;
  /** Copy this sequence first; absent: continue in `sequence` itself. */
  readonly copy: number | undefined;
  /** Cached tokens: whole blocks, fewer than the prompt. */
  readonly kept: number;
}

/** The cache table of one context. */
export interface Prefixes {
  /**
   * Finds the sequence with the longest common prefix up to one of `ends`. The content of the returned
   * sequence is undefined until `hold`.
   */
  place(tokens: Uint32Array, ends: readonly number[]): Place;
  /** Records that `sequence` holds the first `count` of these tokens. */
  hold(sequence: number, tokens: Uint32Array, count: number): void;
}

interface Held {
  tokens: Uint32Array;
  used: number;
}

/** Makes a table of empty sequences. */
export function makePrefixes(sequences: number): Prefixes {
  const table: Held[] = Array.from({ length: sequences }, () => ({ tokens: NONE, used: 0 }));
  let clock = 0;
  return Object.freeze({
    place(tokens: Uint32Array, ends: readonly number[]): Place {
      const max = tokens.length - 1;
      let best = 0;
      let kept = -1;
      table.forEach(({ tokens: held, used }, n) => {
        const alike = Math.min(common(held, tokens), max);
        const same = ends.findLast((end) => end <= alike) ?? 0;
        if (same > kept || (same === kept && used < (table[best]?.used ?? 0))) {
          [best, kept] = [n, same];
        }
      });
      const source = table[best];
      // A sequence that is kept whole grows in place. Otherwise another conversation needs it unchanged.
      const grows = kept > 0 && source !== undefined && source.tokens.length === kept;
      let sequence = best;
      if (!grows) {
        let oldest = Infinity;
        table.forEach(({ used, tokens: held }, n) => {
          const age = held.length === 0 ? -1 : used;
          if (age < oldest && (n !== best || kept === 0)) [oldest, sequence] = [age, n];
        });
      }
      if (source !== undefined) source.used = ++clock;
      const target = table[sequence];
      if (target !== undefined) {
        target.tokens = NONE;
        target.used = ++clock;
      }
      return { sequence, copy: kept > 0 && sequence !== best ? best : undefined, kept };
    },
    hold(sequence: number, tokens: Uint32Array, count: number): void {
      const target = table[sequence];
      if (target !== undefined) target.tokens = tokens.slice(0, count);
    },
  });
}

const NONE = new Uint32Array(0);

function common(a: Uint32Array, b: Uint32Array): number {
  const max = Math.min(a.length, b.length);
  let n = 0;
  while (n < max && a[n] === b[n]) n++;
  return n;
}
