/**
 * Patterns matched in time linear in the text, whatever the pattern: a set of states steps through the characters, so
 * that no position is tried twice. Each notation (POSIX, jq, JSON Schema) has a parser of its own to a tree of {@link Part}.
 * @module
 */
import { unreachable } from "../contracts/base/fault.ts";

/** A set of characters, by code point. */
export type CharTest = (code: number) => boolean;

/** A condition on the characters on both sides of a position. */
export type Assertion = "start" | "end" | "wordEdge" | "noWordEdge" | "wordStart" | "wordEnd";

/** One part of a pattern. */
export type Part =
  | { readonly kind: "char"; readonly test: CharTest; readonly exact?: string }
  | { readonly kind: "assert"; readonly what: Assertion }
  | { readonly kind: "all" | "any"; readonly parts: readonly Part[] }
  /** A part whose span `find` reports; groups count from 1. */
  | { readonly kind: "group"; readonly part: Part; readonly index: number }
  | {
    readonly kind: "repeat";
    readonly part: Part;
    readonly least: number;
    /** Infinity for no end. */
    readonly most: number;
    /** Takes as few repeats as possible. */
    readonly lazy?: boolean;
  };

/** A piece of a text, in UTF-16 units. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** A compiled pattern. */
export interface Pattern {
  /** Whether the pattern occurs in the text. */
  test(text: string): boolean;
  /** The leftmost occurrence at or after `from`: group 0 is the whole, then each group that took part. */
  find(text: string, from?: number): readonly (Span | undefined)[] | undefined;
}

/** How to match a pattern, and what matching may cost. */
export interface PatternOptions {
  /** Tells characters of a word from others. */
  readonly word: CharTest;
  /** Prefer the longest of the leftmost occurrences, as POSIX does; default: the alternative that the pattern names first. */
  readonly longest?: boolean;
  /** Most states of the compiled pattern; bounded repeats are expanded. */
  readonly states: number;
  /** Makes the error for a pattern with more states. */
  readonly tooLarge: () => Error;
  /** Told how many steps `find` took; may throw. */
  readonly spend?: ((steps: number) => void) | undefined;
}

/** Most remembered sets of states; past it the memory is emptied. */
const MAX_SETS = 500;

/** A split prefers `next` to `other`. */
type State =
  | { readonly kind: "char"; readonly test: CharTest; next: number }
  | { readonly kind: "split"; next: number; other: number }
  | { readonly kind: "save"; readonly slot: number; next: number }
  | { readonly kind: "assert"; readonly what: Assertion; next: number }
  | { readonly kind: "done" };

/** The neighbour of a position: 0 none, 1 a character of a word, 2 another character. */
type Side = 0 | 1 | 2;

function holds(what: Assertion, before: Side, after: Side): boolean {
  switch (what) {
    case "start":
      return before === 0;
    case "end":
      return after === 0;
    case "wordEdge":
      return (before === 1) !== (after === 1);
    case "noWordEdge":
      return (before === 1) === (after === 1);
    case "wordStart":
      return before !== 1;
    case "wordEnd":
      return after !== 1;
    default:
      return unreachable(what);
  }
}

/** The states of a pattern; state 0 is "done". `start` is the first to enter. */
function compile(
  tree: Part,
  { states: maxStates, tooLarge }: PatternOptions,
): { readonly states: readonly State[]; readonly start: number } {
  const states: State[] = [{ kind: "done" }];
  const add = (state: State): number => {
    if (states.length >= maxStates) throw tooLarge();
    return states.push(state) - 1;
  };
  const split = (inside: number, past: number, lazy = false): State => ({
    kind: "split",
    next: lazy ? past : inside,
    other: lazy ? inside : past,
  });
  /** Builds from the end: the first state of `part`, which continues with `next`. */
  const build = (part: Part, next: number): number => {
    switch (part.kind) {
      case "char":
        return add({ kind: "char", test: part.test, next });
      case "assert":
        return add({ kind: "assert", what: part.what, next });
      case "all":
        return part.parts.reduceRight((after, each) => build(each, after), next);
      case "any":
        return part.parts.map((each) => build(each, next))
          .reduceRight((others, first) => add(split(first, others)));
      case "group": {
        const end = add({ kind: "save", slot: part.index * 2 + 1, next });
        return add({ kind: "save", slot: part.index * 2, next: build(part.part, end) });
      }
      case "repeat": {
        let from = next;
        if (part.most === Infinity) {
          from = add({ kind: "done" });
          states[from] = split(build(part.part, from), next, part.lazy);
        } else {
          for (let n = part.least; n < part.most; n++) {
            from = add(split(build(part.part, from), next, part.lazy));
          }
        }
        for (let n = 0; n < part.least; n++) from = build(part.part, from);
        return from;
      }
      default:
        return unreachable(part);
    }
  };
  return { states, start: build(tree, 0) };
}

