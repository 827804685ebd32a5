/** Stems English words, so that `leases` finds `lease`: Porter's algorithm (1980), for lower-case ASCII. @module */

const MIN_WORD = 3;
/** Longer strings are not words. */
const MAX_WORD = 32;

const STEP_2: readonly (readonly [string, string])[] = [
  ["ational", "ate"],
  ["tional", "tion"],
  ["enci", "ence"],
  ["anci", "ance"],
  ["izer", "ize"],
  ["abli", "able"],
  ["alli", "al"],
  ["entli", "ent"],
  ["eli", "e"],
  ["ousli", "ous"],
  ["ization", "ize"],
  ["ation", "ate"],
  ["ator", "ate"],
  ["alism", "al"],
  ["iveness", "ive"],
  ["fulness", "ful"],
  ["ousness", "ous"],
  ["aliti", "al"],
  ["iviti", "ive"],
  ["biliti", "ble"],
];
const STEP_3: readonly (readonly [string, string])[] = [
  ["icate", "ic"],
  ["ative", ""],
  ["alize", "al"],
  ["iciti", "ic"],
  ["ical", "ic"],
  ["ful", ""],
  ["ness", ""],
];
const STEP_4: readonly string[] = [
  ..."al ance ence er ic able ible ant ement ment ent ou ism ate iti ous ive ize".split(" "),
];

function isConsonant(word: string, at: number): boolean {
  switch (word[at]) {
    case "a":
    case "e":
    case "i":
    case "o":
    case "u":
      return false;
    case "y":
      return at === 0 || !isConsonant(word, at - 1);
    default:
      return true;
  }
}

/** Porter's measure: the number of vowel-consonant sequences. */
function measure(stem: string): number {
  let count = 0;
  let vowel = false;
  for (let at = 0; at < stem.length; at++) {
    if (!isConsonant(stem, at)) vowel = true;
    else if (vowel) {
      count++;
      vowel = false;
    }
  }
  return count;
}

function hasVowel(stem: string): boolean {
  for (let at = 0; at < stem.length; at++) if (!isConsonant(stem, at)) return true;
  return false;
}

/** Ends in consonant, vowel, consonant other than w, x, y. */
function endsShort(stem: string): boolean {
  const at = stem.length - 1;
  return at >= 2 && isConsonant(stem, at) && !isConsonant(stem, at - 1) &&
    isConsonant(stem, at - 2) && !"wxy".includes(stem[at] ?? "");
}

function plural(word: string): string {
  if (word.endsWith("sses") || word.endsWith("ies")) return word.slice(0, -2);
  return word.endsWith("s") && !word.endsWith("ss") ? word.slice(0, -1) : word;
}

function past(word: string): string {
  if (word.endsWith("eed")) return measure(word.slice(0, -3)) > 0 ? word.slice(0, -1) : word;
  const ending = word.endsWith("ed") ? 2 : word.endsWith("ing") ? 3 : 0;
  const stem = word.slice(0, word.length - ending);
  if (ending === 0 || !hasVowel(stem)) return word;
  if (/(?:at|bl|iz)$/.test(stem)) return `${stem}e`;
  const last = stem.length - 1;
  if (stem[last] === stem[last - 1] && isConsonant(stem, last) && !/[lsz]$/.test(stem)) {
    return stem.slice(0, -1);
  }
  return measure(stem) === 1 && endsShort(stem) ? `${stem}e` : stem;
}

function replaced(word: string, rules: readonly (readonly [string, string])[]): string {
  for (const [ending, other] of rules) {
    if (!word.endsWith(ending)) continue;
    const stem = word.slice(0, -ending.length);
    return measure(stem) > 0 ? stem + other : word;
  }
  return word;
}

function shortened(word: string): string {
  if (/[st]ion$/.test(word)) {
    const stem = word.slice(0, -3);
    return measure(stem) > 1 ? stem : word;
  }
  // The longest matching suffix: `ement` before `ment` before `ent`.
  const ending = STEP_4.find((each) => word.endsWith(each));
  if (ending === undefined) return word;
  const stem = word.slice(0, -ending.length);
  return measure(stem) > 1 ? stem : word;
}

function withoutE(word: string): string {
  let stem = word;
  if (stem.endsWith("e")) {
    const cut = stem.slice(0, -1);
    const m = measure(cut);
    if (m > 1 || (m === 1 && !endsShort(cut))) stem = cut;
  }
  return stem.endsWith("ll") && measure(stem) > 1 ? stem.slice(0, -1) : stem;
}

/** The stem of a word of `a-z`; other words are returned unchanged. */
export function stemOf(word: string): string {
  if (word.length < MIN_WORD || word.length > MAX_WORD || !/^[a-z]+$/.test(word)) return word;
  let stem = past(plural(word));
  if (stem.endsWith("y") && hasVowel(stem.slice(0, -1))) stem = `${stem.slice(0, -1)}i`;
  return withoutE(shortened(replaced(replaced(stem, STEP_2), STEP_3)));
}
