// Parses a regular expression. The syntax is the part of JavaScript's that needs no backtracking:
// characters, . [class] \d \w \s \D \W \S ^ $ \b \B (group) (?:group) | * + ? {n} {n,} {n,m}, a
// lazy ? after them, \t \n \r \f \v \0 \xHH \uHHHH \u{H}, and \ before punctuation.

import { joined, LAST_POINT, Node, others, Part, Place, withCases } from "./regex_tree";

const DEEPEST = 50;
/** Maximum count of a counted repeat. */
export const MAX_REPEATS = 1_000;

const DIGIT: i32[] = [0x30, 0x39];
const WORD: i32[] = [0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a];
const SPACE: i32[] = [
  9,
  13,
  32,
  32,
  0xa0,
  0xa0,
  0x1680,
  0x1680,
  0x2000,
  0x200a,
  0x2028,
  0x2029,
  0x202f,
  0x202f,
  0x205f,
  0x205f,
  0x3000,
  0x3000,
  0xfeff,
  0xfeff,
];

export class RegexParser {
  /** Why the text is not an expression; empty if it is. */
  wrong: string = "";
  private at: i32 = 0;
  private points: i32[] = [];
  /** Ranges of the last escape, if it was a class. */
  private escaped: i32[] | null = null;

  constructor(text: string, private ignoreCase: bool) {
    for (let i = 0; i < text.length; i++) {
      const point = text.codePointAt(i);
      if (point > 0xffff) i++;
      this.points.push(point);
    }
  }

  parse(): Node {
    const whole = this.choice(0);
    if (this.at < this.points.length) this.bad("there is a ) without its (");
    return whole;
  }

  private bad(why: string): Node {
    if (this.wrong == "") this.wrong = why + " (at character " + (this.at + 1).toString() + ")";
    return new Node(Part.Nothing);
  }

  private peek(ahead: i32 = 0): i32 {
    const at = this.at + ahead;
    return at < this.points.length ? this.points[at] : -1;
  }

  private take(point: i32): bool {
    if (this.peek() != point) return false;
    this.at++;
    return true;
  }

  private choice(depth: i32): Node {
    const first = this.sequence(depth);
    if (this.peek() != 0x7c) return first;
    const all = new Node(Part.Choice);
    all.items.push(first);
    while (this.wrong == "" && this.take(0x7c)) all.items.push(this.sequence(depth));
    return all;
  }

  private sequence(depth: i32): Node {
    const all = new Node(Part.Sequence);
    while (this.wrong == "" && this.peek() >= 0 && this.peek() != 0x7c && this.peek() != 0x29) {
      all.items.push(this.repeated(this.single(depth)));
    }
    return all;
  }

  private repeated(item: Node): Node {
    let least = 0;
    let most = -1;
    if (this.take(0x3f)) most = 1;
    else if (this.take(0x2b)) least = 1;
    else if (this.peek() == 0x7b && this.countAhead()) {
      this.at++;
      least = this.count();
      most = least;
      if (this.take(0x2c)) most = this.peek() == 0x7d ? -1 : this.count();
      this.at++;
      if (most >= 0 && most < least) return this.bad("a repeat ends before it begins");
      if (max(least, most) > MAX_REPEATS) {
        return this.bad("a repeat may ask for " + MAX_REPEATS.toString() + " times at most");
      }
    } else if (!this.take(0x2a)) return item;
    // Lazy and greedy do not matter here: only whether a line matches, and where the first match
    // begins.
    this.take(0x3f);
    const next = this.peek();
    if (next == 0x2a || next == 0x2b || next == 0x3f || (next == 0x7b && this.countAhead())) {
      return this.bad("a repeat is repeated: put a group around it");
    }
    if (item.part == Part.Place) return this.bad("there is nothing to repeat");
    const node = new Node(Part.Repeat);
    node.items.push(item);
    node.least = least;
    node.most = most;
    return node;
  }

  /** Whether a { here begins a count, rather than being a character. */
  private countAhead(): bool {
    let ahead = 1;
    while (isDigit(this.peek(ahead))) ahead++;
    if (ahead == 1) return false;
    if (this.peek(ahead) == 0x2c) {
      ahead++;
      while (isDigit(this.peek(ahead))) ahead++;
    }
    return this.peek(ahead) == 0x7d;
  }

  private count(): i32 {
    let value = 0;
    for (; isDigit(this.peek()); this.at++) value = min(value * 10 + this.peek() - 0x30, 1_000_000);
    return value;
  }

