// text_unique: the distinct lines of a text, and their counts.

import { Json } from "remit/json";
import { answer, fail, failed } from "remit/plugin";
import { Writer } from "remit/writer";
import { flagOf, integerOf, sourceOf } from "./arguments";
import { RESULT_BYTES, wholeCharacters } from "./shown";
import { Lines } from "./source";

/** Maximum bytes, and number, of all distinct lines. */
const MAX_BYTES = 16_777_216;
const MAX_LINES = 500_000;
const SLOTS = 1_048_576;
/** Maximum bytes shown of a line. */
const SHOWN = 1_000;

export function unique(args: Json): void {
  const source = sourceOf(args);
  const byCount = flagOf(args, "byCount");
  const limit = integerOf(args, "limit", 1_000, 1, 5_000);
  if (failed()) return;
  const lines = new Lines(source);
  const seen = new Seen();
  while (lines.next()) {
    if (!seen.add(lines.at, lines.bytes)) {
      fail("tooLarge", "Cannot find the different lines: they are more than 16 MiB or 500000");
      return;
    }
  }
  if (!failed()) answer(write(seen, lines.number, byCount, limit));
}

class Seen {
  count: i32 = 0;
  readonly counts: i32[] = [];
  readonly starts: i32[] = [0];
  private bytes: ArrayBuffer = new ArrayBuffer(65_536);
  private hashes: u32[] = [];
  private slots: StaticArray<i32> = new StaticArray<i32>(4_096);

  at(line: i32): usize {
    return changetype<usize>(this.bytes) + this.starts[line];
  }

  length(line: i32): i32 {
    return this.starts[line + 1] - this.starts[line];
  }

  /** Counts a line; false when there is no room for it. */
  add(at: usize, bytes: i32): bool {
    const hash = hashOf(at, bytes);
    let slot = hash & (this.slots.length - 1);
    for (;;) {
      const line = unchecked(this.slots[slot]) - 1;
      if (line < 0) break;
      if (
        unchecked(this.hashes[line]) == hash && this.length(line) == bytes &&
        memory.compare(this.at(line), at, bytes) == 0
      ) {
        unchecked(this.counts[line]++);
        return true;
      }
      slot = (slot + 1) & (this.slots.length - 1);
    }
    const used = this.starts[this.count];
    if (this.count >= MAX_LINES || used + bytes > MAX_BYTES) return false;
    this.room(used + bytes);
    memory.copy(changetype<usize>(this.bytes) + used, at, bytes);
    this.starts.push(used + bytes);
    this.counts.push(1);
    this.hashes.push(hash);
    this.slots[slot] = ++this.count;
    if (this.count * 2 > this.slots.length && this.slots.length < SLOTS) this.spread();
    return true;
  }

  private room(bytes: i32): void {
    if (bytes <= this.bytes.byteLength) return;
    const grown = new ArrayBuffer(min(max(2 * this.bytes.byteLength, bytes), MAX_BYTES));
    memory.copy(changetype<usize>(grown), changetype<usize>(this.bytes), this.bytes.byteLength);
    this.bytes = grown;
  }

  private spread(): void {
    const slots = new StaticArray<i32>(this.slots.length * 2);
    for (let line = 0; line < this.count; line++) {
      let slot = this.hashes[line] & (slots.length - 1);
      while (slots[slot] != 0) slot = (slot + 1) & (slots.length - 1);
      slots[slot] = line + 1;
    }
    this.slots = slots;
  }
}

/** FNV-1a with a final mix: forced collisions gain only a slow call within its deadline. */
export function hashOf(at: usize, bytes: i32): u32 {
  let hash: u32 = 0x811c9dc5;
  for (let i = 0; i < bytes; i++) hash = (hash ^ load<u8>(at + i)) * 0x01000193;
  hash ^= hash >> 16;
  return (hash * 0x85ebca6b) ^ (hash >> 13);
}

function write(seen: Seen, lines: i32, byCount: bool, limit: i32): Writer {
  const order = new Array<i64>(seen.count);
  // A combined sort key: higher counts first, then earlier lines.
  for (let i = 0; i < seen.count; i++) {
    order[i] = (byCount ? <i64> (i32.MAX_VALUE - seen.counts[i]) << 32 : 0) | <i64> i;
  }
  if (byCount) order.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const out = new Writer().open("{").key("lines").integer(lines).key("unique").integer(seen.count)
    .key("found").open("[");
  let shown = 0;
  for (; shown < min(limit, seen.count) && out.bytes < RESULT_BYTES; shown++) {
    const line = <i32> (order[shown] & 0x7fffffff);
    const bytes = wholeCharacters(seen.at(line), seen.length(line), SHOWN);
    out.open("{").key("count").integer(seen.counts[line]).key("text").utf8(seen.at(line), bytes);
    if (bytes < seen.length(line)) out.key("cut").bool(true);
    out.close("}");
  }
  out.close("]");
  if (shown < seen.count) out.key("more").bool(true);
  return out.close("}");
}
