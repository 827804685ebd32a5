/** Items of a run: the next request to the model, and its answer. Used by memory-wiki/ops/ingest_ops.ts. @module */
import { Fault } from "../../contracts/base/fault.ts";
import { cleared, colourSuffices, type Label, mixLabel } from "../../contracts/authority/mod.ts";
import type { Page, WikiSource } from "../../contracts/memory/mod.ts";
import type { WorkItem, WorkPlan } from "../../contracts/wire/wire_wiki.ts";
import { sha256Hex } from "../../port/digest.ts";
import type { OpenWiki } from "../ops/op.ts";
import { termsOf } from "../search/terms.ts";
import type { WikiStore } from "../store/wiki_store.ts";
import { checkExtraction, EXTRACTION_SCHEMA_V1, SCHEMA_VERSION } from "./check_extraction.ts";
import {
  answerTokens,
  MIN_CONTEXT,
  type Part,
  partsOf,
  promptV1,
  shownLine,
  type ShownPage,
  SYSTEM_V1,
  tokensOf,
} from "./prompt_v1.ts";
import { linesOf, makeWorkStore, type StoredAnswer, type StoredItem } from "./work_store.ts";

/** Attempts per item. */
const MAX_TRIES = 2;

/** The next item to answer or correct; null when all are done. `skip`: items in progress. */
export function nextItem(
  { store, answered }: OpenWiki,
  run: string,
  skip: ReadonlySet<string>,
): WorkItem | null {
  const work = makeWorkStore(store.documents);
  const { items, contextTokens } = work.run(run);
  const item = items.find(({ id }) => {
    if (skip.has(id) || answered.has(id)) return false;
    if (work.answer(id)?.done !== true) return true;
    answered.add(id);
    return false;
  });
  if (item === undefined) return null;
  const before = work.answer(item.id);
  const source = sourceOf(store, item);
  const lines = linesOf(store, source, item.from, item.to);
  const pages = before?.pages ?? shownPages(store, source, lines);
  const problems = before?.problems ?? [];
  if (before === undefined) {
    work.putAnswer(item.id, { tries: 0, problems: [], done: false, pages: copied(pages) });
  }
  // A source that attacks this prompt cannot contain a digest of its own text.
  const mark = `SOURCE-${sha256Hex(item.id, lines.join("\n")).slice(0, 16)}`;
  return {
    id: item.id,
    source: source.text,
    system: SYSTEM_V1,
    user: promptV1({ title: source.title, from: item.from, lines, pages, problems, mark }),
    responseSchema: EXTRACTION_SCHEMA_V1,
    maxTokens: answerTokens(contextTokens),
    label: source.label,
    colour: source.colour,
  };
}

function copied(
  pages: readonly { name: string; title: string; claims: readonly string[] }[],
): StoredAnswer["pages"] {
  return pages.map(({ name, title, claims }) => ({ name, title, claims: [...claims] }));
}

function sourceOf(store: WikiStore, item: StoredItem) {
  const source = store.sources.byId(item.source);
  if (source === undefined) throw new Fault("notFound", "Cannot find the source of this item");
  return source;
}

/** Checks an answer and keeps its valid part. An answer with problems is requested once more. */
export function takeItem(
  { store, answered }: OpenWiki,
  { run, item: id, text }: { readonly run: string; readonly item: string; readonly text: string },
): { readonly ok: boolean; readonly problems: readonly string[] } {
  const work = makeWorkStore(store.documents);
  const item = work.run(run).items.find((each) => each.id === id);
  const before = work.answer(id);
  if (item === undefined || before === undefined) {
    throw new Fault(
      "notFound",
      `Cannot take an answer for ${JSON.stringify(id)}: it was not asked`,
    );
  }
  if (before.done) return { ok: true, problems: [] };
  const lines = linesOf(store, sourceOf(store, item), item.from, item.to);
  const { from, to } = item;
  const checked = checkExtraction(text, { from, to, lines, pages: before.pages });
  const tries = before.tries + 1;
  // A worse second answer does not replace the first.
  const better = (checked.extraction?.claims.length ?? -1) >=
    (before.extraction?.claims.length ?? -1);
  const extraction = better ? checked.extraction : before.extraction;
  const problems = [...checked.problems];
  const done = problems.length === 0 || tries >= MAX_TRIES;
  work.putAnswer(id, {
    ...{ tries, problems, done, pages: before.pages },
    ...(extraction === undefined ? {} : { extraction }),
  });
  if (done) answered.add(id);
  return { ok: problems.length === 0, problems };
}

// Pages in the prompt, so that the model knows what the wiki says.

const MAX_PAGES = 8;
const MAX_CLAIMS = 6;
const CLAIM_CHARS = 300;

/**
 * Pages whose titles occur in the part, longest titles first. Only pages that are no more confidential and no
 * less trusted than the source, so that the request has the source's trust.
 */
