// text_head and text_tail: lines from the front or the end.

import { Json } from "remit/json";
import { answer, failed } from "remit/plugin";
import { Writer } from "remit/writer";
import { integerOf, sourceOf } from "./arguments";
import { behindLast, findByte } from "./find";
import { RESULT_BYTES, Text } from "./shown";
import { lineBytes, Lines, Source } from "./source";

export function head(args: Json): void {
  const source = sourceOf(args);
  const wanted = integerOf(args, "lines", 50, 1, 5_000);
  const from = integerOf(args, "from", 1, 1, i32.MAX_VALUE);
  if (failed()) return;
  const lines = new Lines(source);
  const text = new Text(wanted);
  let more = false;
  while (!more && lines.next()) {
    if (lines.number < from) continue;
    more = text.lines >= wanted || text.cut;
    if (!more) text.add(lines.at, lines.bytes);
  }
  const out = new Writer().open("{").key("from").integer(from).key("lines").integer(text.lines);
  text.writeTo(out, "text");
  answer(out.key("more").bool(more).close("}"));
}

/** Enough for all shown text, whatever is escaped in it. */
const TAIL_BYTES = 2 * RESULT_BYTES;

export function tail(args: Json): void {
  const source = sourceOf(args);
  const wanted = integerOf(args, "lines", 50, 1, 5_000);
  if (failed()) return;
  const buffer = new ArrayBuffer(TAIL_BYTES);
  const base = changetype<usize>(buffer);
  // The first read tells the size.
  const probe = source.size < 0 ? source.readAt(0, TAIL_BYTES, base) : 0;
  const start = max<i64>(source.size - TAIL_BYTES, 0);
  const bytes = probe == source.size ? probe : source.readAt(start, TAIL_BYTES, base);
  if (!failed()) answer(lastLines(source, base, bytes, start, wanted));
}

function lastLines(source: Source, base: usize, bytes: i32, start: i64, wanted: i32): Writer {
  const end = base + bytes;
  let at = end;
  let count = 0;
  let room = RESULT_BYTES;
  for (; count < wanted && at > base; count++) {
    const newline = load<u8>(at - 1) == 0x0a ? at - 1 : at;
    const line = behindLast(base, newline, 0x0a);
    room -= <i32> (at - line) + 1;
    if (room < 0 && count > 0) break;
    at = line;
  }
  // A line whose beginning was not read, or does not fit, is shown from where it fits.
  const torn = at == base && start > 0;
  if (<i32> (end - at) > RESULT_BYTES) at = end - RESULT_BYTES;
  const more = at > base || start > 0;
  const text = new Text(wanted);
  while (at < end) {
    const newline = findByte(at, end, 0x0a);
    if (!text.add(at, lineBytes(at, newline))) break;
    at = newline + 1;
  }
  text.cut = text.cut || torn || (more && count < wanted);
  const out = new Writer().open("{").key("lines").integer(text.lines);
  text.writeTo(out, "text");
  return out.key("more").bool(more).close("}");
}
