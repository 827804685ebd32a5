/** What the site's search looks through: a page's distinct words, bounded. @module */

const MOST_WORDS = 150;
const LONGEST = 40;

/** Distinct words of a text in their order, in lower case; letters of scripts without spaces one by one. */
export function searchWords(text: string): string {
  const words = new Set<string>();
  const found = text.normalize("NFKC").toLowerCase().matchAll(
    /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]{1,40}|[\p{L}\p{N}]+/gu,
  );
  for (const [word] of found) {
    if (word.length > 1 && word.length <= LONGEST) words.add(word);
    if (words.size === MOST_WORDS) break;
  }
  return [...words].join(" ");
}
