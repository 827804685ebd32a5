/**
 * Matches regular expressions in time linear in the text, whatever the expression: all ways of matching advance
 * together, one character at a time (Pike's machine), so that nothing is tried twice.
 * @module
 */
import { Refusal } from "../refusal.ts";
import { type Assertion, parsePattern, type Part } from "./pattern_tree.ts";

/** A match: where each group begins and ends, in code points; group 0 is the whole. */
export interface Match {
  readonly groups: readonly ({ readonly from: number; readonly to: number } | undefined)[];
}

/** An expression that is ready to match. */
export interface Pattern {
  /** Names of the groups from 1. */
  readonly names: readonly (string | undefined)[];
  /** The leftmost match at or behind `from`; `text` is one code point an item. */
  find(text: readonly string[], from?: number): Match | undefined;
}

/** How an expression is matched, and what that may cost. */
export interface PatternOptions {
  /** Of `i` (ignore case) and `s` (dot matches line ends). */
  readonly flags?: string;
  /** Called with the number of steps taken; may throw. */
  readonly spend?: (steps: number) => void;
}

type Instruction =
  | { readonly op: "char"; readonly test: (char: string) => boolean }
  | { readonly op: "split"; first: number; second: number }
  | { readonly op: "jump"; to: number }
  | { readonly op: "save"; readonly slot: number }
  | { readonly op: "assert"; readonly holds: Condition }
  | { readonly op: "match" };

/** Whether something holds between the characters before and at `at`. */
type Condition = (text: readonly string[], at: number) => boolean;

const MAX_INSTRUCTIONS = 4_000;

/**
 * Makes an expression ready.
 *
 * @throws {Refusal} `invalidArguments` for a mistake or an expression that is too large.
 */
export function makePattern(source: string, { flags = "", spend }: PatternOptions = {}): Pattern {
  const [i, s, u] = [flags.includes("i"), flags.includes("s"), flags.includes("u")];
  const tree = parsePattern(source, { i, s, u });
  const program = compile(tree.part, u ? /^[\p{L}\p{M}\p{N}\p{Pc}]$/u : /^[A-Za-z0-9_]$/);
  return Object.freeze({
    names: tree.names,
    find: (text: readonly string[], from = 0) => simulate(program, { text, from, spend }),
  });
}

/** `word`: what a character of a word is. */
function compile(part: Part, word: RegExp): readonly Instruction[] {
  const program: Instruction[] = [];
  const emit = <T extends Instruction>(instruction: T): T => {
    if (program.length >= MAX_INSTRUCTIONS) {
      throw new Refusal(
        "invalidArguments",
        "Cannot use the pattern: it is too large with its repeats written out",
      );
    }
    program.push(instruction);
    return instruction;
  };
  const write = (node: Part): void => {
    switch (node.kind) {
      case "char":
        emit({ op: "char", test: node.test });
        return;
      case "assert":
        emit({ op: "assert", holds: conditionOf(node.what, word) });
        return;
      case "all":
        node.parts.forEach(write);
        return;
      case "any":
        writeAny(node.parts);
        return;
      case "group":
        emit({ op: "save", slot: node.index * 2 });
        write(node.part);
        emit({ op: "save", slot: node.index * 2 + 1 });
        return;
      case "repeat":
        writeRepeat(node);
        return;
    }
  };
  const writeAny = (parts: readonly Part[]): void => {
    const ends: { to: number }[] = [];
    for (const [at, node] of parts.entries()) {
      if (at === parts.length - 1) {
        write(node);
        break;
      }
      const split = emit({ op: "split", first: program.length + 1, second: 0 });
      write(node);
      ends.push(emit({ op: "jump", to: 0 }));
      split.second = program.length;
    }
    for (const end of ends) end.to = program.length;
  };
  const writeRepeat = (node: Extract<Part, { readonly kind: "repeat" }>): void => {
    for (let count = 0; count < node.least; count += 1) write(node.part);
    if (node.most === Infinity) {
      const start = program.length;
      const split = emit({ op: "split", first: 0, second: 0 });
      write(node.part);
      emit({ op: "jump", to: start });
      branch(split, node.greedy, start + 1);
      return;
    }
    const splits: { first: number; second: number; at: number }[] = [];
    for (let count = node.least; count < node.most; count += 1) {
      const at = program.length;
      splits.push(Object.assign(emit({ op: "split", first: 0, second: 0 }), { at }));
      write(node.part);
    }
    for (const split of splits) branch(split, node.greedy, split.at + 1);
  };
  /** Into the repeat first, or past it first. */
  const branch = (
    split: { first: number; second: number },
    greedy: boolean,
    inside: number,
  ): void => {
    split.first = greedy ? inside : program.length;
    split.second = greedy ? program.length : inside;
  };
  emit({ op: "save", slot: 0 });
  write(part);
  emit({ op: "save", slot: 1 });
  emit({ op: "match" });
  return program;
}

