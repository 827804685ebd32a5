/** Splits a text into graphemes, as far as terminals combine characters. @module */

/**
 * A text of these characters alone holds no emoji, no mark and no surrogate pair: each UTF-16 unit is a grapheme. (Test:
 * "alice's plain texts are cut as all others are".)
 */
const PLAIN = /^[\0-\u02ff\u2010-\u2027\u2190-\u21ff\u2500-\u259f\u27e8\u27e9]*$/;

// Compiled on first use: the table of emoji takes more memory than a process's other texts together.
let emoji: RegExp | undefined;

/** Splits into emoji (as the Unicode Consortium recommends them) and single code points or lone surrogates. */
export function clustersOf(text: string): Iterable<string> {
  if (PLAIN.test(text)) return text;
  emoji ??= /\p{RGI_Emoji}|[\s\S]/gv;
  return text.match(emoji) ?? [];
}

/** Whether the cluster is exactly one emoji. */
export function isEmoji(cluster: string): boolean {
  if (PLAIN.test(cluster)) return false;
  return /^\p{RGI_Emoji}$/v.test(cluster);
}
