/** Assigns sources and things to pages, and decides whether a page may be rewritten. @module */
import { cleared, colourSuffices, type Label } from "../../contracts/authority/mod.ts";
import type { PageKind, PageName, WikiSource } from "../../contracts/memory/mod.ts";
import { pageNameOf, suffixed } from "../markdown/mod.ts";
import type { StoredPage, WikiStore } from "../store/wiki_store.ts";
import { type ExtractionV1, relationClaim } from "./check_extraction.ts";
import type { StoredItem, WorkStore } from "./work_store.ts";

/** Statements that justify a page that the model did not ask for. */
const MIN_PIECES = 2;

/** A page to write. */
export interface PlannedPage {
  readonly name: PageName;
  readonly kind: PageKind;
  readonly title: string;
  readonly aliases: readonly string[];
  readonly pieces: readonly Piece[];
  readonly relations: readonly Piece[];
  /** The existing page, if any. */
  readonly before: StoredPage | undefined;
  /** Whether it is rewritten; otherwise sections are appended. */
  readonly anew: boolean;
}

/** Whether a source may join a page without lowering its trust or raising its confidentiality. */
export function mayJoin(
  source: WikiSource,
  page: { readonly colour: WikiSource["colour"]; readonly label: Label },
): boolean {
  return cleared(source.label, page.label) && colourSuffices(source.colour, page.colour);
}

/** Whether rules or models wrote the page, nobody reviewed it, and all its sources are at hand. */
function isOurs(page: StoredPage, sources: readonly WikiSource[]): boolean {
  const digests = new Set<string>(sources.map(({ digest }) => digest));
  return (page.author === "extract" || page.author.startsWith("model:")) &&
    page.reviewed === undefined && page.sources.every((digest) => digests.has(digest));
}

/** The summary of a source, or of an earlier version of it. */
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

/** A name that no page has and `taken` does not list: the title, the title with the kind, or with a number. */
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

/** The page of a thing. Never a summary: a summary is about its source, whatever its name. */
function thingBefore(store: WikiStore, { name, kind }: Thing): StoredPage | undefined {
  const first = pageNameOf(name);
  return [store.pages.get(first), store.pages.get(suffixed(first, kind)), store.pages.find(name)]
    .find((page) => page !== undefined && page.kind !== "summary");
}

/** Plans the page of a source. */
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
 * Plans the page of a thing that several sources may describe; undefined if there is too little to say. Only
 * sources of one trust level share a page; statements of others stay on their source's page.
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
  if (pieces.length === 0 || !wanted && pieces.length < MIN_PIECES) return undefined;
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

/** The source whose colour and label most statements have. */
function commonest(pieces: readonly Piece[]): WikiSource | undefined {
  const groups = Map.groupBy(pieces, ({ source }) => `${source.label} ${source.colour}`);
  const [largest] = [...groups.values()].sort((a, b) => b.length - a.length);
  return largest?.[0]?.source;
}

/** Other names, unless they lead to another page. */
function aliasesOf(store: WikiStore, things: readonly Thing[], title: string): readonly string[] {
  const all = things.flatMap(({ name, aliases }) => [name, ...aliases])
    .filter((alias) => alias !== title && store.pages.find(alias) === undefined);
  return [...new Set(all)].slice(0, 16);
}

// Gathers a run's answers, source by source.

/** A statement of a source. */
export interface Piece {
  readonly source: WikiSource;
  readonly text: string;
  readonly startLine: number;
  readonly endLine: number;
  /** Keys of the entities it mentions. */
  readonly about: readonly string[];
}

/** A thing as one source describes it. */
interface Thing {
  readonly key: string;
  readonly name: string;
  readonly kind: "entity" | "concept";
  readonly aliases: readonly string[];
  readonly source: WikiSource;
  /** Whether the model asked for its page. */
  readonly wanted: boolean;
}

/** A page that a source contradicts. */
export interface Contradiction {
  readonly source: WikiSource;
  readonly page: string;
  readonly claim: string;
  readonly why: string;
  readonly startLine: number;
  readonly endLine: number;
}

