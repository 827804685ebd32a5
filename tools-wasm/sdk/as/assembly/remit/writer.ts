// Writes JSON as bytes, front to back.

/** Grows and inserts commas automatically. `open`/`close` take "{" and "}" or "[" and "]". */
export class Writer {
  private buffer: ArrayBuffer = new ArrayBuffer(1024);
  private used: i32 = 0;
  private comma: bool = false;

  get bytes(): i32 {
    return this.used;
  }

  /** Address of the first byte; invalid after the next write. */
  get base(): usize {
    return changetype<usize>(this.buffer);
  }

  open(bracket: string): Writer {
    this.next();
    this.byte(bracket.charCodeAt(0));
    this.comma = false;
    return this;
  }

  close(bracket: string): Writer {
    this.byte(bracket.charCodeAt(0));
    this.comma = true;
    return this;
  }

  key(name: string): Writer {
    this.text(name);
    this.byte(0x3a);
    this.comma = false;
    return this;
  }

  text(value: string): Writer {
    const utf8 = String.UTF8.encode(value);
    return this.utf8(changetype<usize>(utf8), utf8.byteLength);
  }

  integer(value: i64): Writer {
    return this.raw(value.toString());
  }

  number(value: f64): Writer {
    return this.raw(isFinite(value) ? value.toString() : "null");
  }

  bool(value: bool): Writer {
    return this.raw(value ? "true" : "false");
  }

  null(): Writer {
    return this.raw("null");
  }

  /** A string of UTF-8 bytes; each byte that is not UTF-8 becomes U+FFFD. */
  utf8(base: usize, bytes: i32): Writer {
    return this.beginText().moreText(base, bytes).endText();
  }

  /** A value that is JSON already. */
  json(value: Writer): Writer {
    this.next();
    this.room(value.bytes);
    memory.copy(this.base + this.used, value.base, value.bytes);
    this.used += value.bytes;
    this.comma = true;
    return this;
  }

  /** A string in pieces: `beginText`, any number of `moreText` and `newline`, `endText`. */
  beginText(): Writer {
    this.next();
    this.byte(0x22);
    return this;
  }

  endText(): Writer {
    this.byte(0x22);
    this.comma = true;
    return this;
  }

  /** Drops everything after the first `bytes`, in the middle of a string. */
  rewind(bytes: i32): void {
    this.used = bytes;
  }

  newline(): Writer {
    this.escaped(0x0a);
    return this;
  }

  moreText(base: usize, bytes: i32): Writer {
    let at = 0;
    while (at < bytes) {
      const byte = load<u8>(base + at);
      if (byte >= 0x80) {
        const size = sequenceAt(base + at, bytes - at);
        if (size == 0) {
          this.ascii("\ufffd");
          at++;
        } else {
          this.room(4);
          for (let i = 0; i < size; i++) {
            store<u8>(this.base + this.used++, load<u8>(base + at + i));
          }
          at += size;
        }
        continue;
      }
      at++;
      if (byte >= 0x20 && byte != 0x22 && byte != 0x5c) this.byte(byte);
      else this.escaped(byte);
    }
    return this;
  }

  private escaped(byte: i32): void {
    this.byte(0x5c);
    if (byte == 0x0a) this.byte(0x6e);
    else if (byte == 0x09) this.byte(0x74);
    else if (byte == 0x0d) this.byte(0x72);
    else if (byte >= 0x20) this.byte(byte);
    else {
      this.ascii("u00");
      this.byte(0x30 + (byte >> 4));
      this.byte((byte & 15) + ((byte & 15) < 10 ? 0x30 : 0x57));
    }
  }

  private raw(text: string): Writer {
    this.next();
    this.ascii(text);
    this.comma = true;
    return this;
  }

  private next(): void {
    if (this.comma) this.byte(0x2c);
  }

  private ascii(text: string): void {
    const utf8 = String.UTF8.encode(text);
    this.room(utf8.byteLength);
    memory.copy(this.base + this.used, changetype<usize>(utf8), utf8.byteLength);
    this.used += utf8.byteLength;
  }

  private byte(value: i32): void {
    this.room(1);
    store<u8>(this.base + this.used++, <u8> value);
  }

  private room(bytes: i32): void {
    if (this.used + bytes <= this.buffer.byteLength) return;
    const grown = new ArrayBuffer(max(this.buffer.byteLength * 2, this.used + bytes));
    memory.copy(changetype<usize>(grown), this.base, this.used);
    this.buffer = grown;
  }
}

/** Bytes of the well-formed UTF-8 sequence at `at`, with `left` bytes available; 0 for none. */
export function sequenceAt(at: usize, left: i32): i32 {
  const first = load<u8>(at);
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  const size = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (left < size) return 0;
  const second = load<u8>(at, 1);
  if ((second & 0xc0) != 0x80) return 0;
  if (first == 0xe0 && second < 0xa0) return 0; // longer than it must be
  if (first == 0xed && second > 0x9f) return 0; // half of a surrogate pair
  if (first == 0xf0 && second < 0x90) return 0; // longer than it must be
  if (first == 0xf4 && second > 0x8f) return 0; // past U+10FFFF
  for (let i = 2; i < size; i++) if ((load<u8>(at + i) & 0xc0) != 0x80) return 0;
  return size;
}