/** Compiles a pattern. Throws the error of `tooLarge` for a pattern with too many states. */
export function makePattern(tree: Part, options: PatternOptions): Pattern {
  const { states, start } = compile(tree, options);
  const sideOf = (code: number | undefined): Side =>
    code === undefined ? 0 : options.word(code) ? 1 : 2;
  return Object.freeze({
    test: makeTest(states, { start, sideOf, literal: requiredText(tree) }),
    find: makeFind(states, { start, sideOf, options }),
  });
}

/** A set of states after some character, with the transitions already computed. */
interface Known {
  readonly set: readonly number[];
  readonly before: Side;
  /** Transitions by ASCII character, most of the text; `true` where the pattern has matched. */
  readonly ascii: (Known | true | undefined)[];
  /** Transitions by any other character, and by -1 for the end. */
  readonly leads: Map<number, Known | true>;
}

function makeTest(
  states: readonly State[],
  { start, sideOf, literal }: {
    readonly start: number;
    readonly sideOf: (code: number | undefined) => Side;
    readonly literal: string;
  },
): Pattern["test"] {
  /** All states reached from `set` without consuming a character. */
  const closure = (set: readonly number[], before: Side, after: Side): ReadonlySet<number> => {
    const met = new Set<number>();
    const todo = [...set];
    for (let at = todo.pop(); at !== undefined; at = todo.pop()) {
      if (met.has(at)) continue;
      met.add(at);
      const state = states[at];
      if (state?.kind === "split") todo.push(state.other, state.next);
      else if (state?.kind === "save") todo.push(state.next);
      else if (state?.kind === "assert" && holds(state.what, before, after)) todo.push(state.next);
    }
    return met;
  };

  let known = new Map<string, Known>();
  const remember = (set: readonly number[], before: Side): Known => {
    const key = `${before} ${set.join(" ")}`;
    const old = known.get(key);
    if (old !== undefined) return old;
    if (known.size >= MAX_SETS) known = new Map();
    const made: Known = { set, before, ascii: [], leads: new Map() };
    known.set(key, made);
    return made;
  };

  const lead = (from: Known, code: number): Known | true => {
    const after = sideOf(code < 0 ? undefined : code);
    const reached = closure(from.set, from.before, after);
    if (reached.has(0)) return true;
    const next = new Set([start]);
    for (const at of code < 0 ? [] : reached) {
      const state = states[at];
      if (state?.kind === "char" && state.test(code)) next.add(state.next);
    }
    return remember([...next].sort((a, b) => a - b), after);
  };

  /** {@link lead}, with memory. */
  const learn = (from: Known, code: number): Known | true => {
    const old = from.leads.get(code);
    if (old !== undefined) return old;
    const next = lead(from, code);
    if (code >= 0 && code < 128) from.ascii[code] = next;
    else if (from.leads.size < MAX_SETS) from.leads.set(code, next);
    return next;
  };

  return (text) => {
    if (literal !== "" && !text.includes(literal)) return false;
    const length = text.length;
    let now = remember([start], 0);
    for (let at = 0; at < length; at++) {
      const unit = text.charCodeAt(at);
      let next = unit < 128 ? now.ascii[unit] : undefined;
      if (next === undefined) {
        const code = unit < 128 ? unit : text.codePointAt(at) ?? unit;
        next = learn(now, code);
        if (code > 0xffff) at++;
      }
      if (next === true) return true;
      now = next;
    }
    return learn(now, -1) === true;
  };
}

