/** Words of text beyond ASCII: folded, and pairs of letters where a script puts no spaces. @module */

/** Scripts whose words do not stand apart. Korean has spaces, yet its particles hang on the words. */
const UNSPACED =
  /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{sc=Hangul}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}\p{sc=Bopomofo}]/u;
const HAN = /\p{sc=Han}/u;
/** A letter with the marks that it carries. */
const CLUSTER = /[\p{L}\p{N}]\p{M}*/gu;
const WORD = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu;
/** Accents that a reader leaves out when typing. Marks of Indic scripts are vowels and stay. */
const ACCENT = /[\u0300-\u036f]/g;

/** Whether a term is a letter or a pair of letters of a script without spaces. */
export const isUnspaced = (term: string): boolean => UNSPACED.test(term);

/** Letters that are no letter with an accent, as those write them who have no such key. */
const LETTERS: Readonly<Record<string, string>> = {
  ...{
    ß: "ss",
    æ: "ae",
    œ: "oe",
    ø: "o",
    đ: "d",
    ð: "d",
    ł: "l",
    þ: "th",
    ħ: "h",
    ı: "i",
    ŋ: "n",
    ŧ: "t",
  },
  ...{ ƒ: "f", ɨ: "i", ɵ: "o", ƀ: "b", ǥ: "g", ĸ: "k", ə: "e" },
};
const LETTER = /[ßæœøđðłþħıŋŧƒɨɵƀǥĸə]/g;

/** NFKC, lower case, without accents, each letter as one of the alphabet that has no key of its own. */
export function foldText(text: string): string {
  return foldAccents(text).replace(LETTER, (letter) => LETTERS[letter] ?? letter);
}

/** As {@link foldText}, with such letters as they are: so they stand in passages that were taken in earlier. */
export function foldAccents(text: string): string {
  const lower = text.normalize("NFKC").toLowerCase();
  return lower.normalize("NFD").replace(ACCENT, "").normalize("NFC");
}

/**
 * Words of one run of folded text without ASCII spaces: words of spaced scripts are given to `word`, of unspaced ones pairs of neighbours
 * to `term`, and each Chinese character by itself.
 */
export function unicodeTerms(
  folded: string,
  word: (text: string) => void,
  term: (text: string) => void,
): void {
  for (const [each] of folded.matchAll(WORD)) {
    if (!UNSPACED.test(each)) {
      word(each);
      continue;
    }
    let before: string | undefined;
    let spaced = "";
    let alone = false;
    const end = (): void => {
      if (alone && before !== undefined && !HAN.test(before)) term(before);
      before = undefined;
      alone = false;
    };
    for (const [cluster] of each.matchAll(CLUSTER)) {
      if (!UNSPACED.test(cluster)) {
        end();
        spaced += cluster;
        continue;
      }
      if (spaced !== "") word(spaced);
      spaced = "";
      if (HAN.test(cluster)) term(cluster);
      if (before === undefined) alone = true;
      else {
        term(before + cluster);
        alone = false;
      }
      before = cluster;
    }
    end();
    if (spaced !== "") word(spaced);
  }
}
