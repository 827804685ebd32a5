/** The passages of all pages that one clearance covers: words, lines, and how they follow the store. @module */
import type { Label } from "../../contracts/authority/mod.ts";
import type { Page } from "../../contracts/memory/mod.ts";
import { makePageWords } from "./page_words.ts";
import type { PagePassage, SearchedStore } from "./passage.ts";
import { RANKING, type Ranking } from "./ranking.ts";
import { sectionsOf } from "./sections.ts";
import { termsOf } from "./terms.ts";

/** Where a passage lies, without its words. */
export interface IndexedSection {
  readonly startLine: number;
  readonly endLine: number;
  readonly headings: readonly string[];
}

/** A page as it was indexed. */
export interface IndexedPage {
  readonly name: string;
  readonly version: number;
  readonly digest: string;
  readonly sections: readonly IndexedSection[];
}

/** What is kept of an index between processes. */
export interface PageIndexDump {
  readonly generation: number;
  readonly pages: readonly IndexedPage[];
  readonly words: unknown;
}

/** Where a passage of a page lies; `n` is its number within the page, from 0. */
export interface PagePlace {
  readonly name: string;
  readonly version: number;
  readonly n: number;
  readonly startLine: number;
}

export interface PageIndex {
  /** The store's generation that it has seen. */
  readonly generation: number;
  readonly pages: number;
  readonly passages: number;
  /** Takes in what changed; gives how many pages that were. */
  follow(): number;
  /** Best first. */
  find(terms: readonly string[], limit: number): readonly PagePassage[];
  /** A passage by page and number. */
  passage(name: string, n: number): PagePassage | undefined;
  /** Where all passages lie. */
  places(): Iterable<PagePlace>;
  frequency(term: string): number;
  averageTerms(): number;
  dump(): PageIndexDump;
}

const PAGES_AT_ONCE = 1_000;

const idOf = (name: string, n: number): string => `${n} ${name}`;
const split = (terms: string): readonly string[] => terms === "" ? [] : terms.split(" ");

/** Makes the index of the pages at or below `clearance`, empty or from a dump; {@link PageIndex.follow} fills it. */
export function makePageIndex(
  store: Pick<SearchedStore, "pages" | "generation">,
  clearance: Label,
  options: { readonly dump?: PageIndexDump; readonly ranking?: Ranking } = {},
): PageIndex {
  const { dump, ranking = RANKING } = options;
  const words = makePageWords(dump?.words, ranking);
  const indexed = new Map((dump?.pages ?? []).map((page) => [page.name, page]));
  let generation = dump?.generation ?? -1;

  const drop = (page: IndexedPage): void => {
    page.sections.forEach((_, n) => words.drop(idOf(page.name, n)));
    indexed.delete(page.name);
  };
  const put = (page: Page): void => {
    const text = store.pages.text(page.name, page.version);
    if (text === undefined) return;
    const title = termsOf([page.title, ...page.aliases].join("\n")).join(" ");
    const sections = sectionsOf(text);
    sections.forEach((section, n) => {
      words.put({
        id: idOf(page.name, n),
        title,
        headings: termsOf(section.headings.join("\n")).join(" "),
        body: section.terms,
      });
    });
    indexed.set(page.name, {
      name: page.name,
      version: page.version,
      digest: page.digest,
      sections: sections.map(({ terms: _, ...section }) => section),
    });
  };
  const passage = (name: string, n: number): PagePassage | undefined => {
    const before = indexed.get(name);
    const section = before?.sections[n];
    const found = words.get(idOf(name, n));
    if (before === undefined || section === undefined || found === undefined) return undefined;
    return {
      kind: "page",
      name,
      version: before.version,
      digest: before.digest,
      n,
      file: `pages/${name}.md`,
      startByte: 0,
      ...section,
      titleTerms: split(found.title),
      headingTerms: split(found.headings),
      bodyTerms: split(found.body),
    };
  };

  return Object.freeze<PageIndex>({
    get generation() {
      return generation;
    },
    get pages() {
      return indexed.size;
    },
    get passages() {
      return words.size;
    },
    follow() {
      const now = store.generation();
      if (now === generation) return 0;
      const gone = new Set(indexed.keys());
      let changed = 0;
      for (const page of allPages(store, clearance)) {
        gone.delete(page.name);
        const before = indexed.get(page.name);
        if (before?.digest === page.digest && before.version === page.version) continue;
        if (before !== undefined) drop(before);
        put(page);
        changed++;
      }
      for (const name of gone) {
        const before = indexed.get(name);
        if (before !== undefined) drop(before);
        changed++;
      }
      generation = now;
      return changed;
    },
    find(terms, limit) {
      return words.find(terms, limit).flatMap((id) => {
        const at = id.indexOf(" ");
        return passage(id.slice(at + 1), Number(id.slice(0, at))) ?? [];
      });
    },
    passage,
    *places() {
      for (const { name, version, sections } of indexed.values()) {
        for (const [n, { startLine }] of sections.entries()) yield { name, version, n, startLine };
      }
    },
    frequency: words.frequency,
    averageTerms: words.averageTerms,
    dump: () => ({ generation, pages: [...indexed.values()], words: words.dump() }),
  });
}

function* allPages(store: Pick<SearchedStore, "pages">, clearance: Label): Iterable<Page> {
  let pages = store.pages.list({ clearance, limit: PAGES_AT_ONCE });
  while (true) {
    yield* pages;
    const last = pages.at(-1);
    if (last === undefined || pages.length < PAGES_AT_ONCE) return;
    pages = store.pages.list({ clearance, limit: PAGES_AT_ONCE, after: last.name });
  }
}
