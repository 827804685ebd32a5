/**
 * What the wiki's search finds in the documentation of a runtime, 1,381 documents, for questions of three kinds:
 * FTS5 alone, Orama alone, both fused, and with phrasings. `deno run -A bench/wiki_quality_bench.ts` prints the whole
 * table of docs/retrieval.md; the rows of `deno task bench --only wiki_quality` are of the held-out half.
 * @module
 */
import type { Found } from "../contracts/memory/mod.ts";
import {
  type Kind,
  KINDS,
  type Question,
  readDocuments,
  readInvented,
  readQuestions,
} from "./wiki/corpus.ts";
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
  /** Every question of the held-out half. */
  readonly judged: (way: string) => readonly Judged[];
}

/** Runs all questions all ways. */
async function measureQuality(): Promise<Measured> {
  const documents = await readDocuments();
  const questions = readQuestions(documents);
  using world = await makeWikiWorld();
  const origins = await fill(world, documents);

  const fits = new Map<string, Found["fit"]>();
  const worded = new Map(questions.map(({ question, queries }) => [question, [...queries]]));
  const asked = (way: string, phrasings = false): Ranking => async (question) => {
    const queries = phrasings ? worded.get(question) ?? [] : [];
    const found = await world.search.query({
      text: question,
      ...(queries.length === 0 ? {} : { queries }),
      k: 2 * PLACES,
      clearance: "internal",
    });
    fits.set(`${way} ${question}`, found.fit);
    return withoutRepeats(found.hits.flatMap((hit) => placeOf(origins, hit) ?? []));
  };
  const rankings: Readonly<Record<string, Ranking>> = {
    "Orama, its defaults": bareOramaRanking(documents),
    "Orama": oramaRanking(world.store, origins),
    "FTS5": ftsRanking(world.store, origins),
    "fused": asked("fused"),
    "fused, phrasings": asked("fused, phrasings", true),
  };
  const places = new Map<string, readonly Place[]>();
  for (const [way, ranking] of Object.entries(rankings)) {
    for (const { question } of questions) places.set(`${way} ${question}`, await ranking(question));
  }
  return {
    ways: Object.keys(rankings),
    judged: (way) =>
      questions.filter(({ half }) => half === "held").map((each) => ({
        kind: each.kind,
        rank: rankOf(each, places.get(`${way} ${each.question}`) ?? []),
        none: fits.get(`${way} ${each.question}`) === "none",
      })),
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

/** What was found for one question: its place, from 1, 0 for none, and whether it is told that there is no answer. */
interface Judged {
  readonly kind: Kind;
  readonly rank: number;
  readonly none: boolean;
}

/** The invented documents, by words alone and with phrasings. */
async function measureInvented(): Promise<readonly (readonly Judged[])[]> {
  const { documents, questions } = readInvented();
  using world = await makeWikiWorld();
  await takeSources(world.store, documents);
  const origins: Origins = new Map(
    world.store.sources.list({}).map(({ text, key }) =>
      [text, { document: key.slice("file:/".length), shift: 0 }] as const
    ),
  );
  const judge = async (question: Question, phrasings: boolean): Promise<Judged> => {
    const { hits, fit } = await world.search.query({
      text: question.question,
      ...(phrasings ? { queries: [...question.queries] } : {}),
      k: 5,
      clearance: "internal",
    });
    const rank = rankOf(question, hits.flatMap((hit) => placeOf(origins, hit) ?? []));
    return { kind: question.kind, rank, none: fit === "none" };
  };
  const all: Judged[][] = [];
  for (const phrasings of [false, true]) {
    const judged: Judged[] = [];
    for (const question of questions) judged.push(await judge(question, phrasings));
    all.push(judged);
  }
  return all;
}

/** The goals of questions with phrasings; the baseline of a row is the same by words alone. */
function goalRows(of: string, alone: readonly Judged[], worded: readonly Judged[]): Row[] {
  const share = (some: readonly Judged[], is: (each: Judged) => boolean): number =>
    100 * some.filter(is).length / some.length;
  const answerable = (some: readonly Judged[]) =>
    some.filter(({ kind }) => kind !== "unanswerable");
  const ofKind = (kind: Kind) => (some: readonly Judged[]) =>
    some.filter((each) => each.kind === kind);
  const five = ({ rank }: Judged): boolean => rank > 0 && rank <= 5;
  const goal = (
    name: string,
    pick: (some: readonly Judged[]) => readonly Judged[],
    is: (each: Judged) => boolean,
    target: { readonly text: string; readonly met: (value: number) => boolean },
  ): Row => {
    const [value, baseline] = [share(pick(worded), is), share(pick(alone), is)];
    const ratio = baseline === 0 ? 0 : value / baseline;
    const ok = target.met(value);
    return {
      name: `wiki, phrasings, ${of}: ${name}`,
      value,
      baseline,
      ratio,
      unit: "%",
      target: target.text,
      ok,
    };
  };
  const least = (percent: number) => ({
    text: `≥ ${percent} %`,
    met: (value: number) => value >= percent,
  });
  return [
    goal("among five, over all", answerable, five, least(92)),
    goal("among five, paraphrased", ofKind("paraphrased"), five, least(93)),
    goal(
      "unanswerable that are recognised",
      ofKind("unanswerable"),
      ({ none }) => none,
      least(100),
    ),
    goal("answerable that are lost by it", answerable, ({ none }) => none, {
      text: "≤ 5 %",
      met: (value) => value <= 5,
    }),
  ];
}

/** Rows of the held-out half, and of invented documents. */
export async function wikiQualityBench(): Promise<Row[]> {
  const { quality, fit, judged } = await measureQuality();
  const [alone = [], worded = []] = await measureInvented();
  const row = (name: string, value: number, baseline: number, target: string, ok: boolean): Row => {
    const ratio = baseline === 0 ? 0 : value / baseline;
    return { name, value, baseline, ratio, unit: "%", target, ok };
  };
  const rows = (["lexical", "paraphrased"] as const).flatMap((kind) => {
    const of = (way: string): Quality => quality(way, kind, "held");
    const [fts, orama, fused] = ["FTS5", "Orama", "fused"].map(of) as [
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
    ];
  });
  const { recognised, lost } = fit("fused", "held");
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
    ...goalRows("a runtime's manual", judged("fused"), judged("fused, phrasings")),
    ...goalRows("invented documents", alone, worded),
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
    for (const way of ["fused", "fused, phrasings"]) {
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