  private single(depth: i32): Node {
    if (depth > DEEPEST) return this.bad("groups lie too deep in each other");
    const point = this.peek();
    if (point == 0x2a || point == 0x2b || point == 0x3f) {
      return this.bad("there is nothing to repeat");
    }
    this.at++;
    if (point == 0x28) return this.group(depth);
    if (point == 0x5b) return this.bracket();
    if (point == 0x2e) return character(others([0x0a, 0x0a]));
    if (point == 0x5e) return place(Place.Start);
    if (point == 0x24) return place(Place.End);
    if (point != 0x5c) return this.ofPoint(point);
    if (this.take(0x62)) return place(Place.WordEdge);
    if (this.take(0x42)) return place(Place.NoWordEdge);
    const escaped = this.escape();
    const ranges = this.escaped;
    return ranges == null ? this.ofPoint(escaped) : character(ranges);
  }

  private ofPoint(point: i32): Node {
    return character(this.ignoreCase ? withCases([point, point]) : [point, point]);
  }

  private group(depth: i32): Node {
    if (this.take(0x3f) && !this.take(0x3a)) {
      return this.bad("only groups ( ) and (?: ) exist: no looking around, no names");
    }
    const inner = this.choice(depth + 1);
    if (!this.take(0x29)) return this.bad("there is a ( without its )");
    return inner;
  }

  private bracket(): Node {
    const not = this.take(0x5e);
    let ranges: i32[] = [];
    while (!this.take(0x5d)) {
      if (this.peek() < 0) return this.bad("there is a [ without its ]");
      const first = this.member();
      const klass = this.escaped;
      if (klass != null) {
        ranges = ranges.concat(klass);
        continue;
      }
      let last = first;
      if (this.peek() == 0x2d && this.peek(1) != 0x5d && this.peek(1) >= 0) {
        this.at++;
        last = this.member();
        if (this.escaped != null || last < first) {
          return this.bad("a range in [ ] ends before it begins");
        }
      }
      if (this.wrong != "") break;
      ranges.push(first);
      ranges.push(last);
    }
    ranges = joined(ranges);
    if (this.ignoreCase) ranges = withCases(ranges);
    return character(not ? others(ranges) : ranges);
  }

  private member(): i32 {
    const point = this.peek();
    this.at++;
    this.escaped = null;
    if (point != 0x5c) return point;
    return this.take(0x62) ? 8 : this.escape();
  }

  /** Parses the text behind a backslash: returns a code point, or sets ranges in `escaped`. */
  private escape(): i32 {
    const letter = this.peek();
    this.at++;
    this.escaped = null;
    if (letter == 0x64) this.escaped = DIGIT;
    else if (letter == 0x44) this.escaped = others(DIGIT);
    else if (letter == 0x77) this.escaped = WORD;
    else if (letter == 0x57) this.escaped = others(WORD);
    else if (letter == 0x73) this.escaped = SPACE;
    else if (letter == 0x53) this.escaped = others(SPACE);
    else if (letter == 0x74) return 9;
    else if (letter == 0x6e) return 10;
    else if (letter == 0x76) return 11;
    else if (letter == 0x66) return 12;
    else if (letter == 0x72) return 13;
    else if (letter == 0x30 && !isDigit(this.peek())) return 0;
    else if (letter == 0x78) return this.hex(2);
    else if (letter == 0x75) return this.take(0x7b) ? this.hexUntilBrace() : this.hex(4);
    else if (letter < 0x80 && !isDigit(letter) && !isLetter(letter) && letter >= 0) return letter;
    else if (isDigit(letter)) this.bad("groups cannot be referred to");
    else this.bad("this escape is not known");
    return 0;
  }

  private hex(digits: i32): i32 {
    let point = 0;
    for (let i = 0; i < digits; i++) {
      const digit = hexDigit(this.peek());
      if (digit < 0) this.bad("a hexadecimal number is too short");
      point = point * 16 + max(digit, 0);
      this.at++;
    }
    return point;
  }

  private hexUntilBrace(): i32 {
    let point = 0;
    while (hexDigit(this.peek()) >= 0) {
      point = min(point * 16 + hexDigit(this.peek()), LAST_POINT + 1);
      this.at++;
    }
    if (!this.take(0x7d) || point > LAST_POINT) this.bad("\\u{…} is no code point");
    return point;
  }
}

function character(ranges: i32[]): Node {
  const node = new Node(Part.Character);
  node.ranges = ranges;
  return node;
}

function place(which: Place): Node {
  const node = new Node(Part.Place);
  node.place = which;
  return node;
}

function isDigit(point: i32): bool {
  return point >= 0x30 && point <= 0x39;
}

function isLetter(point: i32): bool {
  const small = point | 0x20;
  return small >= 0x61 && small <= 0x7a;
}

function hexDigit(point: i32): i32 {
  if (isDigit(point)) return point - 0x30;
  const small = point | 0x20;
  return small >= 0x61 && small <= 0x66 ? small - 0x57 : -1;
}
