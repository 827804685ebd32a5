/**
 * Finds phrases in one pass over folded words: several words in order, with few others between. No regular expression
 * runs over a stranger's text: it could take quadratic time.
 * @module
 */

/** The alternatives for one word of a phrase. */
export type Step = ReadonlySet<string>;

/** Steps in order, with at most `gap` other words between two of them. */
export interface Phrase {
  readonly steps: readonly Step[];
  readonly gap: number;
  /** Words allowed between two steps; absent: any word of the same sentence. */
  readonly between?: Step;
}

/** Where a phrase stands in a folded text. */
export interface FoundPhrase {
  readonly from: number;
  readonly to: number;
}

/** Finds the first phrase in a folded text (`foldText`). Takes time in proportion to the text. */
export type FindPhrase = (text: string) => FoundPhrase | undefined;

/** Words of a step, with spaces between; at most 16 letters each. `:` is a word. */
export function step(words: string): Step {
  return new Set(words.split(" "));
}

/** Characters of the longest word in a phrase. */
const LONGEST = 16;

interface Follower {
  readonly phrase: Phrase;
  /** Steps matched so far. */
  at: number;
  /** Words since the last matched step. */
  since: number;
  /** Position of the first step. */
  from: number;
}

/** A finder of these phrases. */
export function makePhraseFinder(phrases: readonly Phrase[]): FindPhrase {
  /** Words that begin a phrase. */
  const begin: ReadonlySet<string> = new Set(
    phrases.flatMap(({ steps: [first = []] }) => [...first]),
  );
  return (text) => {
    const followers = phrases.map((phrase): Follower => ({ phrase, at: 0, since: 0, from: 0 }));
    // Most words are far from any phrase: they begin none, and none has begun.
    let open = 0;
    for (let n = 0; n < text.length;) {
      const code = text.charCodeAt(n);
      const from = n;
      let found: number | Follower = open;
      if (isLetter(code)) {
        while (n < text.length && isWord(text.charCodeAt(n))) n += 1;
        const word = n - from > LONGEST ? "" : text.slice(from, n).replace("'", "");
        if (open > 0 || begin.has(word)) found = feed(followers, word, from);
      } else {
        n += 1;
        if (code === 0x3a && open > 0) found = feed(followers, ":", from);
        else if (code === 0x2e || code === 0x21) endSentence(followers);
      }
      if (typeof found !== "number") return { from: found.from, to: n };
      open = found;
    }
    return undefined;
  };
}

/** Feeds one word to all phrases: the phrase that is now complete, else the number of phrases under way. */
function feed(followers: readonly Follower[], word: string, from: number): number | Follower {
  let open = 0;
  for (const follower of followers) {
    const { phrase, at } = follower;
    if (phrase.steps[at]?.has(word) === true) {
      if (at === 0) follower.from = from;
      follower.at += 1;
      follower.since = 0;
      if (follower.at === phrase.steps.length) return follower;
    } else if (at > 0) {
      follower.since += 1;
      const isBetween = phrase.between === undefined || phrase.between.has(word);
      if (!isBetween || follower.since > phrase.gap) {
        // The phrase is broken off; this word may begin it again.
        follower.at = phrase.steps[0]?.has(word) === true ? 1 : 0;
        follower.since = 0;
        follower.from = from;
      }
    }
    if (follower.at > 0) open += 1;
  }
  return open;
}

function endSentence(followers: readonly Follower[]): void {
  for (const follower of followers) {
    if (follower.phrase.between === undefined) follower.at = 0;
  }
}

function isLetter(code: number): boolean {
  return code >= 0x61 && code <= 0x7a;
}

function isWord(code: number): boolean {
  return isLetter(code) || code === 0x27 || (code >= 0x30 && code <= 0x39);
}
