/** The sentences of bench/_data/paraphrase, and how well a way of ranking finds them. @module */

const FOLDER = new URL("_data/paraphrase/", import.meta.url);
const SUBJECT = /^# /;
/** Of each subject, the first so many pairs are for tuning. */
const FOR_TUNING = 5;

/** A query, and the number of the sentence that answers it. */
export interface Question {
  readonly query: string;
  readonly answer: number;
}

/** What is searched, and what is asked. */
export interface Paraphrases {
  readonly sentences: readonly string[];
  readonly tuning: readonly Question[];
  readonly held: readonly Question[];
  readonly names: readonly Question[];
}

/** Scores of all sentences for a query; 0 or less: not found at all. */
export type Ranking = (query: string) => readonly number[];

function linesOf(file: string): readonly string[] {
  return Deno.readTextFileSync(new URL(file, FOLDER)).split("\n").filter((line) => line !== "");
}

/** Reads them. */
export function readParaphrases(): Paraphrases {
  const sentences: string[] = [];
  const [tuning, held]: [Question[], Question[]] = [[], []];
  const pair = (line: string): Question => {
    const [query = "", sentence = ""] = line.split(" | ");
    return { query, answer: sentences.push(sentence) - 1 };
  };
  for (const line of linesOf("tuning.txt")) if (!SUBJECT.test(line)) tuning.push(pair(line));
  for (const file of ["pairs_a.txt", "pairs_b.txt"]) {
    let n = 0;
    for (const line of linesOf(file)) {
      if (SUBJECT.test(line)) n = 0;
      else (n++ < FOR_TUNING ? tuning : held).push(pair(line));
    }
  }
  for (const file of ["other_a.txt", "other_b.txt"]) {
    sentences.push(...linesOf(file).filter((line) => !SUBJECT.test(line)));
  }
  const names = linesOf("names.txt").filter((line) => !SUBJECT.test(line)).map((line) => {
    const [query = "", sentence = ""] = line.split(" | ");
    return { query, answer: sentences.indexOf(sentence) };
  });
  return { sentences, tuning, held, names };
}

/** Percent of the questions whose answer is among the first `places`; ties count against it. */
export function recall(
  questions: readonly Question[],
  ranking: Ranking,
  places: number,
): number {
  const found = questions.filter(({ query, answer }) => {
    const scores = ranking(query);
    const own = scores[answer] ?? 0;
    return own > 0 && scores.filter((score) => score >= own).length <= places;
  });
  return 100 * found.length / questions.length;
}

/** Okapi BM25 over the words that `cut` finds. */
export function makeBm25(
  sentences: readonly string[],
  cut: (text: string) => readonly string[],
): Ranking {
  const [K, B] = [1.2, 0.75];
  const documents = sentences.map(cut);
  const mean = documents.reduce((sum, { length }) => sum + length, 0) / documents.length;
  const holding = new Map<string, number>();
  for (const document of documents) {
    for (const word of new Set(document)) holding.set(word, (holding.get(word) ?? 0) + 1);
  }
  return (query) => {
    const wanted = cut(query);
    return documents.map((document) =>
      wanted.reduce((score, word) => {
        const times = document.filter((each) => each === word).length;
        const n = holding.get(word) ?? 0;
        const rarity = Math.log(1 + (documents.length - n + 0.5) / (n + 0.5));
        return score +
          rarity * times * (K + 1) / (times + K * (1 - B + B * document.length / mean));
      }, 0)
    );
  };
}

/** Reciprocal rank fusion: what either finds, what both find first. */
export function fused(...rankings: readonly Ranking[]): Ranking {
  const SMOOTH = 60;
  return (query) => {
    const sums: number[] = [];
    for (const ranking of rankings) {
      const scores = ranking(query);
      const sorted = scores.toSorted((a, b) => b - a);
      scores.forEach((score, n) => {
        const share = score > 0 ? 1 / (SMOOTH + sorted.indexOf(score) + 1) : 0;
        sums[n] = (sums[n] ?? 0) + share;
      });
    }
    return sums;
  };
}