/** One alternative under way: its state, where it began, and the spans of its groups so far. */
interface Thread {
  readonly state: number;
  readonly slots: readonly number[];
}

function makeFind(
  states: readonly State[],
  { start, sideOf, options: { longest = false, spend } }: {
    readonly start: number;
    readonly sideOf: (code: number | undefined) => Side;
    readonly options: PatternOptions;
  },
): Pattern["find"] {
  /** Advances without consuming characters, in order of preference; the first to reach a state keeps it. */
  const follow = (
    thread: Thread,
    { at, seen, ready, beside }: {
      readonly at: number;
      readonly seen: Set<number>;
      readonly ready: Thread[];
      readonly beside: readonly [before: Side, after: Side];
    },
  ): void => {
    const open: Thread[] = [thread];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (seen.has(next.state)) continue;
      seen.add(next.state);
      const { slots } = next;
      const state = states[next.state];
      if (state?.kind === "split") {
        open.push({ state: state.other, slots }, { state: state.next, slots });
      } else if (state?.kind === "save") {
        const saved = [...slots];
        saved[state.slot] = at;
        open.push({ state: state.next, slots: saved });
      } else if (state?.kind !== "assert") ready.push(next);
      else if (holds(state.what, ...beside)) open.push({ state: state.next, slots });
    }
  };

  return (text, from = 0) => {
    let threads: Thread[] = [];
    let found: readonly number[] | undefined;
    let before = from === 0 ? 0 as Side : sideOf(codeBefore(text, from));
    for (let at = from;;) {
      const code = at < text.length ? text.codePointAt(at) : undefined;
      const after = sideOf(code);
      const ready: Thread[] = [];
      const step = { at, seen: new Set<number>(), ready, beside: [before, after] as const };
      for (const thread of threads) follow(thread, step);
      // Alternatives that began further left come first.
      if (found === undefined) follow({ state: start, slots: [at] }, step);
      spend?.(ready.length + 1);
      threads = [];
      for (const { state: index, slots } of ready) {
        const state = states[index];
        const [began = 0] = slots;
        if (longest && found !== undefined && began > (found[0] ?? 0)) continue;
        if (state?.kind === "done") {
          found = [began, at, ...slots.slice(2)];
          if (!longest) break;
        } else if (code !== undefined && state?.kind === "char" && state.test(code)) {
          threads.push({ state: state.next, slots });
        }
      }
      if (code === undefined || (found !== undefined && threads.length === 0)) break;
      before = after;
      at += code > 0xffff ? 2 : 1;
    }
    return found === undefined ? undefined : spansOf(found);
  };
}

function spansOf(slots: readonly number[]): readonly (Span | undefined)[] {
  const spans: (Span | undefined)[] = [];
  for (let slot = 0; slot < slots.length; slot += 2) {
    const [from, to] = [slots[slot], slots[slot + 1]];
    spans.push(from === undefined || to === undefined ? undefined : { from, to });
  }
  return spans;
}

/** The longest text that every match surely holds; empty when none is evident. */
function requiredText(tree: Part): string {
  if (tree.kind === "char") return tree.exact ?? "";
  if (tree.kind !== "all") return "";
  let best = "", run = "";
  for (const part of tree.parts) {
    if (part.kind === "assert") continue;
    const exact = part.kind === "char" ? part.exact : undefined;
    const text = exact ?? (part.kind === "all" ? requiredText(part) : "");
    run = exact === undefined ? "" : run + exact;
    for (const found of [run, text]) if (found.length > best.length) best = found;
  }
  return best;
}

function codeBefore(text: string, at: number): number | undefined {
  const low = text.charCodeAt(at - 1);
  return low >= 0xdc00 && low <= 0xdfff ? text.codePointAt(at - 2) : low;
}
