// Text as results show it: whole characters, cut where there is too much.

import { Writer } from "remit/writer";

/** Most bytes of JSON that a result's text takes: results are shown up to 64 KiB. */
export const RESULT_BYTES = 60_000;

/** Bytes up to `most` that end with a whole character. */
export function wholeCharacters(at: usize, bytes: i32, most: i32): i32 {
  if (bytes <= most) return bytes;
  let end = most;
  for (let back = 0; back < 3 && end > 0 && (load<u8>(at + end) & 0xc0) == 0x80; back++) end--;
  return end;
}

/** Characters that begin in so many bytes. */
export function charactersBefore(at: usize, bytes: i32): i32 {
  let count = 0;
  for (let i = 0; i < bytes; i++) count += <i32> ((load<u8>(at + i) & 0xc0) != 0x80);
  return count;
}

/** Lines that are put together to one text until there is too much. */
export class Text {
  /** Whether something was left out. */
  cut: bool = false;
  lines: i32 = 0;
  private writer: Writer = new Writer();

  constructor(private most: i32) {
    this.writer.beginText();
  }

  /** Adds a line and a newline; false when there is no more room or number. */
  add(at: usize, bytes: i32): bool {
    const room = RESULT_BYTES - this.writer.bytes;
    if (this.cut || this.lines >= this.most || room <= 0) {
      this.cut = true;
      return false;
    }
    const shown = wholeCharacters(at, bytes, room);
    this.cut = shown < bytes;
    this.writer.moreText(at, shown).newline();
    this.lines++;
    return !this.cut;
  }

  /** Writes it as the value of `key`, and `cut` when something was left out. */
  writeTo(out: Writer, key: string): void {
    this.writer.endText();
    out.key(key).json(this.writer);
    if (this.cut) out.key("cut").bool(true);
  }
}