interface Subject {
  readonly text: readonly string[];
  readonly from: number;
  readonly spend: ((steps: number) => void) | undefined;
}

/** One way of matching: where it stands, and what its groups are so far. */
interface Thread {
  readonly at: number;
  readonly slots: readonly number[];
}

function simulate(
  program: readonly Instruction[],
  { text, from, spend }: Subject,
): Match | undefined {
  let threads: Thread[] = [];
  let found: readonly number[] | undefined;
  for (let at = from; at <= text.length; at += 1) {
    const seen = new Set<number>();
    const ready: Thread[] = [];
    for (const thread of threads) follow(program, { thread, text, at, seen, ready });
    // Ways that began further left come first.
    if (found === undefined) {
      follow(program, { thread: { at: 0, slots: [] }, text, at, seen, ready });
    }
    spend?.(ready.length + 1);
    threads = [];
    for (const thread of ready) {
      const instruction = program[thread.at];
      if (instruction?.op === "match") {
        found = thread.slots;
        break;
      }
      const char = text[at];
      if (instruction?.op === "char" && char !== undefined && instruction.test(char)) {
        threads.push({ at: thread.at + 1, slots: thread.slots });
      }
    }
    if (threads.length === 0 && found !== undefined) break;
  }
  return found === undefined ? undefined : { groups: groupsOf(found) };
}

interface Step {
  readonly thread: Thread;
  readonly text: readonly string[];
  readonly at: number;
  readonly seen: Set<number>;
  readonly ready: Thread[];
}

/** Goes on without taking characters; what comes first stays first. */
function follow(program: readonly Instruction[], { thread, text, at, seen, ready }: Step): void {
  const open: Thread[] = [thread];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (seen.has(next.at)) continue;
    seen.add(next.at);
    const instruction = program[next.at];
    switch (instruction?.op) {
      case "jump":
        open.push({ at: instruction.to, slots: next.slots });
        break;
      case "split":
        open.push({ at: instruction.second, slots: next.slots }, {
          at: instruction.first,
          slots: next.slots,
        });
        break;
      case "save": {
        const slots = [...next.slots];
        slots[instruction.slot] = at;
        open.push({ at: next.at + 1, slots });
        break;
      }
      case "assert":
        if (instruction.holds(text, at)) open.push({ at: next.at + 1, slots: next.slots });
        break;
      default:
        ready.push(next);
    }
  }
}

function conditionOf(what: Assertion, word: RegExp): Condition {
  if (what === "start") return (_, at) => at === 0;
  if (what === "end") return (text, at) => at === text.length;
  const isWord = (char: string | undefined): boolean => char !== undefined && word.test(char);
  const edge: Condition = (text, at) => isWord(text[at - 1]) !== isWord(text[at]);
  return what === "edge" ? edge : (text, at) => !edge(text, at);
}

function groupsOf(slots: readonly number[]): Match["groups"] {
  const groups: ({ readonly from: number; readonly to: number } | undefined)[] = [];
  for (let slot = 0; slot < slots.length; slot += 2) {
    const [from, to] = [slots[slot], slots[slot + 1]];
    groups.push(from === undefined || to === undefined ? undefined : { from, to });
  }
  return groups;
}
