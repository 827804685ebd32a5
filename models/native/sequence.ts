/** What is done to one sequence of a context. @module */
import type { AddonContext } from "./addon.ts";
import type { Place } from "./prefixes.ts";

/** Makes `sequence` hold the first `kept` tokens of its place; how many it does hold. */
export async function settle(
  context: AddonContext,
  { sequence, copy, kept }: Place,
): Promise<number> {
  if (copy !== undefined) {
    context.disposeSequence(sequence);
    await context.copySequenceStateFromOtherSequence(sequence, copy);
  }
  if (kept > 0 && context.removeTokenCellsFromSequence(sequence, kept, -1)) return kept;
  context.disposeSequence(sequence);
  return 0;
}

/** Computes tokens that follow `at` others; where the logits of the last are, if they are wanted. */
export async function decode(
  context: AddonContext,
  { sequence, at, tokens, last }: {
    readonly sequence: number;
    readonly at: number;
    readonly tokens: Uint32Array;
    readonly last: boolean;
  },
): Promise<number> {
  context.initBatch(tokens.length);
  const wanted = last ? Uint32Array.of(tokens.length - 1) : new Uint32Array(0);
  const [logits = -1] = context.addToBatch(sequence, at, tokens, wanted);
  await context.decodeBatch();
  return logits;
}