/** The valid answers of all sources that are answered completely. */
export interface Gathered {
  readonly sources: readonly WikiSource[];
  readonly pieces: readonly Piece[];
  /** `A is part of B` with the stating lines; each is about A. */
  readonly relations: readonly Piece[];
  readonly things: readonly Thing[];
  readonly contradictions: readonly Contradiction[];
  /** Invalid parts of the answers, as sentences. */
  readonly problems: readonly string[];
  /** Items of sources without a well-formed answer, to be asked again in the next run. */
  readonly failed: readonly string[];
}

/** The key by which sources refer to the same thing. */
function thingKey(name: string): string {
  return pageNameOf(name);
}

function names(text: string, name: string): boolean {
  return name.length > 1 && text.toLowerCase().includes(name.toLowerCase());
}

function thingsOf(source: WikiSource, { entities, pages }: ExtractionV1): readonly Thing[] {
  const wanted = new Set(pages.map(({ title }) => thingKey(title)));
  return entities.map(({ name, kind, aliases }) => ({
    ...{ key: thingKey(name), name, aliases, source, wanted: wanted.has(thingKey(name)) },
    kind: kind === "concept" || kind === "other" ? "concept" : "entity",
  }));
}

function piecesOf(
  source: WikiSource,
  { claims }: ExtractionV1,
  things: readonly Thing[],
): readonly Piece[] {
  return claims.map(({ text, startLine, endLine }) => ({
    ...{ source, text, startLine, endLine },
    about: things
      .filter(({ name, aliases }) => [name, ...aliases].some((each) => names(text, each)))
      .map(({ key }) => key),
  }));
}

function relationsOf(source: WikiSource, { relations, claims }: ExtractionV1): readonly Piece[] {
  return relations.flatMap((relation) => {
    const claim = relationClaim(relation, claims);
    if (claim === undefined) return [];
    const { startLine, endLine } = claim;
    const text = `${relation.from} ${relation.kind} ${relation.to}`;
    return [{ source, text, startLine, endLine, about: [thingKey(relation.from)] }];
  });
}

/** Gathers valid answers. A source with an unanswered part is left for the next run. */
export function gather(
  store: WikiStore,
  work: WorkStore,
  items: readonly StoredItem[],
): Gathered {
  const bySource = Map.groupBy(items, ({ source }) => source);
  const sources: WikiSource[] = [];
  const pieces: Piece[] = [];
  const relations: Piece[] = [];
  const things: Thing[] = [];
  const contradictions: Contradiction[] = [];
  const problems: string[] = [];
  const again: string[] = [];
  for (const [id, parts] of bySource) {
    const source = store.sources.byId(id);
    const answers = parts.map((part) => work.answer(part.id));
    if (source === undefined || answers.some((answer) => answer?.done !== true)) continue;
    const failed = answers.every((answer) => answer?.extraction === undefined);
    if (failed) again.push(...parts.map((part) => part.id));
    else sources.push(source);
    const seen = new Set<string>();
    for (const [n, answer] of answers.entries()) {
      const [problem, ...more] = answer?.problems ?? [];
      if (problem !== undefined) {
        const rest = more.length === 0 ? "" : ` (and ${more.length} more)`;
        problems.push(`${source.text} lines ${parts[n]?.from}-${parts[n]?.to}: ${problem}${rest}`);
      }
      if (answer?.extraction === undefined) continue;
      const found = thingsOf(source, answer.extraction);
      things.push(...found);
      relations.push(...relationsOf(source, answer.extraction));
      for (const piece of piecesOf(source, answer.extraction, found)) {
        const key = piece.text.toLowerCase();
        if (!seen.has(key)) pieces.push(piece);
        seen.add(key);
      }
      for (const each of answer.extraction.contradictions) {
        contradictions.push({ source, ...each });
      }
    }
  }
  return { sources, pieces, relations, things, contradictions, problems, failed: again };
}
