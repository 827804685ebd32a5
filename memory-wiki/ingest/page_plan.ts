/** Which page a thing or a source gets, and whether that page is ours to write anew. @module */
import {
  cleared,
  colourSuffices,
  type Label,
  type PageKind,
  type PageName,
  type WikiSource,
} from "../../contracts/mod.ts";
import { pageNameOf, suffixed } from "../markdown/mod.ts";
import type { StoredPage, WikiStore } from "../store/wiki_store.ts";
import type { Piece, Thing } from "./gather.ts";

/** Statements that make a thing worth a page of its own, where nobody asked for one. */
const LEAST_PIECES = 2;

/** One page that is to be written. */
export interface PlannedPage {
  readonly name: PageName;
  readonly kind: PageKind;
  readonly title: string;
  readonly aliases: readonly string[];
  readonly pieces: readonly Piece[];
  readonly relations: readonly Piece[];
  /** The page that stands, if any. */
  readonly before: StoredPage | undefined;
  /** It is written anew; else sections are put behind what stands. */
  readonly anew: boolean;
}

/** Whether a source may speak on a page without making it less trusted or more confidential. */
export function mayJoin(
  source: WikiSource,
  page: { readonly colour: WikiSource["colour"]; readonly label: Label },
): boolean {
  return cleared(source.label, page.label) && colourSuffices(source.colour, page.colour);
}

/** Rules and models wrote it, nobody has reviewed it, and all that it cites is at hand. */
function isOurs(page: StoredPage, sources: readonly WikiSource[]): boolean {
  const digests = new Set<string>(sources.map(({ digest }) => digest));
  return (page.author === "extract" || page.author.startsWith("model:")) &&
    page.reviewed === undefined && page.sources.every((digest) => digests.has(digest));
}

/** The page that sums up a source, or an earlier version of it. */
function summaryBefore(store: WikiStore, source: WikiSource): StoredPage | undefined {
  const versions = store.sources.list({ keyPrefix: source.key })
    .filter(({ key }) => key === source.key).reverse();
  for (const { digest } of versions) {
    for (const name of store.pages.citing(digest)) {
      const page = store.pages.get(name);
      const alone = page?.sources.every((each) => versions.some((one) => one.digest === each));
      if (page?.kind === "summary" && alone === true) return page;
    }
  }
  return undefined;
}

/** A name that no page has, and none of `taken`: of the title, else with what the page is, else with a number. */
function freeName(
  store: WikiStore,
  title: string,
  { kind, taken }: { readonly kind: PageKind; readonly taken: Set<string> },
): PageName {
  const first = pageNameOf(title);
  let name = first;
  for (let n = 1; taken.has(name) || store.pages.get(name) !== undefined; n++) {
    name = n === 1 ? suffixed(first, kind) : suffixed(first, `${kind}-${n}`);
  }
  taken.add(name);
  return name;
}

/** The page of a thing. A summary speaks of its source, whatever its name is. */
function thingBefore(store: WikiStore, { name, kind }: Thing): StoredPage | undefined {
  const first = pageNameOf(name);
  return [store.pages.get(first), store.pages.get(suffixed(first, kind)), store.pages.find(name)]
    .find((page) => page !== undefined && page.kind !== "summary");
}

/** The page of one source. */
export function planSummary(
  store: WikiStore,
  source: WikiSource,
  parts: { readonly pieces: readonly Piece[]; readonly taken: Set<string> },
): PlannedPage {
  const before = summaryBefore(store, source);
  const title = (source.title.trim() || source.key).slice(0, 200);
  const versions = store.sources.list({ keyPrefix: source.key });
  const name = before?.name ?? freeName(store, title, { kind: "summary", taken: parts.taken });
  parts.taken.add(name);
  return {
    ...{ name, kind: "summary", title: before?.title ?? title, pieces: parts.pieces, before },
    relations: [],
    aliases: before?.aliases ?? [],
    anew: before === undefined || isOurs(before, versions),
  };
}

/**
 * The page of one thing that several sources may speak of; undefined where there is too little to say. Only sources of
 * one trust meet on a page: what is less trusted or more confidential stays on its own source's page.
 */
export function planThing(
  store: WikiStore,
  things: readonly Thing[],
  parts: {
    readonly pieces: readonly Piece[];
    readonly relations: readonly Piece[];
    readonly taken: Set<string>;
  },
): PlannedPage | undefined {
  const [first] = things;
  if (first === undefined) return undefined;
  const before = thingBefore(store, first);
  const about = parts.pieces.filter(({ about }) => about.includes(first.key));
  const level = before ?? commonest(about);
  if (level === undefined) return undefined;
  const pieces = about.filter(({ source }) => mayJoin(source, level));
  const joined = things.filter(({ source }) =>
    pieces.some((piece) => piece.source.id === source.id)
  );
  const wanted = before !== undefined || joined.some((thing) => thing.wanted);
  if (pieces.length === 0 || !wanted && pieces.length < LEAST_PIECES) return undefined;
  const [named = first] = joined;
  const name = before?.name ??
    freeName(store, named.name, { kind: named.kind, taken: parts.taken });
  parts.taken.add(name);
  const sources = pieces.map(({ source }) => source);
  return {
    ...{ name, pieces, before },
    relations: parts.relations.filter(({ about, source }) =>
      about.includes(first.key) && sources.some(({ id }) => id === source.id)
    ),
    kind: before?.kind ?? named.kind,
    title: before?.title ?? named.name,
    aliases: before?.aliases ?? aliasesOf(store, joined, named.name),
    anew: before === undefined || isOurs(before, sources),
  };
}

/** Colour and label that most of the statements have. */
function commonest(pieces: readonly Piece[]): WikiSource | undefined {
  const groups = Map.groupBy(pieces, ({ source }) => `${source.label} ${source.colour}`);
  const [most] = [...groups.values()].sort((a, b) => b.length - a.length);
  return most?.[0]?.source;
}

/** Other names, where they lead to no other page. */
function aliasesOf(store: WikiStore, things: readonly Thing[], title: string): readonly string[] {
  const all = things.flatMap(({ name, aliases }) => [name, ...aliases])
    .filter((alias) => alias !== title && store.pages.find(alias) === undefined);
  return [...new Set(all)].slice(0, 16);
}