function shownPages(
  store: WikiStore,
  source: WikiSource,
  lines: readonly string[],
): readonly ShownPage[] {
  const words = new Set(lines.flatMap((line) => termsOf(line)));
  const share = ({ title }: Page): number => {
    const terms = termsOf(title);
    if (terms.length === 0) return 0;
    return terms.filter((term) => words.has(term)).length / terms.length;
  };
  return store.pages.list({ clearance: source.label })
    .filter(({ label, colour, sources, kind }) =>
      cleared(label, source.label) && colourSuffices(colour, source.colour) &&
      !(kind === "summary" && sources.includes(source.digest))
    )
    .map((page) => ({ page, share: share(page) }))
    .filter(({ share }) => share >= 0.99)
    .sort((a, b) => b.page.title.length - a.page.title.length)
    .slice(0, MAX_PAGES)
    .map(({ page }) => shown(store, page, words));
}

function shown(store: WikiStore, page: Page, words: ReadonlySet<string>): ShownPage {
  const claims = (store.pages.get(page.name)?.claims ?? [])
    .map(({ text }) => text.replace(/\[\^[^\]]{1,64}\]/g, "").trim())
    .filter((text) => text.length >= 8 && text.length <= CLAIM_CHARS)
    .map((text) => ({ text, common: termsOf(text).filter((term) => words.has(term)).length }))
    .sort((a, b) => b.common - a.common)
    .slice(0, MAX_CLAIMS)
    .map(({ text }) => text);
  return { name: page.name, title: page.title, claims };
}

// Planning: a request for every part of the sources that are not done.

/** Expected length of an answer, relative to its part. */
const ANSWER_SHARE = 0.6;

interface PlanAsk {
  readonly model: string;
  readonly contextTokens: number;
  /** Sources with these keys or prefixes; absent: all. */
  readonly of?: { readonly keys: readonly string[]; readonly prefixes: readonly string[] };
  /** Includes sources that are done, and drops earlier answers. */
  readonly again?: boolean;
  readonly clearance: Label;
}

/** Identifies a part for a model: an answer is valid for these bytes and lines in any run. */
function itemId(ask: Pick<PlanAsk, "model">, source: WikiSource, part: Part): string {
  const { digest, textDigest } = source;
  return sha256Hex(
    JSON.stringify([SCHEMA_VERSION, ask.model, digest, textDigest, part.from, part.to]),
  ).slice(0, 24);
}

/**
 * Plans a run and stores it. The same sources, model and context give the same run.
 * @throws Fault `contextOverflow` when the context is too small for any part
 */
export function planWork({ store, powers, answered }: OpenWiki, ask: PlanAsk): WorkPlan {
  const { model, contextTokens, again = false, clearance, of } = ask;
  if (contextTokens < MIN_CONTEXT) {
    throw new Fault(
      "contextOverflow",
      `Cannot plan the ingest: the model takes ${contextTokens} tokens, ${MIN_CONTEXT} are needed`,
    );
  }
  const work = makeWorkStore(store.documents);
  const keys = new Set(of?.keys);
  const isAsked = (key: string): boolean =>
    of === undefined || keys.has(key) || of.prefixes.some((prefix) => key.startsWith(prefix));
  const sources = store.sources.list({ clearance, state: "current" }).filter((source) =>
    isAsked(source.key) &&
    cleared(source.label, clearance) && (source.expiresAt ?? Infinity) > powers.now() &&
    (again || !work.isDone(model, source.digest))
  );
  const fixed = tokensOf(SYSTEM_V1) + tokensOf(EXTRACTION_SCHEMA_V1) + 100;
  const items: StoredItem[] = [];
  let [inputTokens, outputTokens, done] = [0, 0, 0];
  let label: Label = "public";
  for (const source of sources) {
    label = mixLabel(label, source.label);
    const lines = linesOf(store, source);
    for (const part of partsOf(lines, contextTokens)) {
      const id = itemId(ask, source, part);
      if (again) {
        work.dropAnswer(id);
        answered.delete(id);
      }
      items.push({ id, source: source.id, from: part.from, to: part.to });
      if (work.answer(id)?.done === true) {
        done++;
        continue;
      }
      const shown = lines.slice(part.from - 1, part.to).map(shownLine).join("\n");
      const tokens = tokensOf(shown) + 3 * (part.to - part.from + 1);
      inputTokens += fixed + tokens;
      outputTokens += Math.min(answerTokens(contextTokens), 200 + Math.ceil(tokens * ANSWER_SHARE));
    }
  }
  const run = sha256Hex(JSON.stringify([model, contextTokens, items.map(({ id }) => id)]))
    .slice(0, 16);
  work.putRun({ run, model, contextTokens, items, merged: [] });
  return {
    ...{ run, sources: sources.length, items: items.length, done },
    ...{ inputTokens, outputTokens, label },
  };
}
