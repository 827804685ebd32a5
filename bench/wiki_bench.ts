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
import { matchAny } from "../memory-wiki/search/source_passages.ts";
import { readDocuments, readQuestions } from "./wiki/corpus.ts";
import { makeQuestions, makeText } from "./wiki/texts.ts";
import { makeWikiWorld, takeSources, type Text, writePages } from "./wiki/world.ts";
import { median, quantile } from "./quantile.ts";
import type { Row } from "./row.ts";

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

function row(parts: Omit<Row, "ratio">): Row {
  return { ...parts, ratio: parts.baseline === 0 ? 0 : parts.value / parts.baseline };
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
  const orama = await times(bareOrama(texts), questions);
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
  return [
    row({
      name: `wiki, question over ${of}, p50, against bare Orama`,
      ...{ value: median(ours), baseline: median(orama), unit: "ms", target: "≤ 1.2×" },
      ok: median(ours) <= 1.2 * median(orama),
    }),
    row({
      name: `wiki, question over ${of}, p95, against bare Orama`,
      ...{ value: quantile(ours, 0.95), baseline: quantile(orama, 0.95), unit: "ms" },
      ...{ target: "≤ 1.2×", ok: quantile(ours, 0.95) <= 1.2 * quantile(orama, 0.95) },
    }),
    row({
      name: `wiki, question over ${of}, p50, against bare FTS5`,
      ...{ value: median(ours), baseline: median(fts), unit: "ms", target: "≤ 50 ms" },
      ok: median(ours) <= 50,
    }),
    row({
      name: `wiki, ${of} written, pages a second`,
      ...{ value: texts.length / (written / 1_000), baseline: 0, unit: "pages/s", target: "≥ 300" },
      ok: texts.length / (written / 1_000) >= 300,
    }),
    row({
      name: `wiki, start of the next process over ${of}, against indexing`,
      ...{ value: started, baseline: indexed, unit: "ms", target: "≤ 0.5×" },
      ok: started <= 0.5 * indexed,
    }),
    row({
      name: `wiki, index of ${of} kept`,
      ...{ value: saved, baseline: 0, unit: "ms", target: "≤ 2,000 ms", ok: saved <= 2_000 },
    }),
    row({
      name: `wiki, one of ${of} changed and found again`,
      ...{ value: median(changed), baseline: indexed, unit: "ms", target: "≤ 200 ms" },
      ok: median(changed) <= 200,
    }),
    row({
      name: `wiki, lint of ${of}`,
      ...{ value: linted / 1_000, baseline: 0, unit: "s", target: "≤ 20 s", ok: linted <= 20_000 },
    }),
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
    row({
      name: `wiki, ingest of ${of}, against bare FTS5 in memory`,
      ...{ value: made / (ours / 1_000), baseline: made / (theirs / 1_000), unit: "chunks/s" },
      ...{ target: "≥ 2,000 chunks/s", ok: made / (ours / 1_000) >= 2_000 },
    }),
    ...([[0.5, "p50", 50], [0.95, "p95", 150]] as const).map(([p, name, most]) =>
      row({
        name: `wiki, question over ${of}, ${name}, against bare FTS5`,
        ...{ value: quantile(asked, p), baseline: quantile(fts, p), unit: "ms" },
        ...{ target: `≤ ${most * count / 50_000} ms` },
        ok: quantile(asked, p) <= most * count / 50_000,
      })
    ),
    row({
      name: `wiki, growth on disk of ${of}, against the text`,
      ...{ value: grown / 1e6, baseline: text / 1e6, unit: "MB", target: "≤ 3×" },
      ok: grown <= 3 * text,
    }),
    row({
      name: `wiki, memory after ${of}, bare FTS5's own among it`,
      ...{ value: memory, baseline: 0, unit: "MB", target: "≤ 600 MB", ok: memory <= 600 },
    }),
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
