// text_sort: sorts lines by the whole line or a field, as bytes or as numbers.

import { parseDecimal } from "remit/decimal";
import { Json } from "remit/json";
import { answer, failed } from "remit/plugin";
import { Writer } from "remit/writer";
import { flagOf, integerOf, sourceOf, textOf } from "./arguments";
import { Fields } from "./fields";
import { Text } from "./shown";
import { readWhole, Whole } from "./whole";

const MAX_BYTES = 8_388_608;
const MAX_LINES = 500_000;

export function sort(args: Json): void {
  const source = sourceOf(args);
  const field = integerOf(args, "field", 0, 1, 1_000);
  const delimiter = textOf(args, "delimiter");
  const numeric = flagOf(args, "numeric");
  const reverse = flagOf(args, "reverse");
  const wanted = integerOf(args, "limit", 1_000, 1, 5_000);
  if (failed()) return;
  const whole = readWhole(source, "sort", MAX_BYTES, MAX_LINES);
  if (failed()) return;
  const fields = new Fields(delimiter == null ? new Uint8Array(0) : delimiter);
  const order = new Sorting(whole, fields, field, numeric, reverse).run();
  const text = new Text(wanted);
  for (let i = 0; i < whole.lines; i++) {
    if (!text.add(whole.at(order[i]), whole.lineBytes(order[i]))) break;
  }
  const out = new Writer().open("{").key("lines").integer(whole.lines);
  text.writeTo(out, "text");
  answer(out.close("}"));
}

class Sorting {
  private at: StaticArray<u32>;
  private bytes: StaticArray<i32>;
  private numbers: StaticArray<f64>;

  constructor(
    private whole: Whole,
    fields: Fields,
    field: i32,
    private numeric: bool,
    private reverse: bool,
  ) {
    const lines = whole.lines;
    const at = new StaticArray<u32>(numeric ? 0 : lines);
    const bytes = new StaticArray<i32>(numeric ? 0 : lines);
    const numbers = new StaticArray<f64>(numeric ? lines : 0);
    for (let i = 0; i < lines; i++) {
      let key = whole.at(i);
      let length = whole.lineBytes(i);
      if (field > 0) {
        fields.find(key, length, field);
        key = fields.at;
        length = fields.bytes;
      }
      if (numeric) numbers[i] = numberIn(key, length);
      else {
        at[i] = <u32> key;
        bytes[i] = length;
      }
    }
    this.at = at;
    this.bytes = bytes;
    this.numbers = numbers;
  }

  /** The sorted lines, stable also in reverse. A bottom-up merge sort. */
  run(): StaticArray<i32> {
    const lines = this.whole.lines;
    let from = new StaticArray<i32>(lines);
    let to = new StaticArray<i32>(lines);
    for (let i = 0; i < lines; i++) from[i] = i;
    for (let width = 1; width < lines; width *= 2) {
      for (let low = 0; low < lines; low += 2 * width) {
        this.merge(from, to, low, min(low + width, lines), min(low + 2 * width, lines));
      }
      const swap = from;
      from = to;
      to = swap;
    }
    return from;
  }

  private merge(
    from: StaticArray<i32>,
    to: StaticArray<i32>,
    low: i32,
    middle: i32,
    high: i32,
  ): void {
    let left = low;
    let right = middle;
    for (let out = low; out < high; out++) {
      const takeLeft = right >= high ||
        (left < middle && this.compare(unchecked(from[left]), unchecked(from[right])) <= 0);
      unchecked(to[out] = unchecked(from[takeLeft ? left++ : right++]));
    }
  }

  private compare(a: i32, b: i32): i32 {
    let order = 0;
    if (this.numeric) {
      const one = unchecked(this.numbers[a]);
      const two = unchecked(this.numbers[b]);
      order = one < two ? -1 : one > two ? 1 : 0;
    } else {
      const one = unchecked(this.bytes[a]);
      const two = unchecked(this.bytes[b]);
      order = memory.compare(unchecked(this.at[a]), unchecked(this.at[b]), min(one, two));
      if (order == 0) order = one - two;
    }
    return this.reverse ? -order : order;
  }
}

/** The number at the beginning, after blanks; minus infinity for none. */
function numberIn(at: usize, bytes: i32): f64 {
  let from = 0;
  while (from < bytes && (load<u8>(at + from) == 0x20 || load<u8>(at + from) == 0x09)) from++;
  const value = parseDecimal(at + from, bytes - from);
  return isNaN(value) ? -Infinity : value;
}
