/** A text cut into what a reader sees as one sign. @module */

/**
 * A text of these alone holds no emoji, no mark and no pair of surrogates: each unit is a sign. (Test: "alice's plain
 * texts are cut as all others are".)
 */
const PLAIN = /^[\0-\u02ff\u2010-\u2027\u2190-\u21ff\u2500-\u259f\u27e8\u27e9]*$/;

// Made when a text first asks for it: the list of emoji costs a process more than its other texts together.
let emoji: RegExp | undefined;

/** Emoji as the Unicode Consortium recommends them, else one code point or lone surrogate. */
export function clustersOf(text: string): Iterable<string> {
  if (PLAIN.test(text)) return text;
  emoji ??= /\p{RGI_Emoji}|[\s\S]/gv;
  return text.match(emoji) ?? [];
}

/** Whether this is one emoji, whole. */
export function isEmoji(cluster: string): boolean {
  if (PLAIN.test(cluster)) return false;
  return /^\p{RGI_Emoji}$/v.test(cluster);
}
