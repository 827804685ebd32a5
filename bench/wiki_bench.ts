/**
 * The wiki memory: questions against bare Orama and bare FTS5 on the same 10,000 pages, 50,000 chunks of sources
 * (`--long`: 500,000 as well), the next process's start, the change of one page, lint.
 * @module
 */
import { create, insert, search as searchOrama } from "@orama/orama";
import { DatabaseSync } from "node:sqlite";
import { lintWiki } from "../memory-wiki/lint/mod.ts";
import { chunkText } from "../memory-wiki/markdown/mod.ts";
import { termsOf } from "../memory-wiki/search/mod.ts";
import { matchAny } from "../memory-wiki/search/passage.ts";
import { median, quantile } from "./quantile.ts";
import { atLeast, atMost, type Row, shown } from "./row.ts";
import { readDocuments, readQuestions } from "./wiki/corpus.ts";
import { makeQuestions, makeText } from "./wiki/texts.ts";
import { makeWikiWorld, takeSources, type Text, writePages } from "./wiki/world.ts";

const PAGES = 10_000;
const QUESTIONS = 60;
const SECTIONS = 10;
const CLEARANCE = "internal";

type Ask = (question: string) => unknown;

async function millis(work: () => unknown): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

/** Times of all questions, milliseconds; a few are asked before. */
async function times(ask: Ask, questions: readonly string[]): Promise<readonly number[]> {
  for (const question of questions.slice(0, 5)) await ask(question);
  const all: number[] = [];
  for (const question of questions) all.push(await millis(() => ask(question)));
  return all;
}

/** Ten thousand pages of real text, each a passage of documentation, and real questions. */
export async function wikiPagesBench(): Promise<Row[]> {
  const documents = await readDocuments();
  const texts = documents.flatMap(({ title, text }) => {
    const bytes = new TextEncoder().encode(text);
    return chunkText("markdown", bytes, { termsOf, title }).chunks.map((chunk) => ({
      title: [title, ...chunk.heading.split(" > ").slice(-1)].join(": ").slice(0, 200),
      text: new TextDecoder().decode(bytes.subarray(chunk.startByte, chunk.endByte)),
    }));
  }).slice(0, PAGES).map((text, n) => ({ ...text, name: `P${n}` }));
  const questions = readQuestions(documents).map(({ question }) => question);
  let bare: Ask = () => [];
  const inOrama = await millis(() => bare = bareOrama(texts));
  const orama = await times(bare, questions);
  const fts = await times(bareFts(texts), questions);
  using world = await makeWikiWorld();
  const { store, search } = world;
  const written = await millis(() => writePages(store, texts));
  const ask = (question: string) => search.query({ text: question, k: 5, clearance: CLEARANCE });
  const indexed = await millis(() => ask("first"));
  const ours = await times(ask, questions);
  const saved = await millis(() => search.save());
  const next = world.again();
  const question = { text: "first", k: 5, clearance: CLEARANCE } as const;
  const started = await millis(() => next.query(question));
  const changed: number[] = [];
  for (const text of texts.slice(0, 5)) {
    changed.push(
      await millis(async () => {
        await writePages(store, [{ ...text, text: `${text.text}\nOne more line.\n` }], 1);
        await search.query(question);
      }),
    );
  }
  const linted = await millis(() => lintWiki(store, { clearance: CLEARANCE, now: Date.now() }));
  const of = `${texts.length} pages`;
  const asked = `wiki, question over ${of}`;
  const ms = (name: string, value: number, baseline: number) => ({
    name,
    value,
    unit: "ms",
    baseline,
  });
  const perSecond = (took: number): number => texts.length / (took / 1_000);
  return [
    ...[0.5, 0.95].map((p) =>
      atMost(
        ms(`${asked}, p${100 * p}, against bare Orama`, quantile(ours, p), quantile(orama, p)),
        ...[1.2, "bare Orama"] as const,
      )
    ),
    shown(ms(`${asked}, p50, against bare FTS5`, median(ours), median(fts))),
    atLeast(
      {
        name: `wiki, ${of} written, against bare Orama in memory`,
        ...{ value: perSecond(written), unit: "pages/s", baseline: perSecond(inOrama) },
      },
      // Each page is two files that are synced, and a row.
      ...[0.1, "bare Orama"] as const,
    ),
    atMost(
      ms(`wiki, start of the next process over ${of}, against indexing`, started, indexed),
      ...[0.5, "indexing"] as const,
    ),
    // What is kept for the next process must cost less than it saves there.
    atMost(ms(`wiki, index of ${of} kept`, saved, indexed), 0.33, "indexing"),
    // All pages' times are looked at and one is read again.
    atMost(
      ms(`wiki, one of ${of} changed and found again`, median(changed), indexed),
      0.05,
      "indexing",
    ),
    // Every page is read and compared, where indexing only reads it.
    atMost(ms(`wiki, lint of ${of}`, linted, indexed), 3, "indexing"),
  ];
}

