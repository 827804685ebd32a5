/** Iterates over pages and sources, so that not all are in memory at once. @module */
import type { Label } from "../../contracts/authority/mod.ts";
import type { Page, WikiSource } from "../../contracts/memory/mod.ts";
import type { PageTable, SourceTable } from "./wiki_store.ts";

/** Rows per statement. */
const BATCH = 1_000;

/** All pages within `clearance`, ascending by name; without claims, citations and links. */
export function* eachPage(
  { pages }: { readonly pages: Pick<PageTable, "list"> },
  clearance: Label,
): Generator<Page, void> {
  for (let after = "";;) {
    const batch = pages.list({ clearance, after, limit: BATCH });
    yield* batch;
    const last = batch.at(-1);
    if (last === undefined || batch.length < BATCH) return;
    after = last.name;
  }
}

/** All sources of `query`, ascending by id. */
export function* eachSource(
  { sources }: { readonly sources: Pick<SourceTable, "list"> },
  query: Omit<Parameters<SourceTable["list"]>[0], "afterId" | "limit">,
): Generator<WikiSource, void> {
  for (let afterId = 0;;) {
    const batch = sources.list({ ...query, afterId, limit: BATCH });
    yield* batch;
    const last = batch.at(-1);
    if (last === undefined || batch.length < BATCH) return;
    afterId = last.id;
  }
}
