/** The items of a run: what a model is asked next, and what it answered. @module */
import type { WorkItem } from "../../contracts/wire_wiki.ts";
import { Fault } from "../../contracts/fault.ts";
import { sha256Hex } from "../../port/digest.ts";
import type { OpenWiki } from "../ops/open_wiki.ts";
import type { WikiStore } from "../store/wiki_store.ts";
import { checkExtraction } from "./check_extraction.ts";
import { answerTokens } from "./parts.ts";
import { promptV1, SYSTEM_V1 } from "./prompt_v1.ts";
import { EXTRACTION_SCHEMA_V1 } from "./schema_v1.ts";
import { shownPages } from "./shown_pages.ts";
import { linesOf } from "./source_lines.ts";
import { makeWorkStore, type StoredAnswer, type StoredItem } from "./work_store.ts";

/** How often an item is asked. */
const MOST_TRIES = 2;

/** The next item that has no answer, or one to be corrected; null when all is done. `skip` are under way. */
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
  // A source that was written against this prompt does not know the digest of its own bytes and this item.
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

/** Checks an answer and keeps what holds. An answer with problems is asked for once more. */
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
  // What held of the first answer is not lost by a worse second one.
  const better = (checked.extraction?.claims.length ?? -1) >=
    (before.extraction?.claims.length ?? -1);
  const extraction = better ? checked.extraction : before.extraction;
  const problems = [...checked.problems];
  const done = problems.length === 0 || tries >= MOST_TRIES;
  work.putAnswer(id, {
    ...{ tries, problems, done, pages: before.pages },
    ...(extraction === undefined ? {} : { extraction }),
  });
  if (done) answered.add(id);
  return { ok: problems.length === 0, problems };
}
