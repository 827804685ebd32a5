/** Turns passages into hits: current lines from the store, limited in length, without repetition. @module */
import { cleared, type Label } from "../../contracts/authority/mod.ts";
import type { Hit } from "../../contracts/memory/mod.ts";
import type { StoredPage } from "../store/wiki_store.ts";
import {
  isFound,
  type PagePassage,
  type Passage,
  type SearchedStore,
  type SourcePassage,
} from "./passage.ts";
import { isAboutItself } from "./sections.ts";
import { termsOf } from "./terms.ts";

/** Lines that a page's passage cites, which need not be shown again. */
interface Cited {
  readonly source: string;
  readonly startLine: number;
  readonly endLine: number;
}

/** Options of the hits. */
export interface HitOptions {
  readonly k: number;
  readonly clearance: Label;
  readonly now: number;
  /** Weights of the question's terms. */
  readonly weights: ReadonlyMap<string, number>;
}

/** A hit with a smaller share of new text is dropped. */
const MIN_NEW = 0.3;
const NOTE = /\[\^([^\]\s]{1,64})\]/g;
/** UTF-16 units of a passage searched for a snippet. */
const MAX_TEXT = 65_536;

/** The first `k` valid passages of `ranked` as hits. Source lines that a page's hit cites get no hit of their own. */
export function makeHits(
  store: SearchedStore,
  ranked: readonly (readonly [Passage, number])[],
  options: HitOptions,
): readonly Hit[] {
  let made: readonly Made[] = [];
  const shown = new Set<string>();
  for (const [passage, score] of ranked) {
    if (made.length >= options.k) break;
    const next = passage.kind === "page"
      ? pageHit(store, passage, score, options)
      : sourceHit(store, passage, score, options);
    if (next === undefined) continue;
    const lines = next.hit.text.split("\n").map((line) => line.trim()).filter(Boolean);
    if (isShown(lines, shown) || made.some((each) => repeats(each, next))) continue;
    for (const line of lines) shown.add(line);
    made = [...made.filter((each) => !repeats(next, each)), next];
  }
  return made.map(({ hit }) => hit);
}

/** Whether most of these lines occur in other hits. */
function isShown(lines: readonly string[], shown: ReadonlySet<string>): boolean {
  const length = (some: readonly string[]): number =>
    some.reduce((sum, line) => sum + line.length, 0);
  return length(lines.filter((line) => !shown.has(line))) <= MIN_NEW * length(lines);
}

/** Whether a page's hit cites everything that a source's hit shows. */
function repeats(page: Made, source: Made): boolean {
  const { hit } = source;
  return hit.kind === "source" &&
    page.cites.some((cited) =>
      cited.source === hit.digest && cited.startLine <= hit.startLine &&
      cited.endLine >= hit.endLine
    );
}

type Made = { readonly hit: Hit; readonly cites: readonly Cited[] };

