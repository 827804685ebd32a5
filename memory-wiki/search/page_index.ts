/** The index of all pages within one clearance, and how it follows the store. @module */
import type { Label } from "../../contracts/authority/mod.ts";
import type { Page } from "../../contracts/memory/mod.ts";
import { type IndexedPage, type KeptIndex, lastAtOrBelow } from "./index_file.ts";
import {
  countsOf,
  type Field,
  FIELDS,
  makeWordTable,
  type Postings,
  scoreField,
  wordsOf,
} from "./page_words.ts";
import type { PagePassage, SearchedStore } from "./passage.ts";
import { RANKING, type Ranking } from "./ranking.ts";
import { sectionsOf } from "./sections.ts";
import { termsOf } from "./terms.ts";
import { eachPage } from "../store/each_row.ts";

/** Place of a passage; `n` is its number within the page, from 0. */
export interface PagePlace {
  readonly name: string;
  readonly version: number;
  readonly n: number;
  readonly startLine: number;
}

export interface PageIndex {
  /** The store's generation that is indexed. */
  readonly generation: number;
  readonly pages: number;
  readonly passages: number;
  /** Indexes changes; returns the number of changed pages. */
  follow(): number;
  /** Best first; ties by page and number. */
  find(terms: readonly string[], limit: number): readonly PagePassage[];
  /** A passage by page and number. */
  passage(name: string, n: number): PagePassage | undefined;
  /** Places of all passages. */
  places(): Iterable<PagePlace>;
  /** Number of passages with a term. */
  frequency(term: string): number;
  /** Mean number of words of a passage's body. */
  averageTerms(): number;
  /** All pages with their words by name, for storing. */
  all(): Iterable<IndexedPage>;
}

/** An indexed page; its passages are numbered from `first`. */
interface Held {
  readonly name: string;
  readonly version: number;
  readonly digest: string;
  readonly first: number;
  readonly startLines: readonly number[];
  readonly lengths: readonly number[];
  /** Reads the whole page. */
  readonly whole: () => IndexedPage;
}

/**
 * Makes the index of the pages within `clearance`, empty or from a stored one; {@link PageIndex.follow}
 * updates it. A stored index is read block by block from its file; pages changed since are kept in memory.
 */
