/** Pages that a part of a source is shown with, so that a model sees what the wiki says already. @module */
import { cleared, colourSuffices, type Page, type WikiSource } from "../../contracts/mod.ts";
import { termsOf } from "../search/terms.ts";
import type { WikiStore } from "../store/wiki_store.ts";
import type { ShownPage } from "./prompt_v1.ts";

const MOST_PAGES = 8;
const MOST_CLAIMS = 6;
const CLAIM_CHARS = 300;

/**
 * Pages that the part names, those with most words in common first. Only pages that are no more confidential and no
 * less trusted than the source: the request stays what its source is.
 */
export function shownPages(
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
    .slice(0, MOST_PAGES)
    .map(({ page }) => shown(store, page, words));
}

function shown(store: WikiStore, page: Page, words: ReadonlySet<string>): ShownPage {
  const claims = (store.pages.get(page.name)?.claims ?? [])
    .map(({ text }) => text.replace(/\[\^[^\]]{1,64}\]/g, "").trim())
    .filter((text) => text.length >= 8 && text.length <= CLAIM_CHARS)
    .map((text) => ({ text, common: termsOf(text).filter((term) => words.has(term)).length }))
    .sort((a, b) => b.common - a.common)
    .slice(0, MOST_CLAIMS)
    .map(({ text }) => text);
  return { name: page.name, title: page.title, claims };
}
