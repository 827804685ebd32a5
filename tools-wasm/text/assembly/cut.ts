// text_cut: chosen fields or characters of each line.

import { Json } from "remit/json";
import { answer, fail, failed } from "remit/plugin";
import { sequenceAt, Writer } from "remit/writer";
import { integerOf, sourceOf, textOf } from "./arguments";
import { Fields } from "./fields";
import { Text } from "./shown";
import { Lines } from "./source";

export function cut(args: Json): void {
  const source = sourceOf(args);
  const fields = textOf(args, "fields");
  const characters = textOf(args, "characters");
  const given = textOf(args, "delimiter");
  const wanted = integerOf(args, "limit", 1_000, 1, 5_000);
  if ((fields == null) == (characters == null)) {
    fail("invalidArguments", "Cannot cut: give either 'fields' or 'characters'");
  }
  const chosen = new Chosen(
    fields != null ? fields : characters != null ? characters : new Uint8Array(0),
  );
  const delimiter = given == null ? Uint8Array.wrap(String.UTF8.encode("\t")) : given;
  if (delimiter.length == 0) fail("invalidArguments", "Cannot cut: 'delimiter' is empty");
  if (failed()) return;
  const lines = new Lines(source);
  const text = new Text(wanted);
  const cutter = new Cutter(chosen, new Fields(delimiter));
  let more = false;
  while (!more && lines.next()) {
    if (fields != null) cutter.fields(lines.at, lines.bytes);
    else cutter.characters(lines.at, lines.bytes);
    more = !text.add(cutter.base, cutter.used);
  }
  const out = new Writer().open("{").key("lines").integer(text.lines);
  text.writeTo(out, "text");
  answer(out.close("}"));
}

/** The numbers in a list such as `1,3-5,7-`. */
class Chosen {
  private first: i32[] = [];
  private last: i32[] = [];

  constructor(list: Uint8Array) {
    this.read(list);
  }

  private read(list: Uint8Array): void {
    let at = 0;
    while (at <= list.length && this.first.length <= 100) {
      const from = at;
      let low = 0;
      while (at < list.length && isDigit(list[at])) {
        low = min(low * 10 + list[at++] - 0x30, 1_000_000);
      }
      const hasLow = at > from;
      let high = low;
      if (at < list.length && list[at] == 0x2d) {
        const second = ++at;
        high = 0;
        while (at < list.length && isDigit(list[at])) {
          high = min(high * 10 + list[at++] - 0x30, 1_000_000);
        }
        if (at == second && hasLow) high = i32.MAX_VALUE;
        if (!hasLow) low = 1;
      } else if (!hasLow) low = 0;
      const ended = at == list.length || list[at] == 0x2c;
      if (!ended || low < 1 || high < low) {
        fail("invalidArguments", "Cannot cut: write numbers from 1 like '1,3-5,7-'");
        return;
      }
      this.first.push(low);
      this.last.push(high);
      at++;
    }
    if (at <= list.length) fail("invalidArguments", "Cannot cut: more than 100 ranges");
  }

  has(number: i32): bool {
    for (let i = 0; i < this.first.length; i++) {
      if (number >= this.first[i] && number <= this.last[i]) return true;
    }
    return false;
  }
}

class Cutter {
  used: i32 = 0;
  private buffer: ArrayBuffer = new ArrayBuffer(4_096);

  constructor(private chosen: Chosen, private splitter: Fields) {}

  get base(): usize {
    return changetype<usize>(this.buffer);
  }

  /** Keeps a line without the delimiter whole. */
  fields(line: usize, bytes: i32): void {
    this.empty(bytes);
    const end = line + bytes;
    const delimiter = this.splitter.delimiter;
    let from = line;
    let some = false;
    for (let number = 1;; number++) {
      const to = this.splitter.endOf(from, end);
      if (number == 1 && to == end) return this.take(line, bytes);
      if (this.chosen.has(number)) {
        if (some) this.take(delimiter.dataStart, delimiter.length);
        this.take(from, <i32> (to - from));
        some = true;
      }
      if (to == end) return;
      from = to + delimiter.length;
    }
  }

  /** A byte outside any character counts as one. */
  characters(line: usize, bytes: i32): void {
    this.empty(bytes);
    let number = 1;
    for (let at = 0; at < bytes; number++) {
      const size = max(sequenceAt(line + at, bytes - at), 1);
      if (this.chosen.has(number)) this.take(line + at, size);
      at += size;
    }
  }

  private empty(bytes: i32): void {
    this.used = 0;
    if (bytes > this.buffer.byteLength) this.buffer = new ArrayBuffer(bytes);
  }

  private take(at: usize, bytes: i32): void {
    memory.copy(this.base + this.used, at, bytes);
    this.used += bytes;
  }
}

function isDigit(byte: u8): bool {
  return byte >= 0x30 && byte <= 0x39;
}
