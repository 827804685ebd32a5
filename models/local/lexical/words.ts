/** Cuts text into words, in any script. @module */

/** Scripts that put no spaces between words: pairs of characters stand for them. */
const WIDE = String
  .raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}`;
const RUN = new RegExp(`[${WIDE}]+|[[\\p{L}\\p{M}\\p{N}]--[${WIDE}]]+`, "gv");
const IS_WIDE = new RegExp(`^[${WIDE}]`, "v");
/** `parseText`, `HTTPServer`, `v2Format`. */
const HUMP = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/gu;
const ACCENTS = /[\u0300-\u036f]/g;
/** Letters of a word that count. */
const LONGEST = 64;
/** Characters a word has in the longest texts that are read. */
const CHARS_A_WORD = 32;

/**
 * The words of `text`, folded (lower case, no accents), at most `most`: what comes after is not looked
 * at. Names in code (`parseText`) give themselves and their parts.
 */
export function wordsOf(text: string, most: number): readonly string[] {
  const words: string[] = [];
  const whole = text.slice(0, most * CHARS_A_WORD).normalize("NFKC");
  for (const [run] of whole.matchAll(RUN)) {
    if (words.length >= most) break;
    if (IS_WIDE.test(run)) words.push(...pairs(run.slice(0, most - words.length)));
    else words.push(...namesIn(run));
  }
  return words.length > most ? words.slice(0, most) : words;
}

/** Lower case without accents. */
function fold(run: string): string {
  const plain = run.slice(0, LONGEST).toLowerCase().normalize("NFKD").replace(ACCENTS, "");
  return plain.normalize("NFC").replaceAll("ς", "σ");
}

function namesIn(run: string): readonly string[] {
  const parts = run.slice(0, LONGEST).split(HUMP);
  const whole = fold(run);
  if (whole === "") return [];
  return parts.length < 2 ? [whole] : [whole, ...parts.map(fold).filter((part) => part !== "")];
}

function pairs(run: string): readonly string[] {
  const characters = [...run];
  if (characters.length < 2) return characters;
  return characters.slice(1).map((character, n) => (characters[n] ?? "") + character);
}
