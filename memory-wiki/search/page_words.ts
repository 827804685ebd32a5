/**
 * Orama over the passages of pages: words in, ranked passages out. Its options are what docs/retrieval.md measured: whole words only,
 * saturation fitted to its relative frequencies, document frequencies that count each passage once.
 * @module
 */
import { create, getByID, insert, load, type RawData, remove, save, search } from "@orama/orama";
import { index as indexComponent } from "@orama/orama/components";
import { RANKING, type Ranking } from "./ranking.ts";

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

// What BM25 makes of each word of each passage: counted when Orama asks, because most passages
// never are by one process.

/** Ends each word, so that Orama's search by prefix finds that word alone; no term holds it, nor does any property of an object. */
export const END = "|";
const SPACE = 32;
/** Words of a passage that are counted one by one. */
const FEW = 4;

/** The words of a field, which are joined by spaces. */
function wordsOf(text: string): readonly string[] {
  return text === "" ? [] : text.split(" ");
}

/** By what BM25 divides a word's count in a body of so many words. */
function normOf(words: number, { pageLength, pageWords }: Ranking): number {
  return 1 - pageLength + pageLength * words / pageWords;
}

/**
 * What BM25 leaves of each word's count in a field of this length; in title and headings a word counts once. Orama's own share of all words
 * lets short passages win whatever they say.
 */
function sharesOf(field: string, text: string, ranking: Ranking): Record<string, number> {
  const shares: Record<string, number> = Object.create(null);
  const words = wordsOf(text);
  for (const word of words) {
    const token = word + END;
    shares[token] = field === "body" ? (shares[token] ?? 0) + 1 : 1;
  }
  if (field !== "body") return shares;
  const norm = normOf(words.length, ranking);
  for (const token of Object.keys(shares)) shares[token] = (shares[token] ?? 0) / norm;
  return shares;
}

/** What one passage's field holds, without reading all of it: how often a word stands there. */
function countOf(words: string, word: string): number {
  let count = 0;
  for (let at = words.indexOf(word); at >= 0; at = words.indexOf(word, at + 1)) {
    const end = at + word.length;
    const starts = at === 0 || words.charCodeAt(at - 1) === SPACE;
    if (starts && (end === words.length || words.charCodeAt(end) === SPACE)) count += 1;
  }
  return count;
}

/** Shares by a passage's number, made when they are first asked for: most passages never are by one process, and of most one word. */
export function makeShares(
  field: string,
  textOf: (number: number) => string,
  ranking: Ranking,
): Record<number, Record<string, number>> {
  return new Proxy<Record<string, Record<string, number>>>({}, {
    get(made, number) {
      if (typeof number === "symbol") return undefined;
      const known = made[number];
      if (known !== undefined) return known;
      const whole = (): Record<string, number> =>
        made[number] = sharesOf(field, textOf(Number(number)), ranking);
      return made[number] = sharesOfFew(field, { text: textOf(Number(number)), whole, ranking });
    },
  });
}

/** The shares of a passage of which few words are asked: counted one by one, until making all of them is cheaper. */
function sharesOfFew(
  field: string,
  { text, whole, ranking }: {
    readonly text: string;
    readonly whole: () => Record<string, number>;
    readonly ranking: Ranking;
  },
): Record<string, number> {
  let asked = 0;
  return new Proxy<Record<string, number>>(Object.create(null), {
    get(_, token) {
      if (typeof token === "symbol" || !token.endsWith(END)) return undefined;
      if (++asked > FEW) return whole()[token];
      const count = countOf(text, token.slice(0, -END.length));
      if (count === 0) return undefined;
      return field === "body" ? count / normOf(wordsIn(text), ranking) : 1;
    },
    ownKeys: () => Object.keys(whole()),
    getOwnPropertyDescriptor: (_, token) => ({
      ...{ value: whole()[String(token)], enumerable: true, configurable: true },
    }),
  });
}

function wordsIn(text: string): number {
  let count = text === "" ? 0 : 1;
  for (let at = text.indexOf(" "); at >= 0; at = text.indexOf(" ", at + 1)) count += 1;
  return count;
}
