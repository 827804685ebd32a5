// text_count: lines, words, bytes, characters.

import { Json } from "remit/json";
import { answer, failed } from "remit/plugin";
import { sequenceAt, Writer } from "remit/writer";
import { sourceOf } from "./arguments";
import { countByte } from "./find";
import { PIECE } from "./source";

/** Maximum bytes of a UTF-8 character that two reads may split. */
const TORN = 3;

export function count(args: Json): void {
  const source = sourceOf(args);
  if (failed()) return;
  const buffer = new ArrayBuffer(PIECE + TORN + 3);
  const tally = new Tally(changetype<usize>(buffer));
  let kept = 0;
  for (let fresh = -1; fresh != 0;) {
    fresh = source.read(changetype<usize>(buffer) + kept);
    kept = tally.take(kept, fresh);
  }
  answer(tally.write());
}

class Tally {
  private lines: i64 = 0;
  private words: i64 = 0;
  private bytes: i64 = 0;
  private characters: i64 = 0;
  private invalid: i64 = 0;
  private inWord: bool = false;
  private open: bool = false;

  constructor(private base: usize) {}

  /** Counts the kept bytes and `fresh` more; returns how many bytes to keep for the next call. */
  take(kept: i32, fresh: i32): i32 {
    const all = kept + fresh;
    this.lines += countByte(this.base + kept, this.base + all, 0x0a);
    this.bytes += fresh;
    if (fresh > 0) this.open = load<u8>(this.base + all - 1) != 0x0a;
    let at = 0;
    while (at < all) {
      const byte = load<u8>(this.base + at);
      const size = byte < 0x80 ? 1 : sequenceAt(this.base + at, all - at);
      if (size == 0 && fresh > 0 && all - at <= TORN && mayGoOn(this.base + at, all - at)) break;
      const space = byte == 0x20 || (byte >= 9 && byte <= 13);
      this.words += <i64> (!space && !this.inWord);
      this.inWord = !space;
      this.characters++;
      this.invalid += <i64> (size == 0);
      at += max(size, 1);
    }
    memory.copy(this.base, this.base + at, all - at);
    return all - at;
  }

  write(): Writer {
    const out = new Writer().open("{").key("lines").integer(this.lines + <i64> this.open)
      .key("words").integer(this.words).key("bytes").integer(this.bytes)
      .key("characters").integer(this.characters);
    if (this.open) out.key("noFinalNewline").bool(true);
    if (this.invalid > 0) out.key("invalidBytes").integer(this.invalid);
    return out.close("}");
  }
}

/** Whether these few bytes can begin a character. */
function mayGoOn(at: usize, bytes: i32): bool {
  const first = load<u8>(at);
  if (first < 0xc2 || first > 0xf4) return false;
  for (let i = 1; i < bytes; i++) if ((load<u8>(at + i) & 0xc0) != 0x80) return false;
  return bytes < (first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4);
}
