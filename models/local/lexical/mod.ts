/**
 * The built-in embedder: a lexicon of about 38,000 English words, each with 256 numbers that were made
 * from WordNet's definitions. A text's vector is the sum of its words' vectors, the rare ones counting
 * more; words that are not there, and other scripts, count by their letters. It is lexical and
 * semantic: no neural network, no order of words, no irony.
 *
 * @example
 * ```ts
 * import { openLexical } from "./mod.ts";
 * async function near(config: string, lexicon: Uint8Array): Promise<number> {
 *   const embedder = await openLexical({ config }, [lexicon]);
 *   const signal = new AbortController().signal;
 *   const { vectors: [a, b] } = await embedder.embed(["a leaking tap", "the faucet drips"], { signal });
 *   return a?.reduce((sum, each, n) => sum + each * (b?.[n] ?? 0), 0) ?? 0;
 * }
 * ```
 * @module
 */
export { parseLexicon } from "./lexicon_file.ts";
export { openLexical } from "./open.ts";
