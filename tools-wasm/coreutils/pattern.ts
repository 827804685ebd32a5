/**
 * Matching in time linear in the text, whatever the pattern: a set of states steps through the
 * characters, and sets that were met before are remembered.
 * @module
 */
import { unreachable } from "../../contracts/base/fault.ts";
import { UsageError } from "./faults.ts";
import {
  type Assertion,
  type CharTest,
  isWord,
  literalNode,
  type Node,
  parsePattern,
} from "./pattern_parse.ts";

/** A part of a line, in UTF-16 units. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** A pattern that is ready. */
export interface Pattern {
  /** Tells whether it occurs in the line. */
  test(line: string): boolean;
  /** The leftmost occurrence that begins at or after `from`, the longest of those. */
  find(line: string, from: number): Span | undefined;
}

/** Most states of a pattern. */
const STATES = 10_000;
/** Most remembered sets; then they are forgotten and found again. */
const SETS = 500;

type State =
  | { readonly kind: "char"; readonly test: CharTest; next: number }
  | { readonly kind: "split"; next: number; other: number }
  | { readonly kind: "assert"; readonly what: Assertion; next: number }
  | { readonly kind: "done" };

/** What stands beside a place: no character, one of a word, another. */
type Side = 0 | 1 | 2;

function sideOf(code: number | undefined): Side {
  return code === undefined ? 0 : isWord(code) ? 1 : 2;
}

