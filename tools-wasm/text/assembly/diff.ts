// text_diff: the difference of two texts as a unified diff.

import { Json } from "remit/json";
import { answer, fail, failed } from "remit/plugin";
import { sequenceAt, Writer } from "remit/writer";
import { integerOf, sourceOf } from "./arguments";
import { Edits } from "./diff_edits";
import { RESULT_BYTES } from "./shown";
import { Source } from "./source";
import { hashOf } from "./unique";
import { readWhole, Whole } from "./whole";

const MAX_BYTES = 8_388_608;
const MAX_LINES = 200_000;

export function diff(args: Json): void {
  const oldSource = sourceOf(args);
  const freshSource = sourceOf(args, "newPath", "newText");
  const context = integerOf(args, "context", 3, 0, 20);
  if (failed()) return;
  const old = readWhole(oldSource, "compare", MAX_BYTES, MAX_LINES);
  const fresh = failed() ? old : readWhole(freshSource, "compare", MAX_BYTES, MAX_LINES);
  if (failed()) return;
  const numbers = new Numbers(old.lines + fresh.lines);
  const edits = new Edits(numbers.of(old), numbers.of(fresh));
  const unified = new Unified(old, fresh, edits, context);
  unified.header(nameOf(oldSource, "old"), nameOf(freshSource, "new"));
  unified.run();
  answer(unified.write());
}

function nameOf(source: Source, fallback: string): string {
  return source.path == "" ? fallback : source.path;
}

/** Numbers the distinct lines, including their ends. */
class Numbers {
  private slots: StaticArray<i32>;
  private at: StaticArray<u32>;
  private bytes: StaticArray<i32>;
  private hashes: StaticArray<u32>;
  private count: i32 = 0;

  constructor(capacity: i32) {
    let slots = 16;
    while (slots < 2 * capacity) slots *= 2;
    this.slots = new StaticArray<i32>(slots);
    this.at = new StaticArray<u32>(capacity);
    this.bytes = new StaticArray<i32>(capacity);
    this.hashes = new StaticArray<u32>(capacity);
  }

  of(whole: Whole): StaticArray<i32> {
    const numbers = new StaticArray<i32>(whole.lines);
    for (let i = 0; i < whole.lines; i++) {
      numbers[i] = this.numberOf(whole.at(i), whole.fullBytes(i));
    }
    return numbers;
  }

  private numberOf(at: usize, bytes: i32): i32 {
    const hash = hashOf(at, bytes);
    let slot = hash & (this.slots.length - 1);
    while (this.slots[slot] != 0) {
      const number = this.slots[slot] - 1;
      const same = this.hashes[number] == hash && this.bytes[number] == bytes &&
        memory.compare(this.at[number], at, bytes) == 0;
      if (same) return number;
      slot = (slot + 1) & (this.slots.length - 1);
    }
    this.at[this.count] = <u32> at;
    this.bytes[this.count] = bytes;
    this.hashes[this.count] = hash;
    this.slots[slot] = ++this.count;
    return this.count - 1;
  }
}

/** Writes hunks, each completely or not at all, so that the output can be applied. */
class Unified {
  private out: Writer = new Writer().open("{").key("diff").beginText();
  private added: i32 = 0;
  private removed: i32 = 0;
  private cut: bool = false;
  private lossy: bool = false;

  constructor(
    private old: Whole,
    private fresh: Whole,
    private edits: Edits,
    private context: i32,
  ) {}

  header(old: string, fresh: string): void {
    this.put("--- " + old + "\n+++ " + fresh + "\n");
  }

  run(): void {
    let i = 0;
    let j = 0;
    while (i < this.old.lines || j < this.fresh.lines) {
      if (!this.changed(i, j)) {
        i++;
        j++;
        continue;
      }
      // A hunk continues while less than twice the context separates two changes.
      const lead = min(this.context, i);
      let oldEnd = i;
      let freshEnd = j;
      let quiet = 0;
      while (
        quiet <= 2 * this.context && (oldEnd < this.old.lines || freshEnd < this.fresh.lines)
      ) {
        if (this.changed(oldEnd, freshEnd)) {
          quiet = 0;
          while (oldEnd < this.old.lines && this.edits.removed[oldEnd]) oldEnd++;
          while (freshEnd < this.fresh.lines && this.edits.added[freshEnd]) freshEnd++;
        } else {
          quiet++;
          oldEnd++;
          freshEnd++;
        }
      }
      const back = max(quiet - this.context, 0);
      this.hunk(i - lead, j - lead, oldEnd - back, freshEnd - back);
      i = oldEnd;
      j = freshEnd;
    }
  }

  private changed(i: i32, j: i32): bool {
    return (i < this.old.lines && this.edits.removed[i]) ||
      (j < this.fresh.lines && this.edits.added[j]);
  }

  private hunk(i: i32, j: i32, oldEnd: i32, freshEnd: i32): void {
    const begin = this.out.bytes;
    if (!this.cut) {
      this.put("@@ -" + range(i, oldEnd - i) + " +" + range(j, freshEnd - j) + " @@\n");
    }
    while (i < oldEnd || j < freshEnd) {
      if (i < oldEnd && this.edits.removed[i]) {
        this.removed++;
        this.line(0x2d, this.old, i++);
      } else if (j < freshEnd && this.edits.added[j]) {
        this.added++;
        this.line(0x2b, this.fresh, j++);
      } else {
        this.line(0x20, this.old, i++);
        j++;
      }
    }
    if (this.cut || this.out.bytes <= RESULT_BYTES) return;
    this.out.rewind(begin);
    this.cut = true;
  }

  private line(sign: u8, whole: Whole, line: i32): void {
    if (this.cut || this.out.bytes > RESULT_BYTES) return;
    const at = whole.at(line);
    const open = line == whole.lines - 1 && whole.open;
    const bytes = whole.fullBytes(line) - <i32> !open;
    this.put(String.fromCharCode(sign));
    for (let i = 0; i < bytes && !this.lossy;) {
      const size = sequenceAt(at + i, bytes - i);
      this.lossy = size == 0;
      i += max(size, 1);
    }
    this.out.moreText(at, bytes).newline();
    if (open) this.put("\\ No newline at end of file\n");
  }

  private put(text: string): void {
    const utf8 = String.UTF8.encode(text);
    this.out.moreText(changetype<usize>(utf8), utf8.byteLength);
  }

  write(): Writer {
    const equal = this.added == 0 && this.removed == 0;
    // Equal texts have no diff, so no header.
    if (equal) this.out = new Writer().open("{").key("diff").beginText();
    this.out.endText().key("added").integer(this.added).key("removed").integer(this.removed);
    if (this.cut) this.out.key("cut").bool(true);
    if (this.lossy) this.out.key("lossy").bool(true);
    return this.out.close("}");
  }
}

/** A range in a hunk's notation: an empty one names the line before it. */
function range(from: i32, count: i32): string {
  return (count == 0 ? from : from + 1).toString() + "," + count.toString();
}
