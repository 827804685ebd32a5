/**
 * The built-in embedder: what it finds among 900 sentences against BM25 on the same words, how fast it is, and how
 * much memory it takes. Builds the lexicon if it is not there yet (up to 20 s).
 *
 * @module
 */
import { cosine } from "../models/embed/mod.ts";
import { parseLexicon } from "../models/local/lexical/lexicon_file.ts";
import { lemma } from "../models/local/lexical/lemma.ts";
import { provideLexical } from "../models/local/lexical/build/mod.ts";
import { STOP_WORDS } from "../models/local/lexical/stop_words.ts";
import { textVector } from "../models/local/lexical/text_vector.ts";
import { wordsOf } from "../models/local/lexical/words.ts";
import { fused, makeBm25, type Ranking, readParaphrases, recall } from "./_paraphrases.ts";
import { atLeast, type Row } from "./row.ts";

const HOME = new URL("..", import.meta.url).pathname.replace(/\/$/, "");
const MOST = 8_192;
const ROUNDS = 10;

/** Rows of quality, speed and memory. */
export async function embedBench(): Promise<Row[]> {
  const before = Deno.memoryUsage().rss;
  const { file, bytes } = await provideLexical({
    home: HOME,
    cache: `${HOME}/.build/lexical`,
    onBuild: () => {},
  });
  const lexicon = parseLexicon(await Deno.readFile(file));
  const memory = (Deno.memoryUsage().rss - before) / 1e6;
  const { sentences, held, names } = readParaphrases();

  const vectors = sentences.map((sentence) => textVector(lexicon, sentence).vector);
  const lexical: Ranking = (query) => {
    const { vector } = textVector(lexicon, query);
    return vectors.map((each) => cosine(each, vector));
  };
  const known = (word: string): boolean => lexicon.find(word) !== undefined;
  const bm25 = makeBm25(
    sentences,
    (text) =>
      wordsOf(text, MOST).filter((word) => !STOP_WORDS.has(word)).map((word) => lemma(word, known)),
  );
  const both = fused(lexical, bm25);

  const row = (name: string, value: number, baseline: number, least: number): Row => ({
    ...{ name, value, baseline, unit: "%", target: `≥ ${least} %`, ok: value >= least },
    ratio: baseline === 0 ? 0 : value / baseline,
  });
  const asked = `${held.length} held-out paraphrases among ${sentences.length}`;
  return [
    row(`${asked}: found first, against BM25`, recall(held, lexical, 1), recall(held, bm25, 1), 15),
    row(`${asked}: among five, against BM25`, recall(held, lexical, 5), recall(held, bm25, 5), 40),
    // Where no word is shared, BM25 has nothing to add and fusing costs; where one is, both find it.
    row(
      `${asked}: fused, against lexical alone`,
      recall(held, both, 5),
      recall(held, lexical, 5),
      25,
    ),
    row(
      `${names.length} names: found first, against BM25`,
      recall(names, lexical, 1),
      recall(names, bm25, 1),
      80,
    ),
    row(
      "names: fused, found first, against lexical alone",
      ...[recall(names, both, 1), recall(names, lexical, 1), 90] as const,
    ),
    speed(sentences, (text) => textVector(lexicon, text)),
    {
      name: "memory of the open lexicon, against its file",
      value: memory,
      unit: "MB",
      baseline: bytes / 1e6,
      ratio: memory / (bytes / 1e6),
      target: "≤ 60 MB",
      ok: memory <= 60,
    },
  ];
}

/** Sentences a second, against only cutting them into words. */
function speed(sentences: readonly string[], embed: (text: string) => unknown): Row {
  const perSecond = (work: (text: string) => unknown): number => {
    const started = performance.now();
    for (let round = 0; round < ROUNDS; round++) sentences.forEach(work);
    return 1_000 * ROUNDS * sentences.length / (performance.now() - started);
  };
  perSecond(embed);
  const [value, baseline] = [perSecond(embed), perSecond((text) => wordsOf(text, MOST))];
  const name = "sentences embedded, against only cut into words";
  // A word is looked up, and its 64 numbers added, where the other only finds its end: as twenty words cut.
  return atLeast({ name, value, baseline, unit: "texts/s" }, 0.05, "cutting alone");
}