function holds(what: Assertion, before: Side, after: Side): boolean {
  switch (what) {
    case "lineStart":
      return before === 0;
    case "lineEnd":
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

/** The states of a pattern; the first to enter is `start`. Throws {@link UsageError} past the limit. */
function compile(tree: Node): { readonly states: readonly State[]; readonly start: number } {
  const states: State[] = [{ kind: "done" }];
  const add = (state: State): number => {
    if (states.length >= STATES) throw new UsageError("the pattern is too large");
    return states.push(state) - 1;
  };
  /** Builds from the end: returns where a node begins that goes on to `next`. */
  const build = (node: Node, next: number): number => {
    switch (node.kind) {
      case "char":
        return add({ kind: "char", test: node.test, next });
      case "assert":
        return add({ kind: "assert", what: node.what, next });
      case "all":
        return node.parts.reduceRight((after, part) => build(part, after), next);
      case "any":
        return node.parts.map((part) => build(part, next)).reduce((other, first) =>
          add({ kind: "split", next: first, other })
        );
      case "repeat": {
        let from = next;
        if (node.most === Infinity) {
          const loop: State = { kind: "split", next: 0, other: next };
          from = add(loop);
          loop.next = build(node.part, from);
        } else {
          for (let n = node.least; n < node.most; n++) {
            from = add({ kind: "split", next: build(node.part, from), other: next });
          }
        }
        for (let n = 0; n < node.least; n++) from = build(node.part, from);
        return from;
      }
      default:
        return unreachable(node);
    }
  };
  return { states, start: build(tree, 0) };
}

/** A set of states after some character, with what it leads to: what was found out before. */
interface Known {
  readonly set: readonly number[];
  readonly before: Side;
  /** By the next character; `true` where the pattern has matched. Few texts leave ASCII. */
  readonly ascii: (Known | true | undefined)[];
  /** By any other character, and -1 for the end. */
  readonly leads: Map<number, Known | true>;
}

/** Makes a pattern ready. Throws {@link UsageError} for one of more than 10,000 states. */
export function makePattern(tree: Node): Pattern {
  const { states, start } = compile(tree);

  /** Every state reached from `set` without a character, `done` first asked by the caller. */
  const closure = (set: readonly number[], before: Side, after: Side): ReadonlySet<number> => {
    const met = new Set<number>();
    const todo = [...set];
    for (let at = todo.pop(); at !== undefined; at = todo.pop()) {
      if (met.has(at)) continue;
      met.add(at);
      const state = states[at];
      if (state?.kind === "split") todo.push(state.other, state.next);
      else if (state?.kind === "assert" && holds(state.what, before, after)) todo.push(state.next);
    }
    return met;
  };

  let known = new Map<string, Known>();
  const remember = (set: readonly number[], before: Side): Known => {
    const key = `${before} ${set.join(" ")}`;
    const old = known.get(key);
    if (old !== undefined) return old;
    if (known.size >= SETS) known = new Map();
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

  /** As `lead`, and remembers it. */
  const learn = (from: Known, code: number): Known | true => {
    const old = from.leads.get(code);
    if (old !== undefined) return old;
    const next = lead(from, code);
    if (code >= 0 && code < 128) from.ascii[code] = next;
    else if (from.leads.size < SETS) from.leads.set(code, next);
    return next;
  };

  const literal = requiredText(tree);
  const test = (line: string): boolean => {
    if (literal !== "" && !line.includes(literal)) return false;
    const length = line.length;
    let now = remember([start], 0);
    for (let at = 0; at < length; at++) {
      const unit = line.charCodeAt(at);
      let next = unit < 128 ? now.ascii[unit] : undefined;
      if (next === undefined) {
        const code = unit < 128 ? unit : line.codePointAt(at) ?? unit;
        next = learn(now, code);
        if (code > 0xffff) at++;
      }
      if (next === true) return true;
      now = next;
    }
    return learn(now, -1) === true;
  };

  const find = (line: string, from: number): Span | undefined => {
    // Each state carries where its attempt began; of two that meet, the one further left stays.
    let now = new Map<number, number>();
    let best: Span | undefined;
    let before = from === 0 ? 0 as Side : sideOf(codeBefore(line, from));
    for (let at = from;;) {
      const code = at < line.length ? line.codePointAt(at) : undefined;
      const after = sideOf(code);
      if (best === undefined && !now.has(start)) now.set(start, at);
      const reached = new Map<number, number>();
      const oldest = [...now].sort(([, a], [, b]) => a - b);
      for (const [state, began] of oldest) {
        if (best !== undefined && began > best.from) break;
        spread(state, began, { reached, before, after });
      }
      const done = reached.get(0);
      if (done !== undefined && (best === undefined || done <= best.from)) {
        best = { from: done, to: at };
      }
      if (code === undefined) return best;
      now = new Map();
      for (const [index, began] of reached) {
        const state = states[index];
        if (state?.kind !== "char" || !state.test(code)) continue;
        if (began < (now.get(state.next) ?? Infinity)) now.set(state.next, began);
      }
      if (best !== undefined && now.size === 0) return best;
      before = after;
      at += code > 0xffff ? 2 : 1;
    }
  };

  const spread = (
    from: number,
    began: number,
    { reached, before, after }: {
      readonly reached: Map<number, number>;
      readonly before: Side;
      readonly after: Side;
    },
  ): void => {
    const todo = [from];
    for (let at = todo.pop(); at !== undefined; at = todo.pop()) {
      if (reached.has(at)) continue;
      reached.set(at, began);
      const state = states[at];
      if (state?.kind === "split") todo.push(state.other, state.next);
      else if (state?.kind === "assert" && holds(state.what, before, after)) todo.push(state.next);
    }
  };

  return Object.freeze({ test, find });
}

/** The longest text that every match holds, as far as it is plain to see; empty when none is. */
function requiredText(tree: Node): string {
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

function codeBefore(line: string, at: number): number | undefined {
  const low = line.charCodeAt(at - 1);
  return low >= 0xdc00 && low <= 0xdfff ? line.codePointAt(at - 2) : low;
}

// Names with `*`, `?` and `[…]`, matched in time linear in the pattern for each character.

/** Tells whether a whole name matches; `*` matches `/` too, as in find. */
export function makeNameTest(glob: string, ignoreCase: boolean): (name: string) => boolean {
  const parts: Node[] = [{ kind: "assert", what: "lineStart" }];
  for (let at = 0; at < glob.length;) {
    const close = glob[at] === "[" ? setEnd(glob, at + 1) : -1;
    const char = String.fromCodePoint(glob.codePointAt(at) ?? 0);
    let used = char.length;
    if (char === "*") parts.push({ kind: "repeat", part: ANY, least: 0, most: Infinity });
    else if (char === "?") parts.push(ANY);
    else if (close > 0) {
      used = close + 1 - at;
      const set = glob.slice(at, at + used).replace(/^\[!/, "[^");
      parts.push(parsePattern(set, { extended: false, ignoreCase }));
    } else {
      const escaped = char === "\\" ? glob[at + 1] : undefined;
      if (escaped !== undefined) used = 2;
      parts.push(literalNode(escaped ?? char, ignoreCase));
    }
    at += used;
  }
  parts.push({ kind: "assert", what: "lineEnd" });
  return makePattern({ kind: "all", parts }).test;
}

const ANY: Node = { kind: "char", test: () => true };

/** Where the `]` of a set stands whose words begin at `from`; -1 where it has none. */
function setEnd(glob: string, from: number): number {
  let at = from + (glob[from] === "!" || glob[from] === "^" ? 1 : 0);
  // Right at the beginning it is one of the set.
  if (glob[at] === "]") at++;
  for (; at < glob.length; at++) {
    if (glob[at] === "]") return at;
    if (!glob.startsWith("[:", at)) continue;
    const close = glob.indexOf(":]", at + 2);
    if (close >= 0) at = close + 1;
  }
  return -1;
}
