/** Words and term keys, by which definitions.ts, terms.ts and key_sentences.ts find topics in sources. @module */

const WORD = /[\p{L}\p{N}]+(?:['’_-][\p{L}\p{N}]+)*/gu;
/** Scripts without spaces, split into pairs of characters. The search has a longer list of its own: search/terms.ts. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

/** Words that do not indicate a topic. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  ("a about above after again all also always an and any are as at be because been before being between both but by " +
    "can cannot could did do does doing done down during each either else even ever every few for from further get " +
    "give given go had has have having he her here hers him his how however i if in into is it it's its itself just " +
    "let like made make many may me might more most much must my never new no nor not nothing now of off on once one " +
    "only or other our out over own per same see shall she should since so some still such take than that the their " +
    "them then there therefore these they thing this those though through thus to too two under until up upon us use " +
    "used using very was way we well were what when where whether which while who whom whose why will with within " +
    "without would yes yet you your").split(" "),
);

/** Whether a text is in a script without spaces between words. */
export function isUnspaced(text: string): boolean {
  return UNSPACED.test(text);
}

/** Lower-case, singular words in order, stop words included; bigrams in scripts without spaces. */
export function wordsOf(text: string): readonly string[] {
  const words: string[] = [];
  const spaced = !UNSPACED.test(text);
  for (const word of text.normalize("NFKC").toLowerCase().match(WORD) ?? []) {
    if (spaced || !UNSPACED.test(word)) words.push(foldedWord(word));
    else {
      const points = [...word];
      if (points.length === 1) words.push(word);
      for (let at = 1; at < points.length; at += 1) {
        words.push(`${points[at - 1] ?? ""}${points[at] ?? ""}`);
      }
    }
  }
  return words;
}

/** A word without its English plural. */
function foldedWord(word: string): string {
  if (word.length < 4 || !word.endsWith("s") || /(?:ss|us|is|'s|’s)$/.test(word)) {
    return word.replace(/['’]s$/, "");
  }
  if (word.endsWith("ies")) return `${word.slice(0, -3)}y`;
  if (/(?:ch|sh|ss|x|z)es$/.test(word)) return word.slice(0, -2);
  return word.slice(0, -1);
}

/**
 * The common key of all forms of a term: "The Leases" and "lease" are equal. Undefined for no words, for more than `max`
 * words, and in a script without spaces for a key outside 2 to 16 UTF-16 units.
 */
export function termKey(text: string, max = 5): string | undefined {
  const trimmed = text.replace(/^(?:an?|the)\s+/i, "");
  if (isUnspaced(trimmed)) {
    const key = trimmed.normalize("NFKC").replace(/[^\p{L}\p{N}]+/gu, "").toLowerCase();
    return key.length >= 2 && key.length <= 16 ? key : undefined;
  }
  const words = [...trimmed.normalize("NFKC").toLowerCase().matchAll(WORD)].map(([word]) => word);
  if (words.length === 0 || words.length > max) return undefined;
  return words.map(foldedWord).join(" ");
}
