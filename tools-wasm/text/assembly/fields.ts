// Fields of a line, between delimiters, or between runs of blanks without a delimiter.

/** Finds fields in lines. An empty delimiter means runs of spaces and tabs. */
export class Fields {
  /** Address of the found field, and its bytes. */
  at: usize = 0;
  bytes: i32 = 0;

  constructor(readonly delimiter: Uint8Array) {}

  /** Finds field `number` (1 is the first) of a line; false, and an empty field, for fewer. */
  find(line: usize, bytes: i32, number: i32): bool {
    let from = line;
    const end = line + bytes;
    for (let field = 1;; field++) {
      if (this.delimiter.length == 0) {
        while (from < end && isBlank(load<u8>(from))) from++;
        if (from == end) break;
      }
      const to = this.endOf(from, end);
      if (field == number) {
        this.at = from;
        this.bytes = <i32> (to - from);
        return true;
      }
      if (to == end) break;
      from = to + max(this.delimiter.length, 1);
    }
    this.at = end;
    this.bytes = 0;
    return false;
  }

  /** Address of the next delimiter from `from` on; `end` for none. */
  endOf(from: usize, end: usize): usize {
    const bytes = this.delimiter.length;
    if (bytes == 0) {
      while (from < end && !isBlank(load<u8>(from))) from++;
      return from;
    }
    const base = this.delimiter.dataStart;
    for (; from + bytes <= end; from++) if (memory.compare(from, base, bytes) == 0) return from;
    return end;
  }
}

function isBlank(byte: u8): bool {
  return byte == 0x20 || byte == 0x09;
}