export function makePageIndex(
  store: Pick<SearchedStore, "pages" | "generation">,
  clearance: Label,
  options: { readonly kept?: KeptIndex; readonly ranking?: Ranking } = {},
): PageIndex {
  const { kept, ranking = RANKING } = options;
  const added = makeWordTable();
  /** By passage number; deleted pages remain. Those of the stored index come first. */
  const held: Held[] = [];
  const byName = new Map<string, Held>();
  const lengths: number[] = [];
  const gone = new Set<number>();
  /** Number of deleted passages by field and word. */
  const fewer = new Map<string, number>();
  const whole = new Map<Held, IndexedPage>();
  let [passages, words] = [0, 0];
  let generation = kept?.generation ?? -1;

  const hold = (page: Omit<Held, "first">): Held => {
    const entry = { ...page, first: lengths.length };
    held.push(entry);
    byName.set(page.name, entry);
    lengths.push(...page.lengths);
    passages += page.lengths.length;
    words += page.lengths.reduce((sum, each) => sum + each, 0);
    return entry;
  };
  kept?.pages.forEach((page, at) => hold({ ...page, whole: () => kept.page(at) }));

  const drop = (page: Held): void => {
    const { titleTerms, sections } = page.whole();
    sections.forEach(({ headingTerms, bodyTerms }, n) => {
      gone.add(page.first + n);
      const own = { title: titleTerms, headings: headingTerms, body: bodyTerms };
      for (const field of FIELDS) {
        for (const word of countsOf(own[field]).keys()) {
          const key = `${field} ${word}`;
          fewer.set(key, (fewer.get(key) ?? 0) + 1);
        }
      }
    });
    passages -= page.lengths.length;
    words -= page.lengths.reduce((sum, each) => sum + each, 0);
    byName.delete(page.name);
    whole.delete(page);
  };
  const put = (page: Page): void => {
    const text = store.pages.text(page.name, page.version);
    if (text === undefined) return;
    const { name, version, digest } = page;
    const titleTerms = termsOf([page.title, ...page.aliases].join("\n")).join(" ");
    const sections = sectionsOf(text).map(({ terms, ...section }) => ({
      ...section,
      headingTerms: termsOf(section.headings.join("\n")).join(" "),
      bodyTerms: terms,
    }));
    const { first } = hold({
      ...{ name, version, digest },
      startLines: sections.map(({ startLine }) => startLine),
      lengths: sections.map(({ bodyTerms }) => wordsOf(bodyTerms).length),
      whole: () => ({ name, version, digest, titleTerms, sections }),
    });
    sections.forEach(({ headingTerms: headings, bodyTerms: body }, n) => {
      added.add(first + n, { title: titleTerms, headings, body });
    });
  };

  const passageOf = (page: Held, n: number): PagePassage | undefined => {
    let read = whole.get(page);
    if (read === undefined) {
      read = page.whole();
      whole.set(page, read);
    }
    const { name, version, digest, titleTerms } = read;
    const section = read.sections[n];
    if (section === undefined) return undefined;
    const { startLine, endLine, headings, headingTerms, bodyTerms } = section;
    return {
      ...{ kind: "page", name, version, digest, n, file: `pages/${name}.md`, startByte: 0 },
      ...{ startLine, endLine, headings },
      titleTerms: wordsOf(titleTerms),
      headingTerms: wordsOf(headingTerms),
      bodyTerms: wordsOf(bodyTerms),
    };
  };
  /** The page of a passage number. */
  const holder = (number: number): Held | undefined =>
    held[lastAtOrBelow(held.length, (n) => (held[n]?.first ?? 0) <= number)];
  const postingsOf = (term: string): readonly Postings[] =>
    [kept?.postings(term), added.of(term)].filter((each) => each !== undefined);
  const holding = (all: readonly Postings[], field: Field, term: string): number =>
    all.reduce((sum, each) => sum + each[field].length / 2, 0) -
    (fewer.get(`${field} ${term}`) ?? 0);
  const byPlace = (a: number, b: number): number => {
    const [one, other] = [holder(a)?.name ?? "", holder(b)?.name ?? ""];
    return one === other ? a - b : one < other ? -1 : 1;
  };

  return Object.freeze<PageIndex>({
    get generation() {
      return generation;
    },
    get pages() {
      return byName.size;
    },
    get passages() {
      return passages;
    },
    follow() {
      const now = store.generation();
      if (now === generation) return 0;
      const missing = new Set(byName.keys());
      let changed = 0;
      for (const page of eachPage(store, clearance)) {
        missing.delete(page.name);
        const before = byName.get(page.name);
        if (before?.digest === page.digest && before.version === page.version) continue;
        if (before !== undefined) drop(before);
        put(page);
        changed++;
      }
      for (const name of missing) {
        const before = byName.get(name);
        if (before !== undefined) drop(before);
        changed++;
      }
      generation = now;
      return changed;
    },
    find(terms, limit) {
      const scores = new Map<number, number>();
      const found = terms.map((term) => ({ term, all: postingsOf(term) }));
      for (const field of FIELDS) {
        for (const { term, all } of found) {
          const scoring = {
            ...{ field, ranking, passages, holding: holding(all, field, term) },
            counts: (number: number) => !gone.has(number),
            wordsIn: (number: number) => lengths[number] ?? 0,
          };
          for (const each of all) scoreField(scores, each[field], scoring);
        }
      }
      return [...scores].sort(([a, x], [b, y]) => y - x || byPlace(a, b)).slice(0, limit)
        .flatMap(([number]) => {
          const page = holder(number);
          return page === undefined ? [] : passageOf(page, number - page.first) ?? [];
        });
    },
    passage(name, n) {
      const page = byName.get(name);
      return page === undefined ? undefined : passageOf(page, n);
    },
    *places() {
      for (const { name, version, startLines } of byName.values()) {
        for (const [n, startLine] of startLines.entries()) yield { name, version, n, startLine };
      }
    },
    frequency: (term) => {
      const all = postingsOf(term);
      return Math.max(...FIELDS.map((field) => holding(all, field, term)));
    },
    averageTerms: () => passages === 0 ? 0 : words / passages,
    *all() {
      for (const page of [...byName.values()].sort((a, b) => a.name < b.name ? -1 : 1)) {
        yield page.whole();
      }
    },
  });
}
