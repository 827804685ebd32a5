/**
 * Terms of texts and questions: lower case, folded (NFKC, without accents), stemmed English; identifiers
 * whole and in parts; bigrams in scripts without spaces. docs/retrieval.md.
 * @module
 */
import { stemOf } from "./stem.ts";

/** UTF-16 units of a term; longer ones are cut. */
export const MAX_TERM = 64;
/** A longer run is not an identifier; only its words are terms. */
const MAX_NAME = 128;
/** Cached runs, since texts repeat words. */
const MAX_KNOWN = 60_000;
const MAX_KNOWN_RUN = 48;

/** Classes of ASCII characters: 0 separates, 1 letter or digit, 2 joins an identifier. */
const CLASS = Uint8Array.from({ length: 128 }, (_, code) => {
  const char = String.fromCharCode(code);
  return /[A-Za-z0-9]/.test(char) ? 1 : /[_.'-]/.test(char) ? 2 : 0;
});

const BEYOND_ASCII = /[^\p{ASCII}]/u;
// INVARIANT: each character matches in one way only; ambiguity took exponential time (test: "mallory's numbers …").
const VERSION = /^v?(\d+(?:[.-]\d+)+(?:-?[a-z]+\d*(?:[.-]\d+)*)?)$/;
/** `parseHTMLText` → `parse HTML Text`; `URLs` stays whole. */
const HUMPS = /[A-Z]+s(?![a-z])|[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+\d*|\d+[a-z]*|[A-Z]/g;

let known = new Map<string, readonly string[]>();

/** Terms of a run of ASCII letters, digits and joiners. */
function nameTerms(run: string): readonly string[] {
  const name = run.replace(/^[_.'-]+|[_.'-]+$/g, "").replace(/'s$/i, "").replaceAll("'", "");
  if (name === "") return [];
  const lower = name.toLowerCase();
  const version = VERSION.exec(lower)?.[1];
  if (version !== undefined) return [cut(version)];
  const words = name.split(/[_.-]+/);
  const parts = words.flatMap((word) => humps(word));
  const terms = parts.filter((part) => part.length > 1 || parts.length === 1).map(stemOf);
  if (parts.length > 1 && lower.length <= MAX_NAME) terms.push(lower.replace(/[_.-]+/g, ""));
  return terms.map(cut);
}

/** The lower-case words of a camelCase word. */
function humps(word: string): readonly string[] {
  if (word.length > MAX_NAME || !/[a-z0-9][A-Z]|[A-Z]{2}[a-z]/.test(word)) {
    return [word.toLowerCase()];
  }
  return (word.match(HUMPS) ?? [word]).map((each) => each.toLowerCase());
}

const cut = (term: string): string => term.length > MAX_TERM ? term.slice(0, MAX_TERM) : term;

function knownTerms(run: string): readonly string[] {
  const found = known.get(run);
  if (found !== undefined) return found;
  const terms = nameTerms(run);
  if (run.length <= MAX_KNOWN_RUN) {
    if (known.size >= MAX_KNOWN) known = new Map();
    known.set(run, terms);
  }
  return terms;
}

/** Terms of a run with characters beyond ASCII. */
function foldedTerms(run: string, terms: string[]): void {
  const word = (text: string): void => {
    terms.push(/^[a-z0-9]+$/.test(text) ? cut(stemOf(text)) : cut(text));
  };
  // Folding may result in ASCII: full-width letters, ligatures, typographic apostrophes.
  const folded = foldText(run.replaceAll("\u2019", "'"));
  const term = (text: string): void => void terms.push(cut(text));
  if (BEYOND_ASCII.test(folded)) unicodeTerms(folded, word, term);
  else termsOf(folded).forEach(term);
}

/**
 * The terms of `text` in order, with repetitions. They contain letters, digits and marks, in versions also
 * `.` and `-`, and `c++`, `c#`; never a space. Linear time; deterministic.
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

/** Whether `#` or `++` follows, as in `C#` and `C++`. */
function isNamedSign(text: string, at: number): boolean {
  if (!/[A-Za-z]/.test(text[at - 1] ?? "")) return false;
  const next = text.charCodeAt(at);
  return next === 35 || (next === 43 && text.charCodeAt(at + 1) === 43);
}

// Terms beyond ASCII: folded words, and bigrams in scripts without spaces.

/** Scripts without spaces between words. Korean has spaces, but attaches particles to words. */
const UNSPACED =
  /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{sc=Hangul}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}\p{sc=Bopomofo}]/u;
const HAN = /\p{sc=Han}/u;
/** A letter with its combining marks. */
const CLUSTER = /[\p{L}\p{N}]\p{M}*/gu;
const WORD = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu;
/** Accents that people omit when typing. Marks of Indic scripts are vowels and remain. */
const ACCENT = /[\u0300-\u036f]/g;

/** Whether a term is a character or bigram of a script without spaces. */
export const isUnspaced = (term: string): boolean => UNSPACED.test(term);

/** ASCII spellings of letters that Unicode does not decompose. */
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

/** NFKC, lower case, without accents, special letters in ASCII. */
export function foldText(text: string): string {
  return foldAccents(text).replace(LETTER, (letter) => LETTERS[letter] ?? letter);
}

/** Like {@link foldText}, but keeps special letters, as passages indexed earlier have them. */
export function foldAccents(text: string): string {
  const lower = text.normalize("NFKC").toLowerCase();
  return lower.normalize("NFD").replace(ACCENT, "").normalize("NFC");
}

/** Passes words of spaced scripts to `word`, and bigrams of unspaced ones and single Chinese characters to `term`. */
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
