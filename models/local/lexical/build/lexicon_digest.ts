/** What the build must give: the same bytes on every machine. @module */

/**
 * SHA-256 of the built lexicon, hex. Whoever changes how it is built, or WordNet's version, sets this
 * to what `scripts/build_lexical.ts` then says; ids of vectors change with it.
 */
export const LEXICON_SHA256 = "4fc1d1a78adb1fb1e4824960402cb3bc435cd855f106a184c20a38cbaeb05c7d";
/** Its size in bytes. */
export const LEXICON_BYTES = 10_290_688;
