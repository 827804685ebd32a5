/** Where sources speak of terms, beside their definitions. @module */
import { FRAGMENT, readsLikeOrder } from "./key_sentences.ts";
import type { PlacedSentence } from "./source_text.ts";
import { isUnspaced, wordsOf } from "./words.ts";

/** One sentence that speaks of a term. */
export interface Mention {
  readonly source: number;
  readonly sentence: PlacedSentence;
  readonly score: number;
}

/** Sentences of one source that are kept for a term. */
const PER_SOURCE = 2;
const LEAST_LENGTH = 25;
const MOST_LENGTH = 320;

/** Finds and keeps mentions, source by source. */
export interface MentionFinder {
  /** Looks through the sentences of one source. */
  look(source: number, sentences: readonly PlacedSentence[]): void;
  /** The best sentences about a term, at most `most`, from as many sources as there are. */
  of(key: string, most: number): readonly Mention[];
  /** How many sources speak of a term. */
  sources(key: string): number;
}

/** A finder for the terms with these keys. */
export function makeMentionFinder(keys: readonly string[]): MentionFinder {
  const byFirst = Map.groupBy(
    keys.filter((key) => !isUnspaced(key)).map((key) => ({ key, words: key.split(" ") })),
    ({ words }) => words[0] ?? "",
  );
  const unspaced = keys.filter(isUnspaced);
  const kept = new Map<string, Mention[]>();

  function termsIn(sentence: PlacedSentence): ReadonlyMap<string, number> {
    const words = wordsOf(sentence.text);
    const found = new Map<string, number>();
    for (const [at, word] of words.entries()) {
      for (const { key, words: own } of byFirst.get(word) ?? []) {
        if (!found.has(key) && own.every((part, index) => words[at + index] === part)) {
          found.set(key, at / words.length);
        }
      }
    }
    for (const key of unspaced) {
      const at = sentence.text.indexOf(key);
      if (at >= 0) found.set(key, at / sentence.text.length);
    }
    return found;
  }

  return {
    look(source, sentences): void {
      const own = new Map<string, Mention[]>();
      for (const sentence of sentences) {
        const { text, prose, leads } = sentence;
        if (text.length < LEAST_LENGTH || text.length > MOST_LENGTH || readsLikeOrder(text)) {
          continue;
        }
        if (/[:?]$/.test(text)) continue;
        for (const [key, place] of termsIn(sentence)) {
          const score = (1.5 - place) * (prose ? 1.2 : 1) * (leads ? 1.1 : 1) *
            (FRAGMENT.test(text) ? 0.4 : 1);
          const best = own.get(key) ?? [];
          best.push({ source, sentence, score });
          if (best.length > 2 * PER_SOURCE) {
            best.splice(0, best.length, ...bestOf(best, PER_SOURCE));
          }
          own.set(key, best);
        }
      }
      for (const [key, mentions] of own) {
        kept.set(key, [...kept.get(key) ?? [], ...bestOf(mentions, PER_SOURCE)]);
      }
    },
    of(key, most): readonly Mention[] {
      const all = kept.get(key) ?? [];
      const bySource = [...Map.groupBy(all, ({ source }) => source).values()];
      const firsts = bestOf(bySource.flatMap((mentions) => mentions[0] ?? []), most);
      const seconds = bestOf(
        bySource.flatMap((mentions) => mentions[1] ?? []),
        most - firsts.length,
      );
      return [...firsts, ...seconds].sort((a, b) =>
        a.source - b.source || a.sentence.startLine - b.sentence.startLine
      );
    },
    sources: (key) => new Set(kept.get(key)?.map(({ source }) => source)).size,
  };
}

function bestOf(mentions: readonly Mention[], most: number): readonly Mention[] {
  return [...mentions].sort((a, b) =>
    b.score - a.score || a.source - b.source || a.sentence.startLine - b.sentence.startLine
  ).slice(0, Math.max(0, most));
}
