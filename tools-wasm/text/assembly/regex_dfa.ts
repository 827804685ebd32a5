// Does a line match? Sets of threads are given numbers as they are met, and a byte in a set leads to a set, which is
// remembered. When too many were met, all are forgotten: memory stays bounded and every byte costs at most one step.

import { Do, Program } from "./regex_program";
import { Context, isWord, Threads } from "./regex_threads";

const UNKNOWN: i16 = -1;
const DEAD: i16 = 0;
const MATCH: i16 = 1;
/** The set at the start of every line; no other set is given its number, whatever threads it has. */
const START: i32 = 2;
/** Most sets that are remembered. */
const MAX_SETS = 2_000;
/** Most threads of all remembered sets. */
const MAX_THREADS = 1_000_000;

export class Dfa {
  private classOf: StaticArray<u8> = new StaticArray<u8>(256);
  private sample: StaticArray<u8> = new StaticArray<u8>(256);
  private classes: i32 = 0;
  private leads: StaticArray<i16> = new StaticArray<i16>(0);
  private atEnd: StaticArray<i16> = new StaticArray<i16>(MAX_SETS);
  private sets: Array<StaticArray<u16>> = [];
  private wordBefore: StaticArray<bool> = new StaticArray<bool>(MAX_SETS);
  private kept: i32 = 0;
  private known: Map<u64, i32> = new Map<u64, i32>();
  private old: Threads;
  private mid: Threads;
  private startMatches: bool = false;
  private rounds: i32 = 0;

  constructor(private program: Program) {
    this.old = new Threads(program);
    this.mid = new Threads(program);
    this.classify();
    this.leads = new StaticArray<i16>(MAX_SETS * this.classes);
    this.forget();
  }

  /** Whether the expression is anywhere in the line. */
  matches(at: usize, bytes: i32): bool {
    const end = at + bytes;
    const classOf = this.classOf;
    const leads = this.leads;
    const classes = this.classes;
    if (this.startMatches) return true;
    let set = START;
    for (; at < end; at++) {
      const byte = load<u8>(at);
      let next: i32 = unchecked(leads[set * classes + unchecked(classOf[byte])]);
      if (next < 2) {
        if (next == UNKNOWN) next = this.step(set, byte);
        if (next == MATCH) return true;
        if (next == DEAD) return false;
      }
      set = next;
    }
    let matched: i32 = unchecked(this.atEnd[set]);
    if (matched == UNKNOWN) {
      matched = this.resolve(set, true, false) ? MATCH : DEAD;
      this.atEnd[set] = <i16> matched;
    }
    return matched == MATCH;
  }

  /** Bytes that no instruction tells apart share a class. */
  private classify(): void {
    const border = new StaticArray<bool>(257);
    for (let i = 0; i < this.program.length; i++) {
      if (this.program.does[i] != Do.Byte) continue;
      border[this.program.low[i]] = true;
      border[<i32> this.program.high[i] + 1] = true;
    }
    for (let byte = 1; byte < 256 && this.program.edges; byte++) {
      if (isWord(<u8> byte) != isWord(<u8> (byte - 1))) border[byte] = true;
    }
    let current = -1;
    for (let byte = 0; byte < 256; byte++) {
      if (byte == 0 || border[byte]) this.sample[++current] = <u8> byte;
      this.classOf[byte] = <u8> current;
    }
    this.classes = current + 1;
  }

  private forget(): void {
    this.sets = [];
    this.known.clear();
    this.kept = 0;
    memory.fill(changetype<usize>(this.leads), 0xff, this.leads.length << 1);
    memory.fill(changetype<usize>(this.atEnd), 0xff, MAX_SETS << 1);
    // The numbers of DEAD and MATCH.
    this.sets.push(new StaticArray<u16>(0));
    this.sets.push(new StaticArray<u16>(0));
    this.old.clear();
    this.old.add(this.program.start, 0, Context.Later, true, false, false);
    this.startMatches = this.old.matched;
    this.remember(copyOf(this.old), false);
    this.rounds++;
  }

  /** Threads of `set` once it is known what follows; true when one stands at the match. */
  private resolve(set: i32, atEnd: bool, wordAfter: bool): bool {
    const members = this.sets[set];
    const edge = this.wordBefore[set] != wordAfter;
    this.mid.clear();
    for (let i = 0; i < members.length; i++) {
      this.mid.add(members[i], 0, Context.Known, set == START, atEnd, edge);
    }
    return this.mid.matched;
  }

  private step(set: i32, byte: u8): i32 {
    const slot = set * this.classes + this.classOf[byte];
    const word = this.program.edges && isWord(byte);
    if (this.resolve(set, false, word)) {
      this.leads[slot] = MATCH;
      return MATCH;
    }
    const program = this.program;
    this.old.clear();
    for (let i = 0; i < this.mid.length; i++) {
      const at = this.mid.list[i];
      if (program.does[at] == Do.Byte && byte >= program.low[at] && byte <= program.high[at]) {
        this.old.add(program.next[at], 0, Context.Later, false, false, false);
      }
    }
    // A match may begin behind any byte.
    this.old.add(program.start, 0, Context.Later, false, false, false);
    if (this.old.matched) {
      this.leads[slot] = MATCH;
      return MATCH;
    }
    if (this.old.length == 0) {
      this.leads[slot] = DEAD;
      return DEAD;
    }
    const round = this.rounds;
    const next = this.numberOf(this.old, word);
    if (this.rounds == round) this.leads[slot] = <i16> next;
    return next;
  }

  /** The number of this set of threads, old or new. */
  private numberOf(threads: Threads, wordBefore: bool): i32 {
    let hash: u64 = wordBefore ? 0x9e3779b97f4a7c15 : 0xcbf29ce484222325;
    const list = threads.list;
    for (let i = 0; i < threads.length; i++) hash = (hash ^ list[i]) * 0x100000001b3;
    for (; this.known.has(hash); hash++) {
      const at = this.known.get(hash);
      if (this.wordBefore[at] == wordBefore && sameList(this.sets[at], threads)) return at;
    }
    if (this.sets.length >= MAX_SETS || this.kept + threads.length > MAX_THREADS) {
      const copy = copyOf(threads);
      this.forget();
      this.known.set(hash, this.sets.length);
      return this.remember(copy, wordBefore);
    }
    this.known.set(hash, this.sets.length);
    return this.remember(copyOf(threads), wordBefore);
  }

  private remember(members: StaticArray<u16>, wordBefore: bool): i32 {
    const number = this.sets.length;
    this.sets.push(members);
    this.wordBefore[number] = wordBefore;
    this.kept += members.length;
    return number;
  }
}

function copyOf(threads: Threads): StaticArray<u16> {
  const members = new StaticArray<u16>(threads.length);
  memory.copy(changetype<usize>(members), changetype<usize>(threads.list), threads.length << 1);
  return members;
}

function sameList(members: StaticArray<u16>, threads: Threads): bool {
  if (members.length != threads.length) return false;
  return memory.compare(
    changetype<usize>(members),
    changetype<usize>(threads.list),
    members.length << 1,
  ) == 0;
}
