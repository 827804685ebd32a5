// A strict JSON parser: no duplicate keys, no text after the value, at most 64 levels. Strings stay
// bytes until read.

import { parseDecimal } from "./decimal";
import { hexDigit, meantBy, unescaped } from "./escape";

/** The kind of a value. */
export enum Kind {
  Null,
  Bool,
  Number,
  Text,
  List,
  Object,
}

/** A value within the parsed bytes. Getters of another kind return null, empty or a default. */
export class Json {
  /** Items of a list, or values of an object in the order of `keys`. */
  items: Json[] = [];
  keys: string[] = [];

  constructor(
    public kind: Kind,
    private source: Uint8Array,
    private from: i32,
    private to: i32,
    private escaped: bool = false,
  ) {}

  /** The member `name` of an object; null when it is missing or JSON's null. */
  get(name: string): Json | null {
    const at = this.keys.indexOf(name);
    return at < 0 || this.items[at].kind == Kind.Null ? null : this.items[at];
  }

  get isTrue(): bool {
    return this.kind == Kind.Bool && load<u8>(this.base) == 0x74;
  }

  get number(): f64 {
    return this.kind == Kind.Number ? parseDecimal(this.base, this.to - this.from) : NaN;
  }

  /** Its number as written, or its string with escapes. */
  get raw(): string {
    return String.UTF8.decodeUnsafe(this.base, this.to - this.from);
  }

  /** Its string; empty for other kinds. */
  get text(): string {
    const utf8 = this.utf8();
    return String.UTF8.decodeUnsafe(utf8.dataStart, utf8.length);
  }

  /** Its string as UTF-8, copied only where something is escaped. */
  utf8(): Uint8Array {
    if (this.kind != Kind.Text) return new Uint8Array(0);
    const bytes = this.source.subarray(this.from, this.to);
    return this.escaped ? unescaped(bytes) : bytes;
  }

  private get base(): usize {
    return this.source.dataStart + this.from;
  }
}

/** Parses UTF-8 bytes that hold one JSON value; null for invalid JSON. */
export function parseJson(bytes: Uint8Array): Json | null {
  const reader = new Reader(bytes);
  const value = reader.value(0);
  reader.space();
  return reader.broken || reader.at != bytes.length ? null : value;
}

class Reader {
  at: i32 = 0;
  broken: bool = false;

  constructor(private bytes: Uint8Array) {}

  value(depth: i32): Json {
    this.space();
    const from = this.at;
    const first = this.peek();
    if (depth > 64) return this.bad();
    if (first == 0x22) return this.string();
    if (first == 0x7b) return this.members(Kind.Object, 0x7d, depth);
    if (first == 0x5b) return this.members(Kind.List, 0x5d, depth);
    if (first == 0x74) return this.word("true", Kind.Bool);
    if (first == 0x66) return this.word("false", Kind.Bool);
    if (first == 0x6e) return this.word("null", Kind.Null);
    return this.number(from);
  }

  space(): void {
    for (;; this.at++) {
      const byte = this.peek();
      if (byte != 0x20 && byte != 0x0a && byte != 0x0d && byte != 0x09) return;
    }
  }

  private peek(): i32 {
    return this.at < this.bytes.length ? unchecked(this.bytes[this.at]) : -1;
  }

  private take(byte: i32): bool {
    if (this.peek() != byte) return false;
    this.at++;
    return true;
  }

  private bad(): Json {
    this.broken = true;
    return new Json(Kind.Null, this.bytes, 0, 0);
  }

  private word(text: string, kind: Kind): Json {
    const from = this.at;
    for (let i = 0; i < text.length; i++) if (!this.take(text.charCodeAt(i))) return this.bad();
    return new Json(kind, this.bytes, from, this.at);
  }

  private digits(): bool {
    const from = this.at;
    while (this.peek() >= 0x30 && this.peek() <= 0x39) this.at++;
    return this.at > from;
  }

  private number(from: i32): Json {
    this.take(0x2d);
    if (!this.take(0x30) && !this.digits()) return this.bad();
    if (this.take(0x2e) && !this.digits()) return this.bad();
    if (this.take(0x65) || this.take(0x45)) {
      if (!this.take(0x2b)) this.take(0x2d);
      if (!this.digits()) return this.bad();
    }
    return new Json(Kind.Number, this.bytes, from, this.at);
  }

  private string(): Json {
    const from = ++this.at;
    let escaped = false;
    for (;; this.at++) {
      this.at = plainUntil(this.bytes, this.at);
      const byte = this.peek();
      if (byte == 0x22) break;
      if (byte < 0x20) return this.bad();
      if (byte == 0x5c) {
        escaped = true;
        this.at++;
        if (this.peek() == 0x75) {
          for (let i = 0; i < 4; i++) {
            this.at++;
            if (hexDigit(this.peek()) < 0) return this.bad();
          }
        } else if (meantBy(this.peek()) < 0) return this.bad();
      }
    }
    return new Json(Kind.Text, this.bytes, from, this.at++, escaped);
  }

  private members(kind: Kind, end: i32, depth: i32): Json {
    const holder = new Json(kind, this.bytes, this.at, this.at);
    this.at++;
    this.space();
    if (this.take(end)) return holder;
    while (!this.broken) {
      if (kind == Kind.Object) {
        this.space();
        if (this.peek() != 0x22) return this.bad();
        const name = this.string().text;
        this.space();
        if (!this.take(0x3a) || holder.keys.includes(name)) return this.bad();
        holder.keys.push(name);
      }
      holder.items.push(this.value(depth + 1));
      this.space();
      if (this.take(end)) return holder;
      if (!this.take(0x2c)) return this.bad();
    }
    return this.bad();
  }
}

/** Skips to the next quotation mark, backslash or control character, or a few bytes before it. */
function plainUntil(bytes: Uint8Array, at: i32): i32 {
  const base = bytes.dataStart;
  for (; at + 16 <= bytes.length; at += 16) {
    const some = v128.load(base + at);
    const mark = v128.or(i8x16.eq(some, i8x16.splat(0x22)), i8x16.eq(some, i8x16.splat(0x5c)));
    const mask = i8x16.bitmask(v128.or(mark, i8x16.lt_u(some, i8x16.splat(0x20))));
    if (mask != 0) return at + ctz(mask);
  }
  return at;
}
