/**
 * The words that text is found by, the same for what is indexed and for what is asked. Lower case, folded (NFKC, no accents), English
 * endings off; names of code whole and in parts; pairs of letters where a script has no spaces. docs/retrieval.md.
 * @module
 */
import { stemOf } from "./stem.ts";

/** Longest term, UTF-16 code units; what is longer is cut. */
export const MOST_TERM = 64;
/** A run of letters and joiners longer than this is no name: only its words are taken. */
const MOST_NAME = 128;
/** Runs that are remembered; text repeats its words. */
const MOST_KNOWN = 60_000;
const LONGEST_KNOWN = 48;

/** Of ASCII: 0 parts runs, 1 letter or digit, 2 joins letters within a name. */
const CLASS = Uint8Array.from({ length: 128 }, (_, code) => {
  const char = String.fromCharCode(code);
  return /[A-Za-z0-9]/.test(char) ? 1 : /[_.'-]/.test(char) ? 2 : 0;
});

const BEYOND_ASCII = /[^\p{ASCII}]/u;
// INVARIANT: one way to read each character: two for a digit took for ever (test: "mallory's numbers …").
const VERSION = /^v?(\d+(?:[.-]\d+)+(?:-?[a-z]+\d*(?:[.-]\d+)*)?)$/;
/** `parseHTMLText` → `parse HTML Text`; `URLs` stays one. */
const HUMPS = /[A-Z]+s(?![a-z])|[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+\d*|\d+[a-z]*|[A-Z]/g;

let known = new Map<string, readonly string[]>();

/** Terms of one run of ASCII letters, digits and joiners. */
function nameTerms(run: string): readonly string[] {
  const name = run.replace(/^[_.'-]+|[_.'-]+$/g, "").replace(/'s$/i, "").replaceAll("'", "");
  if (name === "") return [];
  const lower = name.toLowerCase();
  const version = VERSION.exec(lower)?.[1];
  if (version !== undefined) return [cut(version)];
  const words = name.split(/[_.-]+/);
  const parts = words.flatMap((word) => humps(word));
  const terms = parts.filter((part) => part.length > 1 || parts.length === 1).map(stemOf);
  if (parts.length > 1 && lower.length <= MOST_NAME) terms.push(lower.replace(/[_.-]+/g, ""));
  return terms.map(cut);
}

/** The words within a camelCase word, lower case. */
function humps(word: string): readonly string[] {
  if (word.length > MOST_NAME || !/[a-z0-9][A-Z]|[A-Z]{2}[a-z]/.test(word)) {
    return [word.toLowerCase()];
  }
  return (word.match(HUMPS) ?? [word]).map((each) => each.toLowerCase());
}

const cut = (term: string): string => term.length > MOST_TERM ? term.slice(0, MOST_TERM) : term;

function knownTerms(run: string): readonly string[] {
  const found = known.get(run);
  if (found !== undefined) return found;
  const terms = nameTerms(run);
  if (run.length <= LONGEST_KNOWN) {
    if (known.size >= MOST_KNOWN) known = new Map();
    known.set(run, terms);
  }
  return terms;
}

/** Terms of a run with letters beyond ASCII. */
function foldedTerms(run: string, terms: string[]): void {
  const word = (text: string): void => {
    terms.push(/^[a-z0-9]+$/.test(text) ? cut(stemOf(text)) : cut(text));
  };
  // Folding may give ASCII back: full-width letters, ligatures, typographic apostrophes.
  const folded = foldText(run.replaceAll("\u2019", "'"));
  const term = (text: string): void => void terms.push(cut(text));
  if (BEYOND_ASCII.test(folded)) unicodeTerms(folded, word, term);
  else termsOf(folded).forEach(term);
}

/**
 * The terms of `text` in their order, repeated as they are there. Letters, digits and marks only, in versions also `.` and `-`, and `c++`,
 * `c#`; never a space. Takes time in proportion to the text; the same text gives the same terms everywhere.
 *
 * @example
 * ```ts
 * import { termsOf } from "./terms.ts";
 * termsOf("The leaseTable renews leases"); // the, leas, tabl, leasetable, renew, leas
 * ```
 */
export function termsOf(text: string): readonly string[] {
  const terms: string[] = [];
  const end = text.length;
  let at = 0;
  while (at < end) {
    let code = text.charCodeAt(at);
    if (code < 128 && CLASS[code] !== 1) {
      at++;
      continue;
    }
    const from = at;
    let plain = true;
    while (at < end) {
      code = text.charCodeAt(at);
      if (code >= 128) plain = false;
      else if (CLASS[code] === 0) break;
      at++;
    }
    const run = text.slice(from, at);
    if (!plain) foldedTerms(run, terms);
    else if (at - from === 1 && isNamedSign(text, at)) {
      terms.push(run.toLowerCase() + (code === 35 ? "#" : "++"));
    } else for (const term of knownTerms(run)) terms.push(term);
  }
  return terms;
}

/** Whether `#` or `++` follow, as in `C#` and `C++`. */
function isNamedSign(text: string, at: number): boolean {
  if (!/[A-Za-z]/.test(text[at - 1] ?? "")) return false;
  const next = text.charCodeAt(at);
  return next === 35 || (next === 43 && text.charCodeAt(at + 1) === 43);
}

// Words of text beyond ASCII: folded, and pairs of letters where a script puts no spaces.

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
function unicodeTerms(
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
