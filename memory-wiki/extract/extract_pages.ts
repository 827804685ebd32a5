/** Generates pages from all current sources by rules, and writes them as patches. @module */
import * as z from "zod";
import { cleared, colourSuffices } from "../../contracts/authority/mod.ts";
import type {
  Page,
  PageChange,
  PageDraft,
  PageName,
  PagePatch,
  WikiSource,
} from "../../contracts/memory/mod.ts";
import type { ExtractReport } from "../../contracts/wire/mod.ts";
import { splitFile } from "../markdown/mod.ts";
import { eachPage, eachSource } from "../store/each_row.ts";
import type { WikiStore } from "../store/wiki_store.ts";
import { draftPages } from "./draft_pages.ts";
import { type Trust } from "../store/trust_rules.ts";

/** Options of an extraction. */
export interface ExtractOptions {
  readonly now: () => number;
  /** Whether nothing is written. */
  readonly dryRun: boolean;
}

/** Author of these pages; pages of other authors are not changed. */
const EXTRACT_AUTHOR = "extract";
/** Bytes read of a source's text. */
const MAX_READ = 4_194_304;
/** Changes per patch. */
const PATCH_SIZE = 500;
/** Attempts, when other processes write the same pages meanwhile. */
const MAX_ROUNDS = 3;

/**
 * Generates the pages of all current sources and writes those that changed. Sources of different label or colour
 * never share a page, and pages of a more public or more trusted class show nothing of another. Pages by rules alone
 * are replaced, or deleted when their sources are gone. Reads nothing if nothing changed since the last run.
 */
export async function extractPages(
  store: WikiStore,
  options: ExtractOptions,
): Promise<ExtractReport> {
  const standing = standingPages(store, options.now());
  if (standing !== undefined) return { written: [], unchanged: standing, conflicts: [] };
  const written = new Set<string>();
  for (let round = 1;; round++) {
    const { done, ...report } = await extractOnce(store, options);
    report.written.forEach((name) => written.add(name));
    // Another process wrote the same pages by rules, perhaps from fewer sources: try again.
    const raced = report.conflicts.some((name) => {
      const author = store.pages.get(name)?.author;
      return author === undefined || author === EXTRACT_AUTHOR;
    });
    if (!raced || round === MAX_ROUNDS) {
      // Conflicting changes may succeed the next time, so the run is not remembered.
      if (!options.dryRun && report.conflicts.length === 0) remember(store, done);
      return { ...report, written: [...written] };
    }
  }
}

function remember(store: WikiStore, done: Extraction): void {
  const generation = store.generation();
  const sources = currentSources(store, done.at);
  const own = new Map(ownPages(store).map(({ name, version }) => [name, version]));
  keepStanding(store, done, { sources, own }, generation);
}

async function extractOnce(store: WikiStore, options: ExtractOptions): Promise<Extracted> {
  const at = options.now();
  const sources = currentSources(store, at);
  const standing = new Map<PageName, number>();
  const kept = new Set<string>();
  const taken = new Set<string>();
  const written: string[] = [];
  const conflicts: PageName[] = [];
  let unchanged = 0;

  const write = async (changes: readonly PageChange[], trust: Trust): Promise<void> => {
    for (let at = 0; at < changes.length; at += PATCH_SIZE) {
      const result = options.dryRun
        ? { written: changes.slice(at, at + PATCH_SIZE).map(nameOf), conflicts: [] }
        : await applied(store, changes.slice(at, at + PATCH_SIZE), trust);
      written.push(...result.written);
      conflicts.push(...result.conflicts);
    }
  };

  for (const group of groupsOf(sources)) {
    const drafts = draftPages({
      sources: group.sources,
      text: (source) => store.sources.lines(source, 1, Math.max(1, source.lines), MAX_READ),
      taken,
      suffix: `${group.label}-${group.colour}`.toLowerCase(),
    });
    const changes: PageChange[] = [];
    for (const draft of drafts) {
      kept.add(draft.name);
      const base = baseOf(store, draft);
      if (base === undefined) {
        unchanged += 1;
        const page = store.pages.get(draft.name);
        if (page?.author === EXTRACT_AUTHOR) standing.set(draft.name, page.version);
      } else {
        changes.push({ kind: "write", base, draft, fresh: true });
        standing.set(draft.name, base === 0 ? 0 : base + 1);
      }
    }
    await write(changes, group);
  }

  for (const { label, colour, pages } of obsolete(store, kept)) {
    await write(pages.map(({ name, version }) => ({ kind: "delete", base: version, name })), {
      label,
      colour,
    });
  }
  const done = { at, sources, drafts: kept.size, standing };
  return { written, unchanged, conflicts, done };
}

interface Extracted extends Omit<ExtractReport, "conflicts"> {
  readonly conflicts: readonly PageName[];
  readonly done: Extraction;
}
type Group = Trust & { readonly sources: readonly WikiSource[] };

/** Most public first, then most trusted first: earlier groups get the plain names. */
function groupsOf(sources: readonly WikiSource[]): readonly Group[] {
  const groups = Map.groupBy(sources, ({ label, colour }) => `${label} ${colour}`);
  return [...groups.values()].flatMap((own): readonly Group[] => {
    const [first] = own;
    return first === undefined ? [] : [{ label: first.label, colour: first.colour, sources: own }];
  }).sort((a, b) =>
    a.label === b.label
      ? (colourSuffices(a.colour, b.colour) ? -1 : 1)
      : cleared(a.label, b.label)
      ? -1
      : 1
  );
}

