/** Ranks tools by how well their words fit a query. A few hundred tools: no index, no dependency. @module */
import type { ToolDescriptor } from "../../contracts/mod.ts";

/** Scripts that put no space between words. */
const UNSPACED = /^[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}]/u;
const PIECES =
  /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}]+|[^\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}]+/gu;

/** A tool, and how well it fits: more is better. */
export interface RankedTool {
  readonly tool: ToolDescriptor;
  readonly score: number;
}

/** Of one tool: its terms, each with its weight. */
type Terms = ReadonlyMap<string, number>;

const NAME = 3;
const PARAMETER = 1.2;
const WORD = 1;
/** A word that comes often counts little more than one that comes once. */
const MOST_WEIGHT = 5;
/** A term that begins like the one that was asked for. */
const ALIKE = 0.5;
const SHORTEST_STEM = 4;
const MOST_TERMS = 64;
/** Words that say nothing of what a tool does. */
const EMPTY: ReadonlySet<string> = new Set(
  ("a an and are as at be by for from has have in into is it its of on or that the this to was " +
    "when which will with you your use used using tool tools mcp server not verified can i me my " +
    "need want how do does please find some any all").split(" "),
);

/** Tools that fit `query`, best first, ties in the order of their names. */
export function rankTools(
  tools: readonly ToolDescriptor[],
  query: string,
): readonly RankedTool[] {
  const asked = [...new Set(termsIn(query))].slice(0, MOST_TERMS);
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
    // A tool that meets more of what was asked goes before one that meets a rare word of it.
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
        Math.min(MOST_WEIGHT, (terms.get(term) ?? 0) + weight / (1 + (terms.get(term) ?? 0))),
      );
    }
  };
  add(tool.name, NAME);
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
    // The gate refuses its calls; a search goes on without it.
    return [];
  }
}

/** Words in small letters without their endings; pairs of signs where a script has no spaces. */
export function termsIn(text: string): readonly string[] {
  const terms: string[] = [];
  const spaced = text.replace(/([a-z0-9])([A-Z])/g, "$1 $2").toLowerCase();
  for (const [run] of spaced.matchAll(/[\p{L}\p{N}\p{M}]+/gu)) {
    for (const [piece] of run.matchAll(PIECES)) {
      if (UNSPACED.test(piece)) terms.push(...pairsOf(piece));
      else if (!EMPTY.has(piece)) terms.push(stem(piece));
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
