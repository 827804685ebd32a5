/** Orama over the passages of pages, with the options in docs/retrieval.md: the order that {@link PageIndex.find} must have. @module */
import { create, insert, search } from "@orama/orama";
import { index as indexComponent } from "@orama/orama/components";
import { countsOf, type PassageWords, wordsOf } from "../page_words.ts";
import { RANKING } from "../ranking.ts";

/** Marks the end of each word, so that Orama's prefix search finds only that word. */
const END = "|";
const tokenizer = {
  language: "english",
  normalizationCache: new Map<string, string>(),
  tokenize: (raw: string): string[] => wordsOf(raw).map((each) => each + END),
};

/** Like Orama's own, except that a passage counts once for each of its words, and a word by its length-normalised BM25 frequency. */
function countingIndex(): ReturnType<typeof indexComponent.createIndex> {
  const own = indexComponent.createIndex();
  return {
    ...own,
    insertDocumentScoreParameters(index, prop, id, tokens, docsCount) {
      indexComponent.insertDocumentScoreParameters(index, prop, id, tokens, docsCount);
      const occurrences = index.tokenOccurrences[prop] ?? {};
      for (const token of new Set(tokens)) occurrences[token] = (occurrences[token] ?? 0) + 1;
      const shares: Record<string, number> = {};
      const { pageLength, pageWords } = RANKING;
      const norm = 1 - pageLength + pageLength * tokens.length / pageWords;
      for (const [token, count] of countsOf(tokens.join(" "))) {
        shares[token] = prop === "body" ? count / norm : 1;
      }
      const frequencies = index.frequencies[prop];
      if (typeof id !== "number" || frequencies === undefined) throw new TypeError("another Orama");
      frequencies[id] = shares;
    },
    insertTokenScoreParameters() {},
  };
}

/** Indexes passages in order; finds the positions of the best. */
export function makeOramaWords(
  passages: readonly PassageWords[],
): (terms: readonly string[], limit: number) => readonly number[] {
  const database = create({
    schema: { title: "string", headings: "string", body: "string" } as const,
    sort: { enabled: false },
    components: { tokenizer, index: countingIndex() },
  });
  passages.forEach((each, n) => insert(database, { ...each, id: String(n) }));
  return (terms, limit) => {
    if (terms.length === 0) return [];
    const { pageSaturation: k, pageTitle: title, pageHeadings: headings } = RANKING;
    const found = search(database, {
      ...{ term: terms.join(" "), limit, threshold: 1, relevance: { k, b: 0, d: 0 } },
      boost: { title, headings, body: 1 },
    });
    if (found instanceof Promise) throw new TypeError("Orama without hooks answers at once");
    return found.hits.map(({ id }) => Number(id));
  };
}
