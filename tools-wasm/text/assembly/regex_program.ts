// A regular expression as a program over bytes.

import { Node, Part, Place } from "./regex_tree";

export enum Do {
  /** Take a byte from `low` to `high`, continue at `next`. */
  Byte,
  /** Continue at `next` and at `other`. */
  Split,
  /** Continue at `next` if the assertion `low` holds. */
  Place,
  Match,
}

/** Maximum instructions of a program. */
export const MAX_INSTRUCTIONS = 20_000;

export class Program {
  does: StaticArray<u8> = new StaticArray<u8>(MAX_INSTRUCTIONS);
  low: StaticArray<u8> = new StaticArray<u8>(MAX_INSTRUCTIONS);
  high: StaticArray<u8> = new StaticArray<u8>(MAX_INSTRUCTIONS);
  next: StaticArray<u16> = new StaticArray<u16>(MAX_INSTRUCTIONS);
  other: StaticArray<u16> = new StaticArray<u16>(MAX_INSTRUCTIONS);
  length: i32 = 0;
  start: i32 = 0;
  tooLong: bool = false;
  /** Whether it tests word edges: only then the previous byte matters. */
  edges: bool = false;
  /** Cached tails of characters: many characters end alike. */
  private made: Map<i64, i32> = new Map<i64, i32>();

  constructor(tree: Node) {
    this.start = this.compile(tree, this.add(Do.Match, 0, 0, 0, 0));
  }

  private add(what: Do, low: i32, high: i32, next: i32, other: i32): i32 {
    if (this.length >= MAX_INSTRUCTIONS) {
      this.tooLong = true;
      return 0;
    }
    const at = this.length++;
    this.does[at] = <u8> what;
    this.low[at] = <u8> low;
    this.high[at] = <u8> high;
    this.next[at] = <u16> next;
    this.other[at] = <u16> other;
    return at;
  }

  /** Adds `node`, continuing at `next`; returns its start. */
  private compile(node: Node, next: i32): i32 {
    if (this.tooLong) return 0;
    switch (node.part) {
      case Part.Character:
        return this.character(node.ranges, next);
      case Part.Sequence:
        for (let i = node.items.length - 1; i >= 0; i--) next = this.compile(node.items[i], next);
        return next;
      case Part.Choice: {
        let begin = this.compile(node.items[node.items.length - 1], next);
        for (let i = node.items.length - 2; i >= 0; i--) {
          begin = this.add(Do.Split, 0, 0, this.compile(node.items[i], next), begin);
        }
        return begin;
      }
      case Part.Repeat:
        return this.repeat(node, next);
      case Part.Place:
        if (node.place == Place.WordEdge || node.place == Place.NoWordEdge) this.edges = true;
        return this.add(Do.Place, node.place, 0, next, 0);
      default:
        return next;
    }
  }

  private repeat(node: Node, next: i32): i32 {
    const item = node.items[0];
    let begin = next;
    if (node.most < 0) {
      begin = this.add(Do.Split, 0, 0, 0, next);
      const body = this.compile(item, begin);
      if (!this.tooLong) this.next[begin] = <u16> body;
    } else {
      for (let i = node.least; i < node.most && !this.tooLong; i++) {
        begin = this.add(Do.Split, 0, 0, this.compile(item, begin), next);
      }
    }
    for (let i = 0; i < node.least && !this.tooLong; i++) {
      const before = begin;
      begin = this.compile(item, before);
      // Repeating an empty part leaves it empty.
      if (begin == before) break;
    }
    return begin;
  }

  /** A character without ranges is a dead end. */
  private character(ranges: i32[], next: i32): i32 {
    let begin = -1;
    for (let i = ranges.length - 2; i >= 0; i -= 2) {
      begin = this.points(ranges[i], ranges[i + 1], next, begin);
    }
    return begin >= 0 ? begin : this.add(Do.Byte, 1, 0, next, 0);
  }

  /** Code points from `first` to `last`, else `begin`. Splits where UTF-8 changes its form. */
  private points(first: i32, last: i32, next: i32, begin: i32): i32 {
    if (first > last || this.tooLong) return begin;
    if (first < 0xe000 && last >= 0xd800) {
      const upper = this.points(0xe000, last, next, begin);
      return this.points(first, 0xd7ff, next, upper);
    }
    for (let size = 1; size < 4; size++) {
      const top = size == 1 ? 0x7f : size == 2 ? 0x7ff : 0xffff;
      if (first <= top && last > top) {
        return this.points(first, top, next, this.points(top + 1, last, next, begin));
      }
    }
    if (last > 0x7f) {
      for (let low = 1; low < 4; low++) {
        const mask = (1 << (6 * low)) - 1;
        if ((first & ~mask) == (last & ~mask)) continue;
        if ((first & mask) != 0) {
          return this.points(
            first,
            first | mask,
            next,
            this.points((first | mask) + 1, last, next, begin),
          );
        }
        if ((last & mask) != mask) {
          return this.points(
            first,
            (last & ~mask) - 1,
            next,
            this.points(last & ~mask, last, next, begin),
          );
        }
      }
    }
    const path = this.sequence(first, last, next);
    return begin < 0 ? path : this.add(Do.Split, 0, 0, path, begin);
  }

  /** The bytes of a range in which each byte varies independently. */
  private sequence(first: i32, last: i32, next: i32): i32 {
    if (last < 0x80) return this.byte(first, last, next);
    const size = last < 0x800 ? 2 : last < 0x10000 ? 3 : 4;
    for (let i = size - 1; i > 0; i--) {
      next = this.byte(0x80 | (first & 0x3f), 0x80 | (last & 0x3f), next);
      first >>= 6;
      last >>= 6;
    }
    const mark = 0xf00 >> size & 0xff;
    return this.byte(mark | first, mark | last, next);
  }

  private byte(low: i32, high: i32, next: i32): i32 {
    const key = (<i64> next << 16) | (low << 8) | high;
    if (this.made.has(key)) return this.made.get(key);
    const at = this.add(Do.Byte, low, high, next, 0);
    this.made.set(key, at);
    return at;
  }
}
