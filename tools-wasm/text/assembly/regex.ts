// A regular expression, ready to look for. All of it takes time proportional to the text times the program's length.

import { fail } from "remit/plugin";
import { Needle } from "./find";
import { Dfa } from "./regex_dfa";
import { RegexParser } from "./regex_parse";
import { Do, MAX_INSTRUCTIONS, Program } from "./regex_program";
import { Context, isWord, Threads } from "./regex_threads";
import { Node, Part } from "./regex_tree";

/** Most bytes of an expression. */
const MAX_BYTES = 1_000;

export class Regex {
  private dfa: Dfa;
  private waiting: StaticArray<u16>;
  private waitingBegan: StaticArray<i32>;
  private threads: Threads;

  constructor(private program: Program, readonly needed: Needle | null) {
    this.dfa = new Dfa(program);
    this.threads = new Threads(program);
    this.waiting = new StaticArray<u16>(program.length);
    this.waitingBegan = new StaticArray<i32>(program.length);
  }

  /** Instructions of the program: what one byte costs at most, a few times over. */
  get instructions(): i32 {
    return this.program.length;
  }

  /** Whether the line holds a match. */
  matches(at: usize, bytes: i32): bool {
    return this.dfa.matches(at, bytes);
  }

  /** Where in the line the leftmost match begins; -1 when there is none. */
  begins(line: usize, bytes: i32): i32 {
    const program = this.program;
    const threads = this.threads;
    let best = -1;
    let waiting = 0;
    for (let at = 0; at <= bytes; at++) {
      const before = at > 0 && isWord(load<u8>(line + at - 1));
      const edge = before != (at < bytes && isWord(load<u8>(line + at)));
      threads.clear();
      for (let i = 0; i < waiting; i++) {
        threads.add(
          this.waiting[i],
          this.waitingBegan[i],
          Context.Known,
          at == 0,
          at == bytes,
          edge,
        );
      }
      if (best < 0) threads.add(program.start, at, Context.Known, at == 0, at == bytes, edge);
      waiting = 0;
      // Threads are in the order in which they began: what comes after a match began later.
      for (let i = 0; i < threads.length; i++) {
        const place = threads.list[i];
        const began = threads.began[i];
        if (best >= 0 && began >= best) break;
        if (program.does[place] == Do.Match) {
          best = began;
          break;
        }
        if (at == bytes) continue;
        const byte = load<u8>(line + at);
        if (byte < program.low[place] || byte > program.high[place]) continue;
        this.waiting[waiting] = program.next[place];
        this.waitingBegan[waiting++] = began;
      }
      if (best >= 0 && waiting == 0) break;
    }
    return best;
  }
}

/** Reads an expression; fails the call and gives null when it is none, or too large. */
export function parseRegex(utf8: Uint8Array, ignoreCase: bool): Regex | null {
  const parser = new RegexParser(String.UTF8.decodeUnsafe(utf8.dataStart, utf8.length), ignoreCase);
  if (utf8.length > MAX_BYTES) {
    fail(
      "invalidArguments",
      "Cannot search: the expression has more than " + MAX_BYTES.toString() + " bytes",
    );
    return null;
  }
  const tree = parser.parse();
  if (parser.wrong != "") {
    fail("invalidArguments", "Cannot search: " + parser.wrong);
    return null;
  }
  const program = new Program(tree);
  if (program.tooLong) {
    fail(
      "tooLarge",
      "Cannot search: the expression, its repeats written out, has more than " +
        MAX_INSTRUCTIONS.toString() + " steps",
    );
    return null;
  }
  return new Regex(program, neededBy(tree, ignoreCase));
}

/** The longest text that every match holds, if there is one: lines without it need no second look. */
function neededBy(tree: Node, ignoreCase: bool): Needle | null {
  const runs: string[] = [""];
  collect(tree, ignoreCase, runs);
  let longest = "";
  for (let i = 0; i < runs.length; i++) if (runs[i].length > longest.length) longest = runs[i];
  if (longest == "") return null;
  return new Needle(Uint8Array.wrap(String.UTF8.encode(longest)), ignoreCase);
}

function collect(node: Node, ignoreCase: bool, runs: string[]): void {
  const point = pointOf(node, ignoreCase);
  if (point >= 0) runs[runs.length - 1] += String.fromCodePoint(point);
  else if (node.part == Part.Sequence) {
    for (let i = 0; i < node.items.length; i++) collect(node.items[i], ignoreCase, runs);
  } else if (node.part == Part.Repeat && node.least > 0) {
    runs.push("");
    collect(node.items[0], ignoreCase, runs);
    runs.push("");
  } else if (node.part != Part.Place) runs.push("");
}

/** The character that `node` is, small when its case does not matter; -1 when it may be several. */
function pointOf(node: Node, ignoreCase: bool): i32 {
  if (node.onlyPoint >= 0 || !ignoreCase) {
    // Half of a surrogate pair is in no UTF-8.
    return node.onlyPoint >= 0xd800 && node.onlyPoint < 0xe000 ? -1 : node.onlyPoint;
  }
  const ranges = node.ranges;
  if (node.part != Part.Character || ranges.length != 4) return -1;
  const pair = ranges[0] == ranges[1] && ranges[2] == ranges[3] && ranges[0] + 0x20 == ranges[2];
  return pair && ranges[0] >= 0x41 && ranges[0] <= 0x5a ? ranges[2] : -1;
}
