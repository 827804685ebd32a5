/**
 * Orama over the passages of pages: words in, ranked passages out. Its options are what docs/retrieval.md measured: whole words only,
 * saturation fitted to its relative frequencies, document frequencies that count each passage once.
 * @module
 */
import { create, getByID, insert, load, type RawData, remove, save, search } from "@orama/orama";
import { index as indexComponent } from "@orama/orama/components";
import { RANKING, type Ranking } from "./ranking.ts";
import { END, makeShares, wordsOf } from "./word_shares.ts";

/** A passage's words, each list joined by spaces. */
export interface PassageWords {
  readonly id: string;
  readonly title: string;
  readonly headings: string;
  readonly body: string;
}

/** Words of passages of pages. */
export interface PageWords {
  put(passage: PassageWords): void;
  drop(id: string): void;
  get(id: string): PassageWords | undefined;
  /** Best first, at most `limit`; passages that share no word are not there. */
  find(terms: readonly string[], limit: number): readonly string[];
  /** In how many passages a term occurs. */
  frequency(term: string): number;
  /** Mean count of words of a passage's body. */
  averageTerms(): number;
  readonly size: number;
  /** What {@link makePageWords} takes. */
  dump(): unknown;
}

const SCHEMA = { title: "string", headings: "string", body: "string" } as const;
const FIELDS = ["title", "headings", "body"] as const;
const tokenizer = {
  language: "english",
  normalizationCache: new Map<string, string>(),
  tokenize: (raw: string): string[] => wordsOf(raw).map((each) => each + END),
};

/** As Orama's own, but linear; and a passage counts once for each of its words. */
function countingIndex(): ReturnType<typeof indexComponent.createIndex> {
  const own = indexComponent.createIndex();
  return {
    ...own,
    insertDocumentScoreParameters(index, prop, id, tokens, docsCount) {
      indexComponent.insertDocumentScoreParameters(index, prop, id, tokens, docsCount);
      // See makeShares.
      if (typeof id === "number") delete index.frequencies[prop]?.[id];
      const occurrences = index.tokenOccurrences[prop] ?? {};
      for (const token of new Set(tokens)) occurrences[token] = (occurrences[token] ?? 0) + 1;
    },
    insertTokenScoreParameters() {},
    removeDocumentScoreParameters(index, prop, id, docsCount) {
      const number = index.sharedInternalDocumentStore.idToInternalId.get(String(id));
      const occurrences = index.tokenOccurrences[prop] ?? {};
      const shares = number === undefined ? undefined : index.frequencies[prop]?.[number];
      for (const token of Object.keys(shares ?? {})) {
        occurrences[token] = (occurrences[token] ?? 1) - 1;
      }
      indexComponent.removeDocumentScoreParameters(index, prop, id, docsCount);
    },
    removeTokenScoreParameters() {},
  };
}

function makeDatabase() {
  return create({
    schema: SCHEMA,
    sort: { enabled: false },
    components: { tokenizer, index: countingIndex() },
  });
}

/** Makes an index, empty or of what {@link PageWords.dump} gave. Throws whatever Orama throws for another dump. */
export function makePageWords(dump?: unknown, ranking: Ranking = RANKING): PageWords {
  const database = makeDatabase();
  if (dump !== undefined) load(database, asDump(dump));
  const { docs } = database.data.docs;
  let size = Object.keys(docs).length;
  for (const field of FIELDS) {
    const textOf = (number: number): string => docs[number]?.[field] ?? "";
    database.data.index.frequencies[field] = makeShares(field, textOf, ranking);
  }
  const index = database.data.index;
  const occurrences = (field: string, term: string): number =>
    index.tokenOccurrences[field]?.[term + END] ?? 0;

  return Object.freeze<PageWords>({
    put(passage) {
      insert(database, { ...passage });
      size++;
    },
    drop(id) {
      if (remove(database, id) === true) size--;
    },
    get(id) {
      const found = getByID(database, id);
      if (found === undefined || found === null) return undefined;
      const { title, headings, body } = found;
      return { id, title, headings, body };
    },
    find(terms, limit) {
      if (terms.length === 0) return [];
      const found = search(database, {
        term: terms.join(" "),
        limit,
        threshold: 1,
        relevance: { k: ranking.pageSaturation, b: 0, d: 0 },
        boost: { title: ranking.pageTitle, headings: ranking.pageHeadings, body: 1 },
      });
      // Without hooks Orama answers at once.
      return found instanceof Promise ? [] : found.hits.map((hit) => hit.id);
    },
    frequency: (term) => Math.max(...FIELDS.map((field) => occurrences(field, term))),
    averageTerms: () => index.avgFieldLength["body"] ?? 0,
    get size() {
      return size;
    },
    // Frequencies follow from the words, and are most of a dump's length.
    dump: () => {
      const { index, ...rest } = save(database);
      return { ...rest, index: { ...asIndex(index), frequencies: {} } };
    },
  });
}

function asIndex(value: unknown): object {
  if (typeof value !== "object" || value === null) throw new TypeError("no index");
  return value;
}

/** TRUST: our own file, whose checksum held; Orama's loader has no types of its own to check. */
function asDump(value: unknown): RawData {
  if (typeof value !== "object" || value === null || !("index" in value)) {
    throw new TypeError("no dump of an index");
  }
  return value as RawData;
}
