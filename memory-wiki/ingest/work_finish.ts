/** Turns a run's answers into one patch of pages for review. Used by memory-wiki/ops/ingest_ops.ts. @module */
import { cleared } from "../../contracts/authority/mod.ts";
import type { Finding, PageChange, PagePatch } from "../../contracts/memory/mod.ts";
import { escapeLine, readPage, shortened } from "../markdown/mod.ts";
import type { OpenWiki } from "../ops/op.ts";
import type { WikiStore } from "../store/wiki_store.ts";
import { bodyOf, type CitedLine } from "./page_body.ts";
import {
  type Contradiction,
  gather,
  type Gathered,
  mayJoin,
  type PlannedPage,
  planSummary,
  planThing,
} from "./page_plan.ts";
import { linesOf, makeWorkStore } from "./work_store.ts";

/** Pages per patch. */
const MAX_PAGES = 5_000;
/** Characters of a page's body; see PageDraft. */
const MAX_BODY = 200_000;
const QUOTE_CHARS = 300;

/** Result of a run. */
export interface Finished {
  /** Null if nothing changes. */
  readonly patch: PagePatch | null;
  readonly contradictions: readonly Finding[];
  /** Pages left unchanged and invalid answers, as sentences. */
  readonly left: readonly string[];
}

/**
 * Merges the answers of every completely answered source: a summary per source, and a page per thing.
 * Reviewed and hand-written pages get appended sections; nothing is applied.
 * @throws Fault `notFound` for an unknown run
 */
export function finishWork({ store, answered }: OpenWiki, run: string): Finished {
  const work = makeWorkStore(store.documents);
  const stored = work.run(run);
  const merged = new Set(stored.merged);
  const items = stored.items.filter(({ source }) => !merged.has(source));
  const gathered = gather(store, work, items);
  const planned = plansOf(store, gathered);
  const plans = planned.slice(0, MAX_PAGES);
  const author = `model:${stored.model}`.slice(0, 256);
  const left = planned.slice(MAX_PAGES).map(({ name }) => `${name}: the patch is full`);
  left.push(...gathered.problems);
  const changes = plans.flatMap((plan): readonly PageChange[] => {
    const change = changeOf(store, plan, { plans, gathered, author });
    if (typeof change !== "string") return change === undefined ? [] : [change];
    left.push(change);
    return [];
  });
  const patch = changes.length === 0 ? null : store.patches.propose({
    author,
    reason: `What ${stored.model} read in ${gathered.sources.length} sources`,
    changes,
    // INVARIANT: each statement comes from one source, which its page cites, so a page gets the trust of its
    // own sources, whatever else the run read (test: a less trusted source does not join a page).
    colour: "BLUE",
    label: "public",
  });
  for (const { digest: source, label, colour } of gathered.sources) {
    work.putDone({ source, model: stored.model, label, colour });
  }
  for (const item of gathered.failed) {
    work.dropAnswer(item);
    answered.delete(item);
  }
  const patched = patch?.id ?? stored.patch;
  work.putRun({
    ...stored,
    merged: [...merged, ...gathered.sources.map(({ id }) => id)],
    ...(patched === undefined ? {} : { patch: patched }),
  });
  // A repeated request returns the patch that exists.
  const told = patch ?? (patched === undefined ? null : store.patches.get(patched) ?? null);
  return { patch: told, contradictions: gathered.contradictions.map(findingOf), left };
}

function plansOf(store: WikiStore, gathered: Gathered): readonly PlannedPage[] {
  const taken = new Set<string>();
  const { pieces, relations, sources } = gathered;
  const summaries = sources.flatMap((source) => {
    const own = pieces.filter((piece) => piece.source.id === source.id);
    return own.length === 0 ? [] : [planSummary(store, source, { pieces: own, taken })];
  });
  const names = new Set<string>(summaries.map(({ name }) => name));
  const things = [...Map.groupBy(gathered.things, ({ key }) => key).values()].flatMap((group) => {
    const plan = planThing(store, group, { pieces, relations, taken });
    return plan === undefined || names.has(plan.name) ? [] : [plan];
  });
  const all = [...summaries, ...things];
  for (const { name } of things) names.add(name);
  return [...all, ...contradictedOf(store, gathered, names)];
}

/** Pages that only a contradiction changes. */
function contradictedOf(
  store: WikiStore,
  { contradictions }: Gathered,
  planned: ReadonlySet<string>,
): readonly PlannedPage[] {
  const names = new Set(contradictions.map(({ page }) => page));
  return [...names].flatMap((each) => {
    const before = planned.has(each) ? undefined : store.pages.find(each);
    if (before === undefined) return [];
    const { name, kind, title, aliases } = before;
    return [{ name, kind, title, aliases, pieces: [], relations: [], before, anew: false }];
  });
}

/** The change of one page; a sentence that says why it is left as it is; undefined if nothing is new. */
function changeOf(
  store: WikiStore,
  plan: PlannedPage,
  { plans, gathered, author }: {
    readonly plans: readonly PlannedPage[];
    readonly gathered: Gathered;
    readonly author: string;
  },
): PageChange | string | undefined {
  const { name, kind, title, aliases, before, anew } = plan;
  const stands = anew || before === undefined
    ? undefined
    : readPage(store.pages.text(name) ?? "").body;
  const against = gathered.contradictions
    .filter(({ page, source }) =>
      page === name && before !== undefined && !anew && mayJoin(source, before)
    )
    .map((each) => againstLine(store, each));
  const { body, added } = bodyOf(plan, { stands, named: linkable(plan, plans), against, author });
  if (added === 0) return undefined;
  if (body.length > MAX_BODY) return `${name}: it would be longer than ${MAX_BODY} characters`;
  return {
    kind: "write",
    base: before?.version ?? 0,
    draft: {
      ...{ name, kind, title, body },
      aliases: [...aliases],
      confidence: stands === undefined ? "medium" : before?.confidence ?? "medium",
    },
    fresh: stands === undefined,
  };
}

/**
 * Pages that may be linked. Names come from sources, too: a page links only to what its own sources name, and
 * to existing pages that are no more confidential.
 */
function linkable(plan: PlannedPage, plans: readonly PlannedPage[]): readonly PlannedPage[] {
  const own = new Set(plan.pieces.map(({ source }) => source.id));
  return plans.filter(({ kind, before, pieces }) => {
    if (kind === "summary") return false;
    if (before === undefined) return pieces.some(({ source }) => own.has(source.id));
    return plan.pieces.every(({ source }) => cleared(before.label, source.label));
  });
}

/** The page's statement against the source's own words, without words of the model. */
function againstLine(store: WikiStore, each: Contradiction): CitedLine {
  const { source, startLine, endLine, claim } = each;
  const words = linesOf(store, source, startLine, endLine).join(" ").replace(/\s+/g, " ").trim();
  return {
    ...{ source, startLine, endLine },
    text: `This page says “${escapeLine(claim)}”; a source says “${
      escapeLine(shortened(words, QUOTE_CHARS))
    }”`,
  };
}

function findingOf({ source, page, claim, why, startLine }: Contradiction): Finding {
  return {
    rule: "contradiction",
    severity: "warning",
    file: `pages/${page}.md`,
    message: `“${shortened(claim, 160)}” is contradicted by a source: ${shortened(why, 240)}`,
    remedy: "Read both, and correct the page or mark the source as superseded.",
    fixable: false,
    other: { file: source.text, line: startLine },
  };
}
