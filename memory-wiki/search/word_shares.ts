/** What BM25 makes of each word of each passage: counted when Orama asks, because most passages never are by one process. @module */
import type { Ranking } from "./ranking.ts";

/** Ends each word, so that Orama's search by prefix finds that word alone; no term holds it, nor does any property of an object. */
export const END = "|";
const SPACE = 32;
/** Words of a passage that are counted one by one. */
const FEW = 4;

/** The words of a field, which are joined by spaces. */
export function wordsOf(text: string): readonly string[] {
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
