/** Ranks tools by how well their names, descriptions and parameters fit a query. Used by tool_search.ts. @module */
import type { ToolDescriptor } from "../../../contracts/tool/tool.ts";

/**
 * Scripts searched by pairs of characters. Korean puts spaces between words, but joins particles to them. Thai has no
 * spaces either, but its runs are searched whole; memory-wiki/ has lists of its own, by which it stores terms.
 */
const PAIRED = /^[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}]/u;
const PIECES =
  /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}]+|[^\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}]+/gu;

/** A tool and its score; higher is better. */
interface RankedTool {
  readonly tool: ToolDescriptor;
  readonly score: number;
}

/** The terms of one tool, with their weights. */
type Terms = ReadonlyMap<string, number>;

const NAME_WEIGHT = 3;
const PARAMETER = 1.2;
const WORD = 1;
/** Bounds the weight of a repeated word, which counts little more than a single one. */
const MAX_WEIGHT = 5;
/** Factor for a term that only shares its beginning with the query's. */
const ALIKE = 0.5;
const SHORTEST_STEM = 4;
const MAX_TERMS = 64;
/** Words without meaning for the search. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  ("a an and are as at be by for from has have in into is it its of on or that the this to was " +
    "when which will with you your use used using tool tools mcp server not verified can i me my " +
    "need want how do does please find some any all").split(" "),
);

/** Tools that fit `query`, best first, ties by name. */
export function rankTools(
  tools: readonly ToolDescriptor[],
  query: string,
): readonly RankedTool[] {
  const asked = [...new Set(termsIn(query))].slice(0, MAX_TERMS);
  const all = tools.map((tool) => ({ tool, terms: termsOf(tool) }));
  const weights = new Map<string, number>(asked.map((term) => {
    const holding = all.filter(({ terms }) => fit(terms, term) > 0).length;
    return [term, Math.log(1 + (tools.length - holding + 0.5) / (holding + 0.5))];
  }));
  return all.map(({ tool, terms }) => {
    let score = 0, met = 0;
    for (const term of asked) {
      const here = fit(terms, term);
      if (here > 0) met += 1;
      score += here * (weights.get(term) ?? 0);
    }
    // A tool that matches more of the query ranks above one that matches a rare word of it.
    return { tool, score: score * (asked.length === 0 ? 0 : 0.5 + met / asked.length) };
  }).filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || (a.tool.name < b.tool.name ? -1 : 1));
}

function fit(terms: Terms, term: string): number {
  const exact = terms.get(term);
  if (exact !== undefined) return exact;
  if (term.length < SHORTEST_STEM) return 0;
  let best = 0;
  for (const [other, weight] of terms) {
    if (other.length < SHORTEST_STEM) continue;
    if (other.startsWith(term) || term.startsWith(other)) best = Math.max(best, weight * ALIKE);
  }
  return best;
}

const kept = new WeakMap<ToolDescriptor, Terms>();

function termsOf(tool: ToolDescriptor): Terms {
  const before = kept.get(tool);
  if (before !== undefined) return before;
  const terms = new Map<string, number>();
  const add = (text: string, weight: number): void => {
    for (const term of termsIn(text)) {
      terms.set(
        term,
        Math.min(MAX_WEIGHT, (terms.get(term) ?? 0) + weight / (1 + (terms.get(term) ?? 0))),
      );
    }
  };
  add(tool.name, NAME_WEIGHT);
  add(tool.description, WORD);
  for (const name of parametersOf(tool.paramSchema)) add(name, PARAMETER);
  if (Object.isFrozen(tool)) kept.set(tool, terms);
  return terms;
}

function parametersOf(paramSchema: string): readonly string[] {
  try {
    const schema: unknown = JSON.parse(paramSchema);
    if (typeof schema !== "object" || schema === null || !("properties" in schema)) return [];
    return Object.keys(Object(schema.properties));
  } catch {
    // The gate refuses calls of such a tool; the search ignores its parameters.
    return [];
  }
}

/** Lower-case word stems; pairs of characters in the scripts of {@link PAIRED}. */
export function termsIn(text: string): readonly string[] {
  const terms: string[] = [];
  const spaced = text.replace(/([a-z0-9])([A-Z])/g, "$1 $2").toLowerCase();
  for (const [run] of spaced.matchAll(/[\p{L}\p{N}\p{M}]+/gu)) {
    for (const [piece] of run.matchAll(PIECES)) {
      if (PAIRED.test(piece)) terms.push(...pairsOf(piece));
      else if (!STOP_WORDS.has(piece)) terms.push(stem(piece));
    }
  }
  return terms;
}

function pairsOf(run: string): readonly string[] {
  const signs = [...run];
  if (signs.length === 1) return signs;
  return signs.slice(1).map((sign, n) => `${signs[n]}${sign}`);
}

function stem(word: string): string {
  if (word.length < 4) return word;
  return word.replace(/ies$/, "y").replace(/(?<!s)s$/, "").replace(/(?<=[a-z]{3})(?:ing|ed)$/, "")
    .replace(/(?<=[a-z]{3})e$/, "");
}
