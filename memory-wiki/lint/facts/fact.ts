/** What a claim states, as far as rules can tell: subject terms, quantities, dates, yes or no. @module */
import { stemOf } from "../../search/stem.ts";
import { type Dated, datesClash, monthOf, readMonthDate, type Role, ROLES } from "./dates.ts";
import {
  type Bound,
  numberWord,
  quantitiesClash,
  type Quantity,
  readQuantity,
} from "./quantities.ts";
import { type Token, tokensOf } from "./tokens.ts";
import {
  DIRECTIONAL,
  HYPOTHETICAL,
  NEGATIONS,
  OFTEN,
  ONCE,
  OPPOSITE,
  QUANTIFIERS,
  SAME,
  STOP,
} from "./vocabulary.ts";

const PHRASES: readonly (readonly [Bound, readonly string[]])[] = ([
  ["atMost", "no more than"],
  ["atMost", "not more than"],
  ["atMost", "at most"],
  ["atMost", "up to"],
  ["atMost", "as much as"],
  ["atMost", "as many as"],
  ["atMost", "less than"],
  ["atMost", "fewer than"],
  ["atMost", "not exceed"],
  ["atMost", "below"],
  ["atMost", "under"],
  ["atMost", "höchstens"],
  ["atLeast", "no less than"],
  ["atLeast", "no fewer than"],
  ["atLeast", "not less than"],
  ["atLeast", "at least"],
  ["atLeast", "more than"],
  ["atLeast", "greater than"],
  ["atLeast", "over"],
  ["atLeast", "above"],
  ["atLeast", "mindestens"],
  ["nearly", "approximately"],
  ["nearly", "roughly"],
  ["nearly", "about"],
  ["nearly", "around"],
  ["nearly", "nearly"],
  ["nearly", "almost"],
  ["nearly", "circa"],
  ["nearly", "ca"],
  ["nearly", "some"],
  ["nearly", "etwa"],
  ["is", "exactly"],
  ["is", "precisely"],
] as const).map(([bound, phrase]) => [bound, phrase.split(" ")]);

const BY_FIRST = new Map<string, (readonly [Bound, readonly string[]])[]>();
for (const phrase of PHRASES) {
  const first = phrase[1][0] ?? "";
  BY_FIRST.set(first, [...(BY_FIRST.get(first) ?? []), phrase]);
}

const MARKS: Readonly<Record<string, Bound>> = Object.freeze({
  "<": "atMost",
  "≤": "atMost",
  ">": "atLeast",
  "≥": "atLeast",
  "~": "nearly",
  "≈": "nearly",
});

function isNumber(token: Token | undefined): boolean {
  return token?.kind === "number" ||
    token?.kind === "word" && numberWord(token.text) !== undefined;
}

/** The bound that begins at token `at`, and how many tokens say it; undefined when no number follows. */
function comparatorAt(
  tokens: readonly Token[],
  at: number,
): { readonly bound: Bound; readonly length: number } | undefined {
  const token = tokens[at];
  if (token?.kind === "mark") {
    const bound = Object.hasOwn(MARKS, token.text) ? MARKS[token.text] : undefined;
    if (bound === undefined) return undefined;
    const next = tokens[at + 1];
    const length = next?.kind === "mark" && next.text === "=" ? 2 : 1;
    return isNumber(tokens[at + length]) ? { bound, length } : undefined;
  }
  if (token?.kind !== "word") return undefined;
  const phrases = BY_FIRST.get(token.text);
  if (phrases === undefined) return undefined;
  for (const [bound, words] of phrases) {
    const fits = words.every((word, index) => {
      const other = tokens[at + index];
      return other?.kind === "word" && other.text === word;
    });
    if (fits && isNumber(tokens[at + words.length])) return { bound, length: words.length };
  }
  return undefined;
}

/** A claim in the form in which two of them compare. */
export interface Fact {
  /** Its terms, ascending: claims about the same have the same. */
  readonly key: string;
  /** Its terms in their order. */
  readonly order: string;
  readonly quantities: readonly Quantity[];
  readonly dates: readonly Dated[];
  readonly negative: boolean;
  /** Says "some", "may" and the like: its negation may be true as well. */
  readonly hedged: boolean;
  /** Says what may or must be: `strict` where a negation of it leaves no choice. */
  readonly modal: "may" | "strict" | undefined;
  readonly past: boolean;
  /** Its word order matters beyond its terms. */
  readonly ordered: boolean;
}

