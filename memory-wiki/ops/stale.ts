/** Whether a page's sources have moved on. @module */
import type { Page } from "../../contracts/mod.ts";
import type { WikiStore } from "../store/wiki_store.ts";

/** Whether a source that the page cites was superseded or removed, or is gone. */
export function isStale(store: WikiStore, page: Pick<Page, "sources">): boolean {
  return page.sources.some((digest) => store.sources.byDigest(digest)?.state !== "current");
}
