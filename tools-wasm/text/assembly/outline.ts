// text_outline: the headings of a Markdown text, outside code blocks and front matter.

import { Json } from "remit/json";
import { answer, failed } from "remit/plugin";
import { Writer } from "remit/writer";
import { integerOf, sourceOf } from "./arguments";
import { RESULT_BYTES, wholeCharacters } from "./shown";
import { Lines } from "./source";

/** Maximum bytes shown of a heading. */
const SHOWN = 300;

export function outline(args: Json): void {
  const source = sourceOf(args);
  const depth = integerOf(args, "depth", 6, 1, 6);
  if (failed()) return;
  const lines = new Lines(source);
  const reader = new Outline(depth);
  while (lines.next() && !reader.full) {
    const mark = lines.number == 1 ? markBytes(lines.at, lines.bytes) : 0;
    reader.take(lines.at + mark, lines.bytes - mark, lines.number);
  }
  answer(reader.write());
}

class Outline {
  full: bool = false;
  private out: Writer = new Writer().open("{").key("headings").open("[");
  private fence: u8 = 0;
  private fenceBytes: i32 = 0;
  private inFront: bool = false;
  /** The paragraph that an underline would make a heading: its first bytes and its line number. */
  private paragraph: Uint8Array = new Uint8Array(SHOWN + 4);
  private paragraphBytes: i32 = 0;
  private paragraphLine: i32 = 0;

  constructor(private depth: i32) {}

  take(line: usize, bytes: i32, number: i32): void {
    const leading = blanks(line, bytes, 0);
    // A tab reaches at least the fourth column.
    const indent = leading > 0 && holds(line, leading, 0x09) ? 4 : leading;
    const at = line + leading;
    const left = bytes - leading;
    const first: u8 = left > 0 ? load<u8>(at) : 0;
    if (number == 1 && bytes == 3 && isRun(line, 3, 0x2d)) {
      this.inFront = true;
      return;
    }
    if (this.inFront && bytes == 3 && (isRun(line, 3, 0x2d) || isRun(line, 3, 0x2e))) {
      return this.endFront();
    }
    if (this.fence != 0) return this.inFence(at, left, indent);
    if (left == 0) return this.endParagraph();
    // Four blanks begin code, unless a paragraph continues.
    if (indent > 3) {
      if (this.paragraphLine > 0) this.addToParagraph(at, left, number);
      return;
    }
    const run = runOf(at, left, first);
    if (
      (first == 0x60 || first == 0x7e) && run >= 3 &&
      !(first == 0x60 && holds(at + run, left - run, 0x60))
    ) {
      this.fence = first;
      this.fenceBytes = run;
      return this.endParagraph();
    }
    if (first == 0x23 && run <= 6 && (run == left || isBlank(load<u8>(at + run)))) {
      this.endParagraph();
      return this.heading(run, number, at + run, left - run);
    }
    const level = first == 0x3d ? 1 : first == 0x2d ? 2 : 0;
    if (level > 0 && this.paragraphLine > 0 && run + blanks(at, left, run) == left) {
      this.add(level, this.paragraphLine, this.paragraph.dataStart, this.paragraphBytes);
      return this.endParagraph();
    }
    if (interrupts(at, left, first, run)) return this.endParagraph();
    this.addToParagraph(at, left, number);
  }

  /** Only its end tells front matter from a thematic break: drops everything found before. */
  private endFront(): void {
    this.inFront = false;
    this.fence = 0;
    this.endParagraph();
    this.out = new Writer().open("{").key("headings").open("[");
  }

  private inFence(at: usize, left: i32, indent: i32): void {
    const run = runOf(at, left, this.fence);
    if (indent <= 3 && run >= this.fenceBytes && run + blanks(at, left, run) == left) {
      this.fence = 0;
    }
  }

  private endParagraph(): void {
    this.paragraphLine = 0;
    this.paragraphBytes = 0;
  }

  private addToParagraph(at: usize, left: i32, number: i32): void {
    if (this.paragraphLine == 0) this.paragraphLine = number;
    else if (this.paragraphBytes < SHOWN) this.paragraph[this.paragraphBytes++] = 0x20;
    const taken = wholeCharacters(at, left, max(SHOWN - this.paragraphBytes, 0));
    memory.copy(this.paragraph.dataStart + this.paragraphBytes, at, taken);
    this.paragraphBytes += taken;
  }

  /** The text of a heading that begins with #, without a closing #. */
  private heading(level: i32, number: i32, at: usize, bytes: i32): void {
    let end = trimmed(at, bytes);
    let closed = end;
    while (closed > 0 && load<u8>(at + closed - 1) == 0x23) closed--;
    if (closed < end && (closed == 0 || isBlank(load<u8>(at + closed - 1)))) end = closed;
    const from = blanks(at, end, 0);
    this.add(level, number, at + from, end - from);
  }

  private add(level: i32, number: i32, at: usize, bytes: i32): void {
    if (level > this.depth) return;
    if (this.out.bytes > RESULT_BYTES) {
      this.full = true;
      return;
    }
    const shown = wholeCharacters(at, trimmed(at, bytes), SHOWN);
    this.out.open("{").key("level").integer(level).key("line").integer(number)
      .key("text").utf8(at, shown).close("}");
  }

  write(): Writer {
    this.out.close("]");
    if (this.full) this.out.key("more").bool(true);
    return this.out.close("}");
  }
}

/** Bytes of a UTF-8 byte order mark, which is not part of the first line. */
function markBytes(at: usize, bytes: i32): i32 {
  return bytes >= 3 && load<u8>(at) == 0xef && load<u8>(at, 1) == 0xbb && load<u8>(at, 2) == 0xbf
    ? 3
    : 0;
}

/** Whether a line ends a paragraph: a quotation, a list item, a thematic break, or HTML. */
function interrupts(at: usize, left: i32, first: u8, run: i32): bool {
  if (first == 0x3e || first == 0x3c) return true;
  const bullet = first == 0x2d || first == 0x2a || first == 0x2b;
  if (bullet && (run == left || isBlank(load<u8>(at + 1)))) return true;
  if ((bullet || first == 0x5f) && run >= 3 && run + blanks(at, left, run) == left) return true;
  let digits = 0;
  while (digits < min(left, 10) && load<u8>(at + digits) >= 0x30 && load<u8>(at + digits) <= 0x39) {
    digits++;
  }
  if (digits == 0 || digits >= left) return false;
  const dot = load<u8>(at + digits);
  return (dot == 0x2e || dot == 0x29) && (digits + 1 == left || isBlank(load<u8>(at + digits + 1)));
}

/** Bytes of blanks from byte `from` on. */
function blanks(at: usize, bytes: i32, from: i32): i32 {
  let to = from;
  while (to < bytes && isBlank(load<u8>(at + to))) to++;
  return to - from;
}

function isBlank(byte: u8): bool {
  return byte == 0x20 || byte == 0x09;
}

function runOf(at: usize, bytes: i32, byte: u8): i32 {
  let run = 0;
  while (run < bytes && load<u8>(at + run) == byte) run++;
  return run;
}

function isRun(at: usize, bytes: i32, byte: u8): bool {
  return runOf(at, bytes, byte) == bytes;
}

function holds(at: usize, bytes: i32, byte: u8): bool {
  for (let i = 0; i < bytes; i++) if (load<u8>(at + i) == byte) return true;
  return false;
}

function trimmed(at: usize, bytes: i32): i32 {
  while (bytes > 0 && isBlank(load<u8>(at + bytes - 1))) bytes--;
  return bytes;
}
