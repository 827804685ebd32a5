// A whole text in memory, with its lines, for sorting and comparing. Refuses a text that is too
// large.

import { fail, failed } from "remit/plugin";
import { countByte, findByte } from "./find";
import { lineBytes, PIECE, Source } from "./source";

/** Lines of a text in memory. Line numbers begin at 0. */
export class Whole {
  /** Address of the text, and its bytes. */
  readonly base: usize;
  readonly bytes: i32;
  /** Offset of each line, and one more behind the last. */
  readonly starts: StaticArray<i32>;
  readonly lines: i32;
  private holder: ArrayBuffer;

  constructor(holder: ArrayBuffer, bytes: i32) {
    this.holder = holder;
    const base = changetype<usize>(holder);
    const end = base + bytes;
    const closed = countByte(base, end, 0x0a);
    const lines = closed + <i32> (bytes > 0 && load<u8>(end - 1) != 0x0a);
    const starts = new StaticArray<i32>(lines + 1);
    let at = base;
    for (let i = 0; i < lines; i++) {
      starts[i] = <i32> (at - base);
      at = findByte(at, end, 0x0a) + 1;
    }
    starts[lines] = bytes;
    this.base = base;
    this.bytes = bytes;
    this.lines = lines;
    this.starts = starts;
  }

  /** Address of a line. */
  at(line: i32): usize {
    return this.base + unchecked(this.starts[line]);
  }

  /** Bytes of a line, with its newline if it has one. */
  fullBytes(line: i32): i32 {
    return unchecked(this.starts[line + 1]) - unchecked(this.starts[line]);
  }

  /** Bytes of a line without its end: a newline, or a carriage return and a newline. */
  lineBytes(line: i32): i32 {
    const end = this.base + unchecked(this.starts[line + 1]);
    const newline = end > this.at(line) && load<u8>(end - 1) == 0x0a ? end - 1 : end;
    return lineBytes(this.at(line), newline);
  }

  /** Whether the last line lacks a newline. */
  get open(): bool {
    return this.bytes > 0 && load<u8>(this.base + this.bytes - 1) != 0x0a;
  }
}

/** Reads a whole text; fails the call when it exceeds a limit. */
export function readWhole(source: Source, verb: string, mostBytes: i32, mostLines: i32): Whole {
  const none = new Whole(new ArrayBuffer(0), 0);
  const first = new ArrayBuffer(source.size >= 0 ? 0 : PIECE);
  const got = source.size >= 0 ? 0 : source.read(changetype<usize>(first));
  if (failed()) return none;
  if (source.size > mostBytes) {
    tooLarge(verb, mostBytes.toString() + " bytes");
    return none;
  }
  const size = <i32> source.size;
  const holder = new ArrayBuffer(size + 16);
  const base = changetype<usize>(holder);
  memory.copy(base, changetype<usize>(first), got);
  let used = got;
  while (used < size) {
    const fresh = source.read(base + used);
    if (fresh == 0) break;
    used += fresh;
  }
  if (failed()) return none;
  if (countByte(base, base + used, 0x0a) >= mostLines) {
    tooLarge(verb, mostLines.toString() + " lines");
    return none;
  }
  return new Whole(holder, used);
}

function tooLarge(verb: string, limit: string): void {
  fail("tooLarge", "Cannot " + verb + " the text: it has more than " + limit);
}
