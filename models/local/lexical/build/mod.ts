/**
 * The builder of the lexicon: WordNet's definitions become vectors, once for a user, in a process of its
 * own. The bytes are the same on every machine, and pinned.
 *
 * @example
 * ```ts
 * import { provideLexical } from "./mod.ts";
 * async function lexicalConfig(home: string, cache: string): Promise<string> {
 *   const { sha256, bytes } = await provideLexical({ home, cache, onBuild: () => {} });
 *   return JSON.stringify({ weights: sha256, bytes });
 * }
 * ```
 * @module
 */
export { LEXICON_SHA256 } from "./lexicon_digest.ts";
export { type BuiltLexicon, provideLexical, runBuild } from "./provide_lexical_powers.ts";
