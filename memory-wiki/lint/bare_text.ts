/** Texts with what does not tell two apart left out. @module */
import { sentencesOf } from "../markdown/sentences.ts";
import { NEGATIONS } from "./facts/vocabulary.ts";
import { titleKey } from "./link_names.ts";

/** What is left of a title when case, punctuation and spaces do not count. */
export function bareTitle(title: string): string {
  return titleKey(title).normalize("NFKC").replaceAll(/[^\p{L}\p{N}+#]+/gu, " ").trim();
}

/** The words of a text, in lower case, one space between two. */
export function bareWords(text: string): string {
  return text.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, " ").trim();
}

/** Parts of a sentence that may be true without each other. */
const CLAUSES = /[;:—–]|,\s+(?=(?:but|and|so|while|which|although|because|if|when)\b)/u;

/**
 * The clause of `source` that says `words` with a negation which they leave out: "No lease ends early" for "lease ends
 * early". Undefined where they stand somewhere as they are.
 */
export function negatedIn(words: string, source: string): string | undefined {
  const wanted = bareWords(words);
  if (wanted === "") return undefined;
  const own = negationsOf(words);
  let found: string | undefined;
  for (const { start, end } of sentencesOf(source)) {
    for (const clause of source.slice(start, end).split(CLAUSES)) {
      if (!` ${bareWords(clause)} `.includes(` ${wanted} `)) continue;
      if (negationsOf(clause) <= own) return undefined;
      found ??= clause.replaceAll(/\s+/gu, " ").trim();
    }
  }
  return found;
}

function negationsOf(text: string): number {
  return text.toLowerCase().match(/[\p{L}]+(?:['’]t)?/gu)?.filter((word) =>
    NEGATIONS.has(word.replace("’", "'"))
  ).length ?? 0;
}