function pageHit(
  store: SearchedStore,
  passage: PagePassage,
  score: number,
  { clearance, weights, now }: HitOptions,
): Made | undefined {
  const page = store.pages.find(passage.name);
  // Another process may have changed the page since it was indexed.
  if (page === undefined || page.name !== passage.name || page.digest !== passage.digest) {
    return undefined;
  }
  if (!cleared(page.label, clearance)) return undefined;
  const text = store.pages.text(page.name, passage.version);
  if (text === undefined) return undefined;
  const all = text.split("\n").slice(passage.startLine - 1, passage.endLine);
  // The title is shown separately, so the snippet starts behind it and behind the remark of the extraction.
  const said = all.findIndex((line) => !/^\s*(?:#.*)?$/.test(line));
  const skipped = isAboutItself(all[said] ?? "") ? said + 1 : 0;
  const lines = all.slice(skipped);
  const snippet = bestSnippet(lines, passage.startLine + skipped, weights);
  return {
    hit: {
      kind: "page",
      file: passage.file,
      ...snippet,
      title: page.title,
      headings: [...passage.headings],
      origin: page.name,
      digest: page.digest,
      score,
      colour: page.colour,
      label: page.label,
      stale: isStale(store, page, now),
    },
    cites: citedIn(page, snippet.text),
  };
}

/** Whether a source that the page cites is not current. */
function isStale(store: SearchedStore, page: StoredPage, now: number): boolean {
  return page.sources.some((digest) => {
    const source = store.sources.byDigest(digest);
    return source === undefined || !isFound(source, now);
  });
}

function citedIn(page: StoredPage, text: string): readonly Cited[] {
  const notes = new Set(Array.from(text.matchAll(NOTE), ([, note]) => note));
  return page.citations.filter(({ note }) => notes.has(note));
}

function sourceHit(
  store: SearchedStore,
  passage: SourcePassage,
  score: number,
  { clearance, weights, now }: HitOptions,
): Made | undefined {
  const source = store.sources.byId(passage.source.id);
  if (source === undefined || !isFound(source, now) || !cleared(source.label, clearance)) {
    return undefined;
  }
  const text = store.sources.passage(passage.chunk).slice(0, MAX_TEXT);
  const snippet = bestSnippet(text.split(/\r?\n/), passage.startLine, weights);
  return {
    hit: {
      kind: "source",
      file: source.text,
      ...snippet,
      title: source.title,
      headings: [...passage.headings],
      origin: source.provenance.origin,
      digest: source.digest,
      score,
      colour: source.colour,
      label: source.label,
      stale: false,
    },
    cites: [],
  };
}

/** UTF-16 units of a snippet. */
export const MAX_SNIPPET = 1_200;
/** UTF-16 units searched of a single long line. */
const MAX_LINE = 200_000;

/** Whole lines of a text. */
interface Snippet {
  readonly startLine: number;
  readonly endLine: number;
  readonly text: string;
}

/**
 * The snippet of `lines`, which begin at line `first`: everything if it fits, else the whole lines of at most
 * {@link MAX_SNIPPET} characters with the largest weight of `terms`, without blank lines at the ends; of a
 * single line that is too long, the best part.
 */
export function bestSnippet(
  lines: readonly string[],
  first: number,
  terms: ReadonlyMap<string, number>,
): Snippet {
  const size = (from: number, to: number): number => {
    let sum = to - from;
    for (let n = from; n <= to; n++) sum += (lines[n] ?? "").length;
    return sum;
  };
  let [from, to] = [0, lines.length - 1];
  if (size(from, to) > MAX_SNIPPET) [from, to] = bestRun(lines, terms);
  while (from < to && (lines[from] ?? "").trim() === "") from++;
  while (to > from && (lines[to] ?? "").trim() === "") to--;
  const text = cutText(lines.slice(from, to + 1).join("\n"), terms);
  return { startLine: first + from, endLine: first + to, text };
}

function bestRun(
  lines: readonly string[],
  terms: ReadonlyMap<string, number>,
): readonly [number, number] {
  const held = lines.map((line) =>
    new Set(termsOf(line.slice(0, 4 * MAX_SNIPPET)).filter((term) => terms.has(term)))
  );
  let best: readonly [number, number] = [0, 0];
  let most = -1;
  let to = -1;
  let length = -1;
  const counts = new Map<string, number>();
  let weight = 0;
  const add = (n: number, by: 1 | -1): void => {
    for (const term of held[n] ?? []) {
      const before = counts.get(term) ?? 0;
      counts.set(term, before + by);
      if (before === 0 || before + by === 0) weight += by * (terms.get(term) ?? 0);
    }
    length += by * ((lines[n] ?? "").length + 1);
  };
  for (let from = 0; from < lines.length; from++) {
    while (to + 1 < lines.length && length + (lines[to + 1] ?? "").length + 1 <= MAX_SNIPPET) {
      add(++to, 1);
    }
    if (to < from) {
      // A line that is too long by itself.
      add(++to, 1);
    }
    if (weight > most + 1e-9) {
      most = weight;
      best = [from, to];
    }
    add(from, -1);
  }
  return best;
}

/** The best part of a long text, in steps of half a snippet. */
function cutText(text: string, terms: ReadonlyMap<string, number>): string {
  if (text.length <= MAX_SNIPPET) return text;
  let [best, most] = [0, -1];
  for (let at = 0; at < Math.min(text.length, MAX_LINE); at += MAX_SNIPPET / 2) {
    const held = new Set(termsOf(text.slice(at, at + MAX_SNIPPET)));
    let weight = 0;
    for (const term of held) weight += terms.get(term) ?? 0;
    if (weight > most + 1e-9) [best, most] = [at, weight];
  }
  // Removes split surrogate pairs at the ends.
  return text.slice(best, best + MAX_SNIPPET).replace(/^[\udc00-\udfff]/, "")
    .replace(/[\ud800-\udbff]$/, "");
}
