// The syntax tree of a regular expression.

export enum Part {
  Nothing,
  /** One character of `ranges`: first and last code points, alternating. */
  Character,
  Sequence,
  Choice,
  /** `items[0]` at least `least` times, at most `most` times; -1 is unlimited. */
  Repeat,
  /** An assertion between characters: see `Place`. */
  Place,
}

export enum Place {
  Start,
  End,
  WordEdge,
  NoWordEdge,
}

export class Node {
  items: Node[] = [];
  ranges: i32[] = [];
  least: i32 = 0;
  most: i32 = 0;
  place: Place = Place.Start;

  constructor(public part: Part) {}

  /** The code point, if this is exactly one character; else -1. */
  get onlyPoint(): i32 {
    return this.part == Part.Character && this.ranges.length == 2 &&
        this.ranges[0] == this.ranges[1]
      ? this.ranges[0]
      : -1;
  }
}

export const LAST_POINT = 0x10ffff;

/** Sorts ranges and joins those that touch. */
export function joined(ranges: i32[]): i32[] {
  const count = ranges.length / 2;
  const order = new Array<i64>(count);
  for (let i = 0; i < count; i++) order[i] = (<i64> ranges[2 * i] << 32) | <i64> ranges[2 * i + 1];
  order.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const out: i32[] = [];
  for (let i = 0; i < count; i++) {
    const first = <i32> (order[i] >> 32);
    const last = <i32> (order[i] & 0xffffffff);
    if (out.length > 0 && first <= out[out.length - 1] + 1) {
      out[out.length - 1] = max(out[out.length - 1], last);
    } else {
      out.push(first);
      out.push(last);
    }
  }
  return out;
}

/** Every code point outside the joined `ranges`. Newlines do not matter: lines have none. */
export function others(ranges: i32[]): i32[] {
  const out: i32[] = [];
  let next = 0;
  for (let i = 0; i < ranges.length; i += 2) {
    if (ranges[i] > next) {
      out.push(next);
      out.push(ranges[i] - 1);
    }
    next = ranges[i + 1] + 1;
  }
  if (next <= LAST_POINT) {
    out.push(next);
    out.push(LAST_POINT);
  }
  return out;
}

/** Maximum code points of one range beyond ASCII whose other case is looked up. */
const FOLDED = 2_048;

/** Ranges extended by the other case of each letter. */
export function withCases(ranges: i32[]): i32[] {
  const out = ranges.slice();
  for (let i = 0; i < ranges.length; i += 2) {
    const last = min(ranges[i + 1], ranges[i] + FOLDED);
    for (let point = ranges[i]; point <= last; point++) {
      addCase(out, point);
    }
  }
  return joined(out);
}

function addCase(out: i32[], point: i32): void {
  if (point < 0x80) {
    const small = point | 0x20;
    if (small >= 0x61 && small <= 0x7a) {
      out.push(point ^ 0x20);
      out.push(point ^ 0x20);
    }
    return;
  }
  if (point >= 0xd800 && point < 0xe000) return;
  const letter = String.fromCodePoint(point);
  pushPoint(out, letter.toLowerCase());
  pushPoint(out, letter.toUpperCase());
}

/** Ignores letters whose other case is several letters. */
function pushPoint(out: i32[], letter: string): void {
  const point = letter.codePointAt(0);
  if (letter.length != (point > 0xffff ? 2 : 1) || point < 0x80) return;
  out.push(point);
  out.push(point);
}