/** Fifty thousand chunks, and with `--long` five hundred thousand. */
export async function wikiChunksBench(): Promise<Row[]> {
  const rows = await chunks(50_000);
  return Deno.args.includes("--long") ? [...rows, ...await chunks(500_000)] : rows;
}

async function chunks(count: number): Promise<Row[]> {
  const texts = (at: number, most: number): Text[] =>
    Array.from({ length: most }, (_, n) => makeText(1_000_000 + at + n, SECTIONS));
  const documents = count / SECTIONS;
  const step = 500;
  using world = await makeWikiWorld();
  using bare = makeFts();
  const before = { memory: Deno.memoryUsage().rss, bytes: world.bytes() };
  const questions = makeQuestions(QUESTIONS);
  let [ours, theirs, text, made] = [0, 0, 0, 0];
  for (let at = 0; at < documents; at += step) {
    const some = texts(at, step);
    text += some.reduce((sum, each) => sum + each.text.length, 0);
    ours += await millis(async () => {
      made += await takeSources(world.store, some);
    });
    theirs += await millis(() =>
      bare.put(
        some.flatMap(({ title, text }) =>
          text.split(/^(?=## )/m).slice(1).map((part) => ({ title, text: part }))
        ),
      )
    );
  }
  const grown = world.bytes() - before.bytes;
  const asked = await times(
    (question) => world.search.query({ text: question, k: 5, clearance: CLEARANCE }),
    questions,
  );
  const memory = (Deno.memoryUsage().rss - before.memory) / 1e6;
  const fts = await times(bare.ask, questions);
  const of = `${made} chunks`;
  return [
    atLeast(
      {
        name: `wiki, ingest of ${of}, against bare FTS5 in memory`,
        ...{ value: made / (ours / 1_000), baseline: made / (theirs / 1_000), unit: "chunks/s" },
      },
      // On disk, cut into passages, with digests and provenance.
      ...[0.15, "bare FTS5"] as const,
    ),
    // The files of the candidates are read and their digests checked, which a table in memory has none of.
    ...([[0.5, "p50", 75], [0.95, "p95", 30]] as const).map(([p, name, most]) =>
      atMost(
        {
          name: `wiki, question over ${of}, ${name}, against bare FTS5`,
          ...{ value: quantile(asked, p), baseline: quantile(fts, p), unit: "ms" },
        },
        ...[most, "bare FTS5"] as const,
      )
    ),
    atMost(
      {
        name: `wiki, growth on disk of ${of}, against the text`,
        ...{ value: grown / 1e6, baseline: text / 1e6, unit: "MB" },
      },
      ...[3, "the text"] as const,
    ),
    {
      ...shown({
        name: `wiki, memory after ${of}, bare FTS5's own among it`,
        ...{ value: memory, baseline: 0, unit: "MB" },
      }),
      ...{ target: "≤ 600 MB", ok: memory <= 600 },
    },
  ];
}

function bareOrama(texts: readonly Text[]): Ask {
  const database = create({ schema: { title: "string", body: "string" } as const });
  for (const { title, text } of texts) insert(database, { title, body: text });
  return (question) => searchOrama(database, { term: question, limit: 5 });
}

function bareFts(texts: readonly Text[]): Ask {
  const fts = makeFts();
  fts.put(texts);
  return fts.ask;
}

interface BareFts extends Disposable {
  put(texts: readonly Omit<Text, "name">[]): void;
  readonly ask: Ask;
}

function makeFts(): BareFts {
  const db = new DatabaseSync(":memory:");
  db.exec("CREATE VIRTUAL TABLE t USING fts5(title, body)");
  const put = db.prepare("INSERT INTO t(title, body) VALUES (?, ?)");
  const find = db.prepare("SELECT rowid, title, body FROM t WHERE t MATCH ? ORDER BY rank LIMIT 5");
  return {
    put(texts) {
      db.exec("BEGIN");
      for (const { title, text } of texts) put.run(title, text);
      db.exec("COMMIT");
    },
    ask: (question) => find.all(matchAny(termsOf(question))),
    [Symbol.dispose]: () => db.close(),
  };
}
