/**
 * Selects the key sentences of a text by word frequency, position and title, without repetition (SumBasic and
 * maximal marginal relevance, without learning). Used by draft_pages.ts and page_markdown.ts.
 * @module
 */
import type { PlacedSentence, SourceText } from "./source_text.ts";
import { isUnspaced, STOP_WORDS, wordsOf } from "./words.ts";

/** Sentences considered. */
const MAX_SENTENCES = 4_000;
const MIN_LENGTH = 30;
const MAX_LENGTH = 360;
/** A character of these scripts counts as three letters. */
const WIDE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;
/** Of two sentences that share more of their words, the lower-ranked is dropped. */
const MAX_LIKENESS = 0.5;
const POINTS_BACK =
  /^(?:it|this|that|these|those|they|he|she|such|here|there|see|for example|e\.g\.|however|but|and|so|then|also)\b/i;
/** Parts of lists: lower case at the beginning, or no stop at the end. */
const FRAGMENT = /^\p{Ll}|[;,\p{L}\p{N}]$/u;
/** Legal notices. */
const LEGAL = /\bcopyright\b|©|\ball rights reserved\b|\bSPDX-|\blicen[cs]ed under\b/i;
/** Sentences that instruct a language model; never selected. */
const ORDERS =
  /\b(?:ignore|disregard|forget)\b.{0,40}\b(?:instructions?|previous|above|prior|rules)\b|\b(?:system prompt|you are (?:now )?(?:an? )?(?:ai|assistant|chatgpt|language model)|as an ai\b|jailbreak)/i;

/** Whether a sentence reads like an instruction to a model. */
export function readsLikeOrder(text: string): boolean {
  return ORDERS.test(text);
}

/** At most `max` sentences in the order of the text; its first statements if none scores. */
export function keySentences(
  source: Pick<SourceText, "sentences" | "headings">,
  title: string,
  max: number,
): readonly PlacedSentence[] {
  const chosen = tellingSentences(source, title, max);
  if (chosen.length > 0) return chosen;
  return source.sentences.slice(0, MAX_SENTENCES).filter(({ text }) =>
    /\p{L}{2}/u.test(text) && isStatement(text)
  ).slice(0, max);
}

function tellingSentences(
  source: Pick<SourceText, "sentences" | "headings">,
  title: string,
  max: number,
): readonly PlacedSentence[] {
  const looked = source.sentences.slice(0, MAX_SENTENCES);
  const words = looked.map(({ text }) => [...new Set(wordsOf(text))].filter(telling));
  const frequency = new Map<string, number>();
  for (const own of words) {
    for (const word of own) frequency.set(word, (frequency.get(word) ?? 0) + 1);
  }
  const titled = new Set(wordsOf(title));

  const scored = looked.flatMap((sentence, at) => {
    const own = words[at] ?? [];
    if (!isCandidate(sentence) || own.length < 3) return [];
    let sum = 0;
    for (const word of own) {
      // Words of nearly half the sentences distinguish little.
      const share = (frequency.get(word) ?? 1) / looked.length;
      sum += Math.log1p(frequency.get(word) ?? 1) * (share > 0.4 ? 0.5 : 1);
      if (titled.has(word)) sum += 0.7;
    }
    const first = at === 0 || sentence.section !== looked[at - 1]?.section;
    const place = (at < 3 ? 1.6 - at * 0.15 : 1) * (first ? 1.25 : 1) *
      (sentence.leads ? 1.15 : sentence.prose ? 1 : 0.75) *
      (sentence.prose ? 1.2 : 1) * (FRAGMENT.test(sentence.text) ? 0.6 : 1) *
      (LEGAL.test(sentence.text) ? 0.3 : 1) *
      (POINTS_BACK.test(sentence.text) ? 0.6 : 1);
    return [{ at, own, score: sum / Math.sqrt(own.length + 4) * place }];
  }).sort((a, b) => b.score - a.score || a.at - b.at);

  const chosen: { readonly at: number; readonly own: readonly string[] }[] = [];
  for (const candidate of scored) {
    if (chosen.length >= max) break;
    if (chosen.every(({ own }) => likeness(own, candidate.own) <= MAX_LIKENESS)) {
      chosen.push(candidate);
    }
  }
  return chosen.map(({ at }) => at).sort((a, b) => a - b).flatMap((at) => looked[at] ?? []);
}

/** The number of key sentences for a text of so many sentences. */
export function keyCount(sentences: number): number {
  return Math.max(3, Math.min(7, Math.ceil(sentences / 12)));
}

function isCandidate({ text }: PlacedSentence): boolean {
  return isStatement(text) &&
    (text.length >= MIN_LENGTH || text.replace(WIDE, "   ").length >= MIN_LENGTH);
}

function isStatement(text: string): boolean {
  return text.length <= MAX_LENGTH && !/[:?？]$/.test(text) && !readsLikeOrder(text);
}

function telling(word: string): boolean {
  return word.length > 1 && !STOP_WORDS.has(word) && !/^\d+$/.test(word);
}

function likeness(a: readonly string[], b: readonly string[]): number {
  const other = new Set(b);
  const shared = a.filter((word) => other.has(word)).length;
  return shared / Math.max(1, Math.min(a.length, b.length));
}

/** A sentence that mentions a term. */
export interface Mention {
  readonly source: number;
  readonly sentence: PlacedSentence;
  readonly score: number;
}

/** Sentences kept per term and source. */
const PER_SOURCE = 2;
const MIN_MENTION = 25;
const MAX_MENTION = 320;

/** Finds mentions of terms, source by source. */
export interface MentionFinder {
  /** Searches the sentences of one source. */
  look(source: number, sentences: readonly PlacedSentence[]): void;
  /** The best sentences about a term, at most `max`, from as many sources as possible. */
  of(key: string, max: number): readonly Mention[];
  /** Number of sources that mention a term. */
  sources(key: string): number;
}

/** Makes a finder of the terms with these keys. */
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
        if (text.length < MIN_MENTION || text.length > MAX_MENTION || readsLikeOrder(text)) {
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
    of(key, max): readonly Mention[] {
      const all = kept.get(key) ?? [];
      const bySource = [...Map.groupBy(all, ({ source }) => source).values()];
      const firsts = bestOf(bySource.flatMap((mentions) => mentions[0] ?? []), max);
      const seconds = bestOf(
        bySource.flatMap((mentions) => mentions[1] ?? []),
        max - firsts.length,
      );
      return [...firsts, ...seconds].sort((a, b) =>
        a.source - b.source || a.sentence.startLine - b.sentence.startLine
      );
    },
    sources: (key) => new Set(kept.get(key)?.map(({ source }) => source)).size,
  };
}

function bestOf(mentions: readonly Mention[], max: number): readonly Mention[] {
  return [...mentions].sort((a, b) =>
    b.score - a.score || a.source - b.source || a.sentence.startLine - b.sentence.startLine
  ).slice(0, Math.max(0, max));
}