const FEWEST_TERMS = 2;
const MAX_TERMS = 24;
const PAST = new Set([
  "was",
  "were",
  "did",
  "had",
  "formerly",
  "previously",
  "originally",
  "didn't",
]);
/** Say what may or must be: one term, so that a permission and its ban are about the same. */
const MODALS = new Set(["may", "can", "must", "shall"]);
const CAN_NOT = new Set(["cannot", "can't"]);
const PARTIAL = new Set([
  "only",
  "just",
  "merely",
  "necessarily",
  "always",
  "all",
  "every",
  "each",
]);
const BE = new Set(["is", "are", "was", "were", "be", "been", "being", "gets", "got"]);

function canonical(term: string): string {
  return Object.hasOwn(SAME, term) ? SAME[term] ?? term : term;
}

const COMPARABLE = /\p{N}|\b(?:may|must|shall|can|not|no|never|none|cannot)\b|n't\b|nicht|kein/iu;

/** Whether a claim holds a number or a negation: without either it agrees with whatever it cites. */
export function isComparable(claim: string): boolean {
  return COMPARABLE.test(claim);
}

/** Reads a claim; undefined when it asks, supposes, or says too little or too much to be compared. */
export function factOf(claim: string): Fact | undefined {
  const tokens = tokensOf(claim);
  if (tokens.length === 0 || /[?？]\s*$/u.test(claim)) return undefined;
  const terms: string[] = [];
  const quantities: Quantity[] = [];
  const dates: Dated[] = [];
  let negations = 0;
  let hedged = false;
  let modal: Fact["modal"];
  let past = false;
  let directional = false;
  let names = 0;
  let swapAt: number | undefined;
  let bound: Bound = "is";
  let role: Role = "at";

  const push = (term: string): void => {
    terms.push(term);
    if (swapAt === undefined || terms.length <= swapAt) return;
    // "timeout of a lease" is "lease timeout".
    const [moved = ""] = terms.splice(-1, 1);
    terms.splice(swapAt - 1, 0, moved);
    swapAt = undefined;
  };

  for (let at = 0; at < tokens.length;) {
    const token = tokens[at];
    if (token === undefined) break;
    const comparator = comparatorAt(tokens, at);
    if (comparator !== undefined) {
      bound = comparator.bound;
      at += comparator.length;
      continue;
    }
    const dated = readMonthDate(tokens, at);
    if (dated !== undefined) {
      dates.push({ role, value: dated.value });
      role = "at";
      at += dated.length;
      continue;
    }
    if (token.kind === "mark") {
      at += 1;
      continue;
    }
    const read = readQuantity(tokens, at, bound);
    if (read !== undefined) {
      bound = "is";
      at += read.length;
      if (read.kind === "quantity") quantities.push(read.quantity);
      else if (read.kind === "name") {
        const head = terms.pop();
        push(`${head ?? ""}#${read.text}`);
      } else push(`#${read.text}`);
      continue;
    }
    at += 1;
    if (token.kind !== "word") {
      push(`#${token.text}`);
      continue;
    }
    const { text } = token;
    const next = wordAt(tokens, at);
    if (HYPOTHETICAL.has(text)) return undefined;
    if (PAST.has(text) || finitePast(tokens, at - 1)) past = true;
    if (DIRECTIONAL.has(text)) directional = true;
    if (token.capital && at > 1) names += 1;
    if (Object.hasOwn(ROLES, text)) role = ROLES[text] ?? "at";
    if (NEGATIONS.has(text)) {
      if (PARTIAL.has(next ?? "")) hedged = true;
      else negations += 1;
      if (text === "no" && next === "longer" || next === "yet") at += 1;
      if (CAN_NOT.has(text)) {
        modal = "strict";
        push("can");
      }
      continue;
    }
    if (MODALS.has(text)) {
      // "must not", "may never", "cannot" forbid; "may not" may also be a doubt.
      const forbids = next === "never" || (next === "not" && text !== "may" && text !== "can");
      modal = forbids || text === "must" || text === "shall" ? "strict" : modal ?? "may";
      push("can");
      continue;
    }
    if (QUANTIFIERS.has(text)) hedged = true;
    if (text === "of" && terms.length > 0) swapAt = terms.length;
    if (STOP.has(text)) continue;
    if (token.capital && monthOf(text) !== undefined) {
      dates.push({ role, value: `--${monthOf(text)}` });
      continue;
    }
    const root = canonical(stemOf(text));
    const opposite = Object.hasOwn(OPPOSITE, root) ? OPPOSITE[root] : undefined;
    if (opposite !== undefined) negations += 1;
    push(opposite ?? root);
  }

  const distinct = new Set(terms);
  if (distinct.size < FEWEST_TERMS || distinct.size > MAX_TERMS) return undefined;
  return {
    key: [...distinct].sort().join(" "),
    order: terms.join(" "),
    quantities,
    dates,
    negative: negations % 2 === 1,
    hedged,
    modal,
    past,
    ordered: directional || names > 1,
  };
}

