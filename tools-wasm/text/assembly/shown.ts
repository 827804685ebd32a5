// Text for results: whole characters, cut where there is too much.

import { Writer } from "remit/writer";

/** Maximum bytes of JSON for a result's text: results are shown up to 64 KiB. */
export const RESULT_BYTES = 60_000;

/** Bytes up to `limit`, ending with a whole character. */
export function wholeCharacters(at: usize, bytes: i32, limit: i32): i32 {
  if (bytes <= limit) return bytes;
  let end = limit;
  for (let back = 0; back < 3 && end > 0 && (load<u8>(at + end) & 0xc0) == 0x80; back++) end--;
  return end;
}

/** Characters that begin in so many bytes. */
export function charactersBefore(at: usize, bytes: i32): i32 {
  let count = 0;
  for (let i = 0; i < bytes; i++) count += <i32> ((load<u8>(at + i) & 0xc0) != 0x80);
  return count;
}

/** Joins lines into one text, up to a limit. */
export class Text {
  /** Whether something was omitted. */
  cut: bool = false;
  lines: i32 = 0;
  private writer: Writer = new Writer();

  constructor(private limit: i32) {
    this.writer.beginText();
  }

  /** Adds a line and a newline; false when a limit is reached. */
  add(at: usize, bytes: i32): bool {
    const room = RESULT_BYTES - this.writer.bytes;
    if (this.cut || this.lines >= this.limit || room <= 0) {
      this.cut = true;
      return false;
    }
    const shown = wholeCharacters(at, bytes, room);
    this.cut = shown < bytes;
    this.writer.moreText(at, shown).newline();
    this.lines++;
    return !this.cut;
  }

  /** Writes the text as the value of `key`, and `cut` when something was omitted. */
  writeTo(out: Writer, key: string): void {
    this.writer.endText();
    out.key(key).json(this.writer);
    if (this.cut) out.key("cut").bool(true);
  }
}
