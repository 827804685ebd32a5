/** Passages become hits: lines read from the store as they are now, bounded, without repeats. @module */
import { cleared, type Hit, type Label } from "../../contracts/mod.ts";
import type { StoredPage } from "../store/wiki_store.ts";
import type { SearchedStore } from "./searched_store.ts";
import type { PagePassage, Passage, SourcePassage } from "./passage.ts";
import { bestSnippet } from "./snippet.ts";
import { isAboutItself } from "./sections.ts";
import { isFound } from "./source_passages.ts";

/** Lines that a page's passage cites: they need not be shown again. */
interface Cited {
  readonly source: string;
  readonly startLine: number;
  readonly endLine: number;
}

/** What hits are made with. */
export interface HitOptions {
  readonly k: number;
  readonly clearance: Label;
  readonly now: number;
  /** The question's terms with their rarity. */
  readonly weights: ReadonlyMap<string, number>;
}

/** Share of a hit's text that may be new without the hit being so. */
const MOST_NEW = 0.3;
const NOTE = /\[\^([^\]\s]{1,64})\]/g;
/** What of a passage is looked through for its snippet, UTF-16 code units. */
const MOST_TEXT = 65_536;

/** The first `k` of `ranked` that stand, as hits. Where a page's passage cites a source's lines, those lines are not shown by themselves. */
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

/** Whether most of these lines stand in other hits: copies of a text add nothing. */
function isShown(lines: readonly string[], shown: ReadonlySet<string>): boolean {
  const length = (some: readonly string[]): number =>
    some.reduce((sum, line) => sum + line.length, 0);
  return length(lines.filter((line) => !shown.has(line))) <= MOST_NEW * length(lines);
}

/** Whether a page's hit cites all that a source's hit shows. */
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
  // Another process may have changed it since it was indexed: these are no longer its lines.
  if (page === undefined || page.name !== passage.name || page.digest !== passage.digest) {
    return undefined;
  }
  if (!cleared(page.label, clearance)) return undefined;
  const text = store.pages.text(page.name, passage.version);
  if (text === undefined) return undefined;
  const all = text.split("\n").slice(passage.startLine - 1, passage.endLine);
  // A page's title is shown above its lines: they begin behind what rules say of themselves.
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

/** Whether a source that the page cites is no longer the current one. */
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
  const text = store.sources.passage(passage.chunk).slice(0, MOST_TEXT);
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