function wordAt(tokens: readonly Token[], at: number): string | undefined {
  const token = tokens[at];
  return token?.kind === "word" ? token.text : undefined;
}

/** `expired` as a verb of its own: not after "is", nor before what it describes. */
function finitePast(tokens: readonly Token[], at: number): boolean {
  const text = wordAt(tokens, at) ?? "";
  if (!text.endsWith("ed") || !/^[a-z]{3,}ed$/.test(text) || text.endsWith("eed")) return false;
  const before = [wordAt(tokens, at - 1), wordAt(tokens, at - 2)];
  if (before.some((word) => word !== undefined && BE.has(word))) return false;
  return before[0] !== undefined && !STOP.has(before[0]);
}

// Whether two facts cannot both be right, and in what. Precise rather than eager.

/** In what two facts differ. */
export type Clash = "number" | "date" | "negation";

/** Says in what `a` and `b`, which have one key, contradict each other; undefined when they may both be right. */
export function clashOf(a: Fact, b: Fact): Clash | undefined {
  if (a.key !== b.key) return undefined;
  if (a.order !== b.order && (a.ordered || b.ordered)) return undefined;
  if (!sameUnits(a, b) || a.dates.length !== b.dates.length) return undefined;
  const numbers = pairs(a.quantities, b.quantities, ({ unit }) => unit)
    .filter(([one, other]) => quantitiesClash(one, other)).length;
  const dates = a.dates.filter((date, index) => {
    const other = b.dates[index];
    return other !== undefined && (date.role !== other.role || datesClash(date, other));
  });
  if (a.negative !== b.negative) {
    if (numbers > 0 || dates.length > 0 || a.hedged || b.hedged || a.past !== b.past) {
      return undefined;
    }
    // "It may be late" and "it may not be late" are both a doubt.
    if (a.modal !== undefined && (a.negative ? a : b).modal !== "strict") return undefined;
    return a.order === b.order ? "negation" : undefined;
  }
  if (numbers === 1 && dates.length === 0 && a.past === b.past) return "number";
  if (numbers > 0 || dates.length !== 1) return undefined;
  const [only] = dates;
  const other = only === undefined ? undefined : b.dates[a.dates.indexOf(only)];
  if (only?.role !== other?.role || a.negative || !happensOnce(a, only?.role)) return undefined;
  return "date";
}

/** Two dates for a thing that happens again and again are both right. */
function happensOnce({ key }: Fact, role: Role | undefined): boolean {
  const terms = key.split(" ");
  if (terms.some((term) => OFTEN.has(term))) return false;
  // What lasts until a day ends once.
  return (role !== undefined && role !== "at") || terms.some((term) => ONCE.has(term));
}

function sameUnits(a: Fact, b: Fact): boolean {
  if (a.quantities.length !== b.quantities.length) return false;
  const units = (fact: Fact): string => fact.quantities.map(({ unit }) => unit).sort().join(" ");
  return units(a) === units(b);
}

/** Pairs of the same unit, in the order in which they were said. */
function pairs<T>(
  a: readonly T[],
  b: readonly T[],
  key: (item: T) => string,
): readonly (readonly [T, T])[] {
  const left = b.slice();
  return a.flatMap((one) => {
    const at = left.findIndex((other) => key(other) === key(one));
    const other = left[at];
    if (other === undefined) return [];
    left.splice(at, 1);
    return [[one, other] as const];
  });
}
