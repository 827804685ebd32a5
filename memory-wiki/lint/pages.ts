/** Pages that a clearance covers, one after another: neither lint nor export holds all of them. @module */
import type { Label, Page } from "../../contracts/mod.ts";
import { readPage } from "../markdown/mod.ts";
import type { LintedStore } from "./linted_store.ts";
import type { LintedPage } from "./rule.ts";

/** As much of a store as it takes to go through its pages. */
export interface ListedPages {
  readonly pages: Pick<LintedStore["pages"], "list" | "text">;
}

const PAGES_AT_ONCE = 500;

/** What the store knows of each page at or below `clearance`, ascending by name. */
export function* pageRows(store: ListedPages, clearance: Label): Generator<Page> {
  let after: string | undefined;
  while (true) {
    const rows = store.pages.list({
      clearance,
      limit: PAGES_AT_ONCE,
      ...(after === undefined ? {} : { after }),
    });
    yield* rows;
    after = rows.at(-1)?.name;
    if (after === undefined || rows.length < PAGES_AT_ONCE) return;
  }
}

/** The same pages with their files. A file that is gone reads as empty. */
export function* lintedPages(store: ListedPages, clearance: Label): Generator<LintedPage> {
  for (const page of pageRows(store, clearance)) {
    const text = store.pages.text(page.name) ?? "";
    yield { page, file: `pages/${page.name}.md`, text, read: readPage(text) };
  }
}
