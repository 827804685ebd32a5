/** Words that give orders to an assistant, found in one pass over folded words. English. @module */

/** One word of a phrase, one of several. */
type Step = ReadonlySet<string>;

/** Steps in order, with at most `gap` other words between two of them. */
interface Phrase {
  readonly steps: readonly Step[];
  readonly gap: number;
  /** What may stand between; absent: any word of the same sentence. */
  readonly between?: Step;
}

const step = (words: string): Step => new Set(words.split(" "));
const LITTLE = step("all any the your of my me this these those every it to about in for from");
const READER = step(
  "ai assistant assistants llm llms model agent agents chatbot copilot claude gpt chatgpt gemini",
);
const DEED = step(
  "read send post upload fetch run execute delete call email forward transfer visit open write",
);
const PERSON = step("user users operator human owner person anyone developer");

const PHRASES: readonly Phrase[] = [
  {
    steps: [
      step("ignore disregard forget override bypass"),
      step("previous prior above earlier preceding former system instructions rules guidelines"),
    ],
    gap: 4,
    between: LITTLE,
  },
  {
    steps: [
      step("new updated real hidden secret additional"),
      step("instruction instructions prompt directive directives"),
      step(":"),
    ],
    gap: 1,
    between: step("system user"),
  },
  {
    steps: [
      step("reveal print show repeat output leak"),
      step("system"),
      step("prompt message instructions"),
    ],
    gap: 3,
    between: LITTLE,
  },
  {
    steps: [
      step("not never dont"),
      step("tell inform mention alert notify reveal ask warn"),
      PERSON,
    ],
    gap: 3,
    between: LITTLE,
  },
  { steps: [step("you"), step("are"), step("now"), step("a an in the no")], gap: 0 },
  { steps: [READER, step("must should shall please now"), DEED], gap: 6 },
  {
    steps: [step("important attention urgent"), READER],
    gap: 4,
    between: step("message note notice instruction instructions for to the all any : "),
  },
  {
    steps: [
      step("send post upload forward email exfiltrate transmit"),
      step("password passwords credentials secrets keys token tokens conversation contents"),
      step("to"),
    ],
    gap: 5,
  },
];

/** Words that begin a phrase. */
const BEGIN: ReadonlySet<string> = new Set(
  PHRASES.flatMap(({ steps: [first = []] }) => [...first]),
);
/** A phrase is whole. */
const FOUND = Infinity;
/** Longest word that is in a phrase. */
const LONGEST = 16;

interface Follower {
  readonly phrase: Phrase;
  /** Steps done. */
  at: number;
  /** Words since the last of them. */
  since: number;
}

/** Tells whether a folded text gives orders. Takes time in proportion to the text. */
export function givesOrders(text: string): boolean {
  const followers: Follower[] = PHRASES.map((phrase) => ({ phrase, at: 0, since: 0 }));
  // Most words are far from any phrase: they begin none, and none has begun.
  let open = 0;
  for (let n = 0; n < text.length;) {
    const code = text.charCodeAt(n);
    if (!isLetter(code)) {
      if (code === 0x3a && open > 0) open = feed(followers, ":");
      else if (code === 0x2e || code === 0x21) endSentence(followers);
      if (open === FOUND) return true;
      n += 1;
      continue;
    }
    const from = n;
    while (n < text.length && isWord(text.charCodeAt(n))) n += 1;
    const word = n - from > LONGEST ? "" : text.slice(from, n).replace("'", "");
    if (open > 0 || BEGIN.has(word)) open = feed(followers, word);
    if (open === FOUND) return true;
  }
  return false;
}

/** What is left of the phrases after a word: how many are under way, or {@link FOUND}. */
function feed(followers: readonly Follower[], word: string): number {
  let open = 0;
  for (const follower of followers) {
    const { phrase, at } = follower;
    if (phrase.steps[at]?.has(word) === true) {
      follower.at += 1;
      follower.since = 0;
      if (follower.at === phrase.steps.length) return FOUND;
    } else if (at > 0) {
      follower.since += 1;
      const isBetween = phrase.between === undefined || phrase.between.has(word);
      if (!isBetween || follower.since > phrase.gap) {
        // Not the phrase after all; this very word may begin it anew.
        follower.at = phrase.steps[0]?.has(word) === true ? 1 : 0;
        follower.since = 0;
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