function currentSources(store: WikiStore, now: number): readonly WikiSource[] {
  return [...eachSource(store, { state: "current" })]
    .filter(({ expiresAt = Infinity }) => expiresAt > now);
}

/** The version that a draft replaces, 0 for a new page; undefined if nothing is to be written. */
function baseOf(store: WikiStore, draft: PageDraft): number | undefined {
  const page = store.pages.get(draft.name);
  if (page === undefined) {
    const last = store.pages.history(draft.name).at(-1);
    // A person deleted the page deliberately.
    return last?.deleted === true && last.author !== EXTRACT_AUTHOR ? undefined : 0;
  }
  if (page.author !== EXTRACT_AUTHOR) return undefined;
  const same = page.title === draft.title && page.kind === draft.kind &&
    page.aliases.join("\n") === draft.aliases.join("\n") &&
    splitFile(store.pages.text(draft.name) ?? "").body === draft.body;
  return same ? undefined : page.version;
}

/** Pages whose newest version is by the rules. */
function ownPages(store: WikiStore): readonly Page[] {
  return [...eachPage(store, "secret")].filter(({ author }) => author === EXTRACT_AUTHOR);
}

function obsolete(
  store: WikiStore,
  kept: ReadonlySet<string>,
): readonly (Trust & { readonly pages: readonly { name: PageName; version: number }[] })[] {
  const pages = ownPages(store).filter(({ name }) => !kept.has(name));
  return [...Map.groupBy(pages, ({ label, colour }) => `${label} ${colour}`).values()]
    .flatMap((own) => own[0] === undefined ? [] : [{ ...own[0], pages: own }]);
}

/** Applies changes as one patch. On conflict the other changes are applied without the conflicting ones. */
async function applied(
  store: WikiStore,
  changes: readonly PageChange[],
  { label, colour }: Trust,
): Promise<{ readonly written: readonly string[]; readonly conflicts: readonly PageName[] }> {
  const conflicts: PageName[] = [];
  let left = changes;
  while (left.length > 0) {
    const { id } = store.patches.propose({
      author: EXTRACT_AUTHOR,
      reason: "Pages by rules from the current sources",
      changes: left,
      colour,
      label,
    });
    const patch: PagePatch = await store.patches.apply(id, EXTRACT_AUTHOR);
    if (patch.state === "applied") return { written: left.map(nameOf), conflicts };
    const met = new Set((patch.conflicts ?? []).map(({ page }) => page));
    const others = left.filter((change) => !met.has(nameOf(change)));
    // A refusal without a conflicting page would repeat.
    if (others.length === left.length) {
      return { written: [], conflicts: [...conflicts, ...left.map(nameOf)] };
    }
    conflicts.push(...met);
    left = others;
  }
  return { written: [], conflicts };
}

function nameOf(change: PageChange): PageName {
  return change.kind === "write" ? change.draft.name : change.name;
}

// The memo of the last extraction, so that a run without changes does no work.

/** Increased with each change of the rules, so that all pages are generated anew once. */
const RULES = 1;
const DOCUMENT = "extract/last";

const Memo = z.object({
  rules: z.literal(RULES),
  generation: z.int(),
  /** Milliseconds: when the sources were read, and when the first of them expires. */
  from: z.number(),
  until: z.number().nullable(),
  drafts: z.int().min(0),
});

/** The sources an extraction read, and the pages it left. */
interface Extraction {
  readonly at: number;
  readonly sources: readonly WikiSource[];
  /** Number of drafts, whoever owns the pages. */
  readonly drafts: number;
  /** The rules' own pages with their expected version; 0: any. */
  readonly standing: ReadonlyMap<PageName, number>;
}

/** The number of pages that an extraction now would leave unchanged; undefined if unknown. */
function standingPages(
  { documents, generation }: WikiStore,
  now: number,
): number | undefined {
  const memo = Memo.safeParse(documents.get(DOCUMENT));
  if (!memo.success || memo.data.generation !== generation()) return undefined;
  const { from, until, drafts } = memo.data;
  return from <= now && now < (until ?? Infinity) ? drafts : undefined;
}

/** Stores the memo, unless another process changed something meanwhile. */
function keepStanding(
  store: WikiStore,
  done: Extraction,
  listed: { readonly sources: readonly WikiSource[]; readonly own: ReadonlyMap<PageName, number> },
  generation: number,
): void {
  const same = listed.sources.length === done.sources.length &&
    listed.sources.every(({ id }, n) => id === done.sources[n]?.id);
  const stand = listed.own.size === done.standing.size &&
    [...done.standing].every(([name, version]) => {
      const now = listed.own.get(name);
      return now !== undefined && (version === 0 || version === now);
    });
  if (!same || !stand || store.generation() !== generation) return;
  const ends = done.sources.flatMap(({ expiresAt }) => expiresAt === undefined ? [] : [expiresAt]);
  const until = ends.reduce((min, end) => Math.min(min, end), Infinity);
  store.documents.put(DOCUMENT, {
    rules: RULES,
    generation,
    from: done.at,
    until: until === Infinity ? null : until,
    drafts: done.drafts,
  });
}
