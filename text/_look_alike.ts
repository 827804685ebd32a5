/** Letters that pass for Latin ones: the usual deceptions, not all of Unicode's. @module */
import { mark } from "./_mark.ts";

/** By script: characters that look like a Latin letter in common fonts. */
const CONFUSABLE: Readonly<Record<string, string>> = {
  CYRILLIC: "аеорсухіјѕԁԛԝһӏѵґоАВЕЗКМНОРСТУХІЈЅԚԜҮӀ",
  GREEK: "αικνορτυχγωϲϳΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹ",
  ARMENIAN: "օսհոցգզԼՍՕ",
  CHEROKEE: "ᎠᎡᎢᎥᎪᎫᎬᎳᎷᎻᏀᏃᏎᏏᏒᏔᏕᏙᏚᏞᏟᏢᏦᏧᏴ",
};
/** Characters that look like the punctuation of paths and addresses. */
const PUNCTUATION = "∕⁄⧸／＼꞉：․．＠‐‑";

const SCRIPT_OF: ReadonlyMap<string, string> = new Map([
  ...Object.entries(CONFUSABLE).flatMap(([script, letters]) =>
    [...letters].map((letter): [string, string] => [letter, script])
  ),
  ...[...PUNCTUATION].map((sign): [string, string] => [sign, "PUNCTUATION"]),
]);

/**
 * A name, path or address; characters without ink do not end it. The characters of {@link PUNCTUATION} are written by
 * number: one character past U+00FF in a pattern doubles the memory of a whole bundle.
 */
const TOKEN =
  /[\p{L}\p{M}\p{N}\p{Default_Ignorable_Code_Point}_.@:/\\\-\u2215\u2044\u29f8\uff0f\uff3c\ua789\uff1a\u2024\uff0e\uff20\u2010\u2011]+/gu;
const UNSEEN = /\p{Default_Ignorable_Code_Point}/gu;
const RUN = /[\p{L}\p{M}]+/gu;
const LATIN = /\p{Script=Latin}/u;
/** Compatible with a and o, but not mistaken for them. */
const ORDINAL = "ªº";
const MAX_NAMED = 4;

/** The notes to insert into `text`: index of a word's end → note. */
export function findLookAlikes(text: string): ReadonlyMap<number, string> {
  const marks = new Map<number, string>();
  // Plain ASCII, the usual case, holds none.
  // deno-lint-ignore no-control-regex -- all of ASCII is meant
  if (/^[\x00-\x7f]*$/.test(text)) return marks;
  const disguised = disguisedScripts(text);
  for (const match of text.matchAll(TOKEN)) {
    const found = lookAlikesIn(match[0].replace(UNSEEN, ""), disguised);
    if (found.length === 0) continue;
    marks.set(match.index + match[0].length, mark(`look-alike: ${found.join(", ")}`));
  }
  return marks;
}

/** Scripts that only appear by their confusable letters in a text with Latin letters: no language is written so. */
function disguisedScripts(text: string): ReadonlySet<string> {
  const scripts = new Set<string>();
  if (!LATIN.test(text)) return scripts;
  for (const letter of text) {
    const script = SCRIPT_OF.get(letter);
    if (script !== undefined) scripts.add(script);
  }
  for (const script of scripts) if (hasPlainLetter(text, script)) scripts.delete(script);
  return scripts;
}

function hasPlainLetter(text: string, script: string): boolean {
  const own = OF_SCRIPT[script];
  if (own === undefined) return false;
  for (const [letter] of text.matchAll(own)) if (!SCRIPT_OF.has(letter)) return true;
  return false;
}

const OF_SCRIPT: Readonly<Record<string, RegExp>> = {
  CYRILLIC: /\p{Script=Cyrillic}/gu,
  GREEK: /\p{Script=Greek}/gu,
  ARMENIAN: /\p{Script=Armenian}/gu,
  CHEROKEE: /\p{Script=Cherokee}/gu,
};

function lookAlikesIn(token: string, disguised: ReadonlySet<string>): readonly string[] {
  const found = new Set<string>();
  const latinToken = LATIN.test(token);
  for (const sign of token) {
    if (latinToken && PUNCTUATION.includes(sign)) found.add(`PUNCTUATION ${sign}`);
    if (isCompatible(sign)) found.add(`COMPATIBLE ${sign}`);
  }
  for (const [run] of token.matchAll(RUN)) {
    const letters = [...run].filter((letter) => /\p{L}/u.test(letter));
    const passes = LATIN.test(run) || letters.every((letter) => SCRIPT_OF.has(letter));
    for (const letter of letters) {
      const script = SCRIPT_OF.get(letter);
      if (script !== undefined && (passes && latinToken || disguised.has(script))) {
        found.add(`${script} ${letter}`);
      }
    }
  }
  const names = [...found];
  return names.length <= MAX_NAMED ? names : [...names.slice(0, MAX_NAMED), "…"];
}

/** Whether this is a full-width, mathematical or other variant of a plain letter. */
function isCompatible(sign: string): boolean {
  if (sign < "\u{80}" || ORDINAL.includes(sign) || !/\p{L}/u.test(sign)) return false;
  return /^[A-Za-z]+$/.test(sign.normalize("NFKC"));
}
