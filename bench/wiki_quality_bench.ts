/**
 * What the wiki's search finds in the documentation of a runtime, 1,381 documents, for questions of three kinds:
 * FTS5 alone, Orama alone, both fused, and with vectors of the built-in embedder. `deno run -A bench/wiki_quality_bench.ts` prints the whole
 * table of docs/retrieval.md; the rows of `deno task bench --only wiki_quality` are of the held-out half.
 * @module
 */
import { parseLexicon } from "../models/local/lexical/lexicon_file.ts";
import { provideLexical } from "../models/local/lexical/build/mod.ts";
import { textVector } from "../models/local/lexical/text_vector.ts";
import type { Found } from "../contracts/mod.ts";
import { type Kind, KINDS, type Question, readDocuments, readQuestions } from "./wiki/corpus.ts";
import {
  bareOramaRanking,
  ftsRanking,
  oramaRanking,
  type Origins,
  type Place,
  placeOf,
  PLACES,
  type Ranking,
  withoutRepeats,
} from "./wiki/rankings.ts";
import { makeWikiWorld, takeSources, type WikiWorld, writePages } from "./wiki/world.ts";
import type { Row } from "./row.ts";

const HOME = new URL("..", import.meta.url).pathname.replace(/\/$/, "");
const EMBEDDER = "lexical";
const TEXTS_AT_ONCE = 500;
const HALVES = ["tuning", "held"] as const;

/** How well one way of ranking does on some questions, percent but `mrr`. */
interface Quality {
  readonly first: number;
  readonly five: number;
  readonly mrr: number;
}

/** Everything that was measured. */
interface Measured {
  readonly quality: (way: string, kind: Kind, half: "tuning" | "held") => Quality;
  /** Percent: of unanswerable questions those told so, of answerable ones those told so wrongly. */
  readonly fit: (
    way: string,
    half: "tuning" | "held",
  ) => { readonly recognised: number; readonly lost: number };
  readonly ways: readonly string[];
}

/** Runs all questions all ways. */
async function measureQuality(): Promise<Measured> {
  const documents = await readDocuments();
  const questions = readQuestions(documents);
  using world = await makeWikiWorld();
  const origins = await fill(world, documents);
  const embed = await embedder();
  embedAll(world, embed);

  const fits = new Map<string, Found["fit"]>();
  const asked = (way: string, vectors: boolean): Ranking => async (question) => {
    const found = await world.search.query({
      text: question,
      k: 2 * PLACES,
      clearance: "internal",
      ...(vectors ? { vector: { embedder: EMBEDDER, values: embed(question) } } : {}),
    });
    fits.set(`${way} ${question}`, found.fit);
    return withoutRepeats(found.hits.flatMap((hit) => placeOf(origins, hit) ?? []));
  };
  const rankings: Readonly<Record<string, Ranking>> = {
    "Orama, its defaults": bareOramaRanking(documents),
    "Orama": oramaRanking(world.store, origins),
    "FTS5": ftsRanking(world.store, origins),
    "fused": asked("fused", false),
    "fused, vectors": asked("fused, vectors", true),
  };
  const places = new Map<string, readonly Place[]>();
  for (const [way, ranking] of Object.entries(rankings)) {
    for (const { question } of questions) places.set(`${way} ${question}`, await ranking(question));
  }
  return {
    ways: Object.keys(rankings),
    quality: (way, kind, half) =>
      qualityOf(
        questions.filter((each) => each.kind === kind && each.half === half)
          .map((each) => rankOf(each, places.get(`${way} ${each.question}`) ?? [])),
      ),
    fit(way, half) {
      const none = (answerable: boolean): number => {
        const some = questions.filter((each) =>
          each.half === half && (each.kind !== "unanswerable") === answerable
        );
        const told = some.filter(({ question }) => fits.get(`${way} ${question}`) === "none");
        return 100 * told.length / some.length;
      };
      return { recognised: none(false), lost: none(true) };
    },
  };
}

/** Every document as a source, and as a page of the same text. */
async function fill(
  { store }: WikiWorld,
  documents: readonly { readonly name: string; readonly title: string; readonly text: string }[],
): Promise<Origins> {
  await takeSources(store, documents);
  const origins = new Map<string, { readonly document: string; readonly shift: number }>();
  for (const { text, key } of store.sources.list({})) {
    origins.set(text, { document: key.slice("file:/".length), shift: 0 });
  }
  const pages = documents.map(({ name, title, text }) => {
    // A page has front matter of its own.
    const lines = text.split("\n");
    const end = lines[0] === "---" ? lines.indexOf("---", 1) + 1 : 0;
    const page = name.replace(/\.mdx?$/, "").replaceAll(/[^A-Za-z0-9]+/g, "-");
    return { document: name, name: page, title, text: lines.slice(end).join("\n"), end };
  });
  await writePages(store, pages);
  for (const { document, name, text, end } of pages) {
    const page = store.pages.find(name);
    const written = page === undefined ? "" : store.pages.text(page.name) ?? "";
    const telling = text.split("\n").findIndex((line) => line.trim() !== "");
    const wanted = text.split("\n")[telling] ?? "";
    const at = written.split("\n").indexOf(wanted, 4);
    if (at < 0) throw new Error(`Cannot place the page ${name}`);
    origins.set(`pages/${name}.md`, { document, shift: at - (telling + end) });
  }
  return origins;
}

