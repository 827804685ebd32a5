/** Base forms of English words: endings are taken off where what is left is a word. @module */
import { IRREGULAR } from "./irregular.ts";

/** Shortest base form that an ending is taken off for. */
const SHORTEST = 3;

/** The base form of `word` (lower case) among the words that `known` tells of; else the word itself. */
export function lemma(word: string, known: (word: string) => boolean): string {
  const irregular = IRREGULAR.get(word);
  if (irregular !== undefined) return irregular;
  if (word.length <= SHORTEST) return word;
  for (const base of bases(word)) if (base.length >= SHORTEST && known(base)) return base;
  return word;
}

/** What could be the base form, the likelier first. */
function bases(word: string): readonly string[] {
  const cut = (letters: number): string => word.slice(0, -letters);
  if (word.endsWith("s")) return plural(word, cut);
  if (word.endsWith("ied")) return [`${cut(3)}y`, cut(1)];
  if (word.endsWith("ed") && word.length > 4) return [cut(1), cut(2), ...undoubled(cut(2))];
  if (word.endsWith("ing") && word.length > 5) {
    return [...undoubled(cut(3)), `${cut(3)}e`, cut(3)];
  }
  return [];
}

function plural(word: string, cut: (letters: number) => string): readonly string[] {
  if (word.endsWith("ies") && word.length > 4) return [`${cut(3)}y`, cut(1)];
  if (/(ss|x|z|ch|sh)es$/.test(word)) return [cut(2), cut(1)];
  return /(ss|us|is)$/.test(word) ? [] : [cut(1)];
}

/** `stopp` → `stop`. */
function undoubled(stem: string): readonly string[] {
  return stem.at(-1) === stem.at(-2) ? [stem.slice(0, -1)] : [];
}
