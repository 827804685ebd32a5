/** Made-up texts with the word frequencies of real ones. The same number gives the same text. @module */
import type { Text } from "./world.ts";

const VOCABULARY = 30_000;
/** Zipf's law with this exponent: a few words are everywhere, most are rare. */
const SKEW = 1.05;
const SYLLABLES = "ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu".split(" ");
const TELLING = 300;

const weights = Float64Array.from({ length: VOCABULARY }, (_, n) => 1 / (n + 2) ** SKEW);
const sums = weights.slice();
for (let n = 1; n < VOCABULARY; n++) sums[n] = (sums[n] ?? 0) + (sums[n - 1] ?? 0);
const total = sums[VOCABULARY - 1] ?? 1;

/** Numbers below 1, the same for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function wordOf(n: number): string {
  let word = "";
  for (let rest = n + 20; rest > 0; rest = Math.floor(rest / 20)) word += SYLLABLES[rest % 20];
  return word;
}

function anyWord(random: () => number): string {
  const wanted = random() * total;
  let [low, high] = [0, VOCABULARY - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sums[middle] ?? 0) < wanted) low = middle + 1;
    else high = middle;
  }
  return wordOf(low);
}

const sentence = (random: () => number): string =>
  `${Array.from({ length: 12 }, () => anyWord(random)).join(" ")}.`;

/** A text of `sections` sections, about 110 words each: one chunk of a source, one passage of a page. */
export function makeText(n: number, sections: number): Text {
  const random = randomOf(n);
  const title = `${anyWord(random)} ${anyWord(random)} ${n}`;
  const body = Array.from({ length: sections }, () => {
    const lines = Array.from({ length: 9 }, () => sentence(random));
    return `## ${anyWord(random)} ${anyWord(random)}\n\n${lines.join("\n")}\n`;
  });
  return { name: `P${n}`, title, text: `# ${title}\n\n${body.join("\n")}` };
}

/** Questions of three words that tell something: neither everywhere nor nowhere. */
export function makeQuestions(count: number): readonly string[] {
  const random = randomOf(7);
  const word = (): string => wordOf(TELLING + Math.floor(random() * 5_000));
  return Array.from({ length: count }, () => `${word()} ${word()} ${word()}`);
}