async function embedder(): Promise<(text: string) => number[]> {
  const options = { home: HOME, cache: `${HOME}/.build/lexical`, onBuild: () => {} };
  const { file } = await provideLexical(options);
  const lexicon = parseLexicon(await Deno.readFile(file));
  return (text) => [...textVector(lexicon, text).vector];
}

function embedAll({ search }: WikiWorld, embed: (text: string) => number[]): void {
  while (true) {
    const plan = search.embedPlan(EMBEDDER, TEXTS_AT_ONCE);
    if (plan.length === 0) return;
    search.embedTaken(EMBEDDER, plan.map(({ key, text }) => ({ key, vector: embed(text) })));
  }
}

/** At which place the answer is, from 1; 0 where it is not among them. */
function rankOf({ answers }: Question, places: readonly Place[]): number {
  return 1 +
    places.findIndex(({ document, startLine, endLine }) =>
      answers.some((each) =>
        each.document === document && each.line >= startLine && each.line <= endLine
      )
    );
}

function qualityOf(ranks: readonly number[]): Quality {
  const share = (most: number): number =>
    100 * ranks.filter((rank) => rank > 0 && rank <= most).length / ranks.length;
  const sum = ranks.reduce((total, rank) => total + (rank > 0 ? 1 / rank : 0), 0);
  return { first: share(1), five: share(5), mrr: sum / ranks.length };
}

/** Rows of the held-out half. */
export async function wikiQualityBench(): Promise<Row[]> {
  const { quality, fit } = await measureQuality();
  const row = (name: string, value: number, baseline: number, target: string, ok: boolean): Row => {
    const ratio = baseline === 0 ? 0 : value / baseline;
    return { name, value, baseline, ratio, unit: "%", target, ok };
  };
  const rows = (["lexical", "paraphrased"] as const).flatMap((kind) => {
    const of = (way: string): Quality => quality(way, kind, "held");
    const [fts, orama, fused, near] = ["FTS5", "Orama", "fused", "fused, vectors"].map(of) as [
      Quality,
      Quality,
      Quality,
      Quality,
    ];
    const best = Math.max(fts.mrr, orama.mrr);
    return [
      row(
        `wiki, ${kind}: 100 × MRR, fused against the better of its parts`,
        ...[100 * fused.mrr, 100 * best, "≥ 1×", fused.mrr >= best] as const,
      ),
      row(
        `wiki, ${kind}: among five, fused against the better of its parts`,
        ...[fused.five, Math.max(fts.five, orama.five), "≥ 1×"] as const,
        fused.five >= Math.max(fts.five, orama.five),
      ),
      row(
        `wiki, ${kind}: 100 × MRR, with vectors against fused`,
        ...[100 * near.mrr, 100 * fused.mrr, "≥ 1×", near.mrr >= fused.mrr] as const,
      ),
      row(
        `wiki, ${kind}: among five, with vectors against fused`,
        ...[near.five, fused.five, "≥ 1×", near.five >= fused.five] as const,
      ),
    ];
  });
  const { recognised, lost } = fit("fused, vectors", "held");
  return [
    ...rows,
    row(
      "wiki: unanswerable questions that are recognised",
      recognised,
      0,
      "≥ 70 %",
      recognised >= 70,
    ),
    row("wiki: answerable questions that are lost by it", lost, 0, "≤ 2 %", lost <= 2),
  ];
}

if (import.meta.main) {
  const { ways, quality, fit } = await measureQuality();
  const lines: string[] = [];
  for (const half of HALVES) {
    for (const kind of KINDS.filter((each) => each !== "unanswerable")) {
      for (const way of ways) {
        const { first, five, mrr } = quality(way, kind, half);
        const cells = [half, kind, way, `${first.toFixed(0)} %`, `${five.toFixed(0)} %`];
        lines.push(`| ${[...cells, mrr.toFixed(3)].join(" | ")} |`);
      }
    }
    for (const way of ["fused", "fused, vectors"]) {
      const { recognised, lost } = fit(way, half);
      lines.push(
        `${half}, ${way}: unanswerable recognised ${recognised.toFixed(0)} %, answerable lost ${
          lost.toFixed(0)
        } %`,
      );
    }
  }
  Deno.stdout.writeSync(new TextEncoder().encode(`${lines.join("\n")}\n`));
}
