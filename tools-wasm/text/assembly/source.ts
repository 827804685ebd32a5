// The input of a tool: a file piece by piece, or a text in the call.

import { decodeBase64 } from "remit/base64";
import { Json, Kind } from "remit/json";
import { fail, hostCall } from "remit/plugin";
import { Writer } from "remit/writer";
import { behindLast, findByte } from "./find";

/** Maximum bytes of one read; a multiple of three, so that base64 has no padding inside a file. */
export const PIECE = 786_432;

/** Only so many bytes are read of a longer line. */
export const LINE_BYTES = 2_097_152;

/** Bytes in order. */
export class Source {
  /** Bytes of the whole; known after the first read. */
  size: i64 = -1;
  private at: i64 = 0;

  constructor(readonly path: string, readonly inline: Uint8Array | null) {
    if (inline != null) this.size = inline.length;
  }

  /** Reads up to `PIECE` bytes to `to`. Returns their number: 0 at the end, and after a failure. */
  read(to: usize): i32 {
    const bytes = this.readAt(this.at, PIECE, to);
    this.at += bytes;
    return bytes;
  }

  /** Reads at most `bytes` (and `PIECE`) bytes from byte `from`. */
  readAt(from: i64, bytes: i32, to: usize): i32 {
    const inline = this.inline;
    if (inline != null) {
      const count = <i32> min<i64>(min(bytes, PIECE), max<i64>(inline.length - from, 0));
      memory.copy(to, inline.dataStart + <usize> from, count);
      return count;
    }
    if (this.size >= 0 && from >= this.size) return 0;
    const asked = new Writer().open("{").key("path").text(this.path).key("from").integer(from)
      .key("bytes").integer(min(bytes, PIECE)).key("encoding").text("base64").close("}");
    const answer = hostCall("fs.read", asked);
    const refused = answer.fault;
    if (refused != null) {
      fail(refused.code, refused.message);
      return 0;
    }
    return this.take(answer.value, min(bytes, PIECE), to);
  }

  private take(value: Json | null, bytes: i32, to: usize): i32 {
    const coded = value == null ? new Uint8Array(0) : textOf(value.get("base64"));
    const size: i64 = value == null ? -1 : sizeOf(value.get("bytes"));
    if (size < 0 || coded.length % 4 != 0 || coded.length > (bytes + 2) / 3 * 4) {
      fail(
        "badFrame",
        "Cannot read '" + this.path + "': the host's answer is not what fs.read gives",
      );
      return 0;
    }
    if (this.size >= 0 && this.size != size) {
      fail("conflict", "Cannot read '" + this.path + "': it changed meanwhile");
      return 0;
    }
    this.size = size;
    return decodeBase64(coded, to);
  }
}

function textOf(value: Json | null): Uint8Array {
  return value == null ? new Uint8Array(0) : value.utf8();
}

function sizeOf(value: Json | null): i64 {
  return value == null || value.kind != Kind.Number ? -1 : <i64> value.number;
}

/** The buffer for files, one for each instance; only one text is read at a time. */
let buffer: ArrayBuffer | null = null;

function readingBuffer(): usize {
  let made = buffer;
  if (made == null) {
    made = new ArrayBuffer(LINE_BYTES + PIECE + 16);
    buffer = made;
  }
  return changetype<usize>(made);
}

/** Whole lines in blocks, as many as fit. A text in the call is one block. */
export class Blocks {
  /** The block: from `base` to `end`, with newlines; the last line of a text may lack its own. */
  base: usize = 0;
  end: usize = 0;
  /** Lines of which only the first `LINE_BYTES` or so were read. */
  overlong: i32 = 0;
  private used: usize = 0;
  private skipping: bool = false;

  constructor(private source: Source) {}

  /** Advances to the next block; false at the end, and after a failure. */
  next(): bool {
    const inline = this.source.inline;
    return inline == null ? this.nextOfFile() : this.wholeOf(inline);
  }

  private wholeOf(inline: Uint8Array): bool {
    if (this.base != 0 || inline.length == 0) return false;
    this.base = inline.dataStart;
    this.end = this.base + inline.length;
    return true;
  }

  private nextOfFile(): bool {
    const start = readingBuffer();
    const rest: usize = this.base == 0 ? 0 : start + this.used - this.end;
    memory.copy(start, this.end, rest);
    this.used = rest;
    this.base = start;
    while (true) {
      const bytes = this.source.read(start + this.used);
      this.used += bytes;
      this.end = start + this.used;
      if (bytes == 0) return this.used > 0;
      if (this.skipping) {
        this.skip();
        if (this.skipping) continue;
      }
      const whole = behindLast(start, this.end, 0x0a);
      if (whole > start) {
        this.end = whole;
        return true;
      }
      if (<i32> this.used >= LINE_BYTES) {
        this.overlong++;
        this.skipping = true;
        return true;
      }
    }
  }

  /** Drops the rest of an overlong line. */
  private skip(): void {
    const newline = findByte(this.base, this.end, 0x0a);
    const from = newline == this.end ? newline : newline + 1;
    this.skipping = newline == this.end;
    this.used = this.end - from;
    memory.copy(this.base, from, this.used);
    this.end = this.base + this.used;
  }
}

/** One line after the other, without its newline and the carriage return before it. */
export class Lines {
  /** Address and bytes of the line. */
  at: usize = 0;
  bytes: i32 = 0;
  /** 1 for the first line. */
  number: i32 = 0;
  readonly blocks: Blocks;
  private following: usize = 0;

  constructor(source: Source) {
    this.blocks = new Blocks(source);
  }

  /** Advances to the next line; false at the end, and after a failure. */
  next(): bool {
    if (this.following == this.blocks.end) {
      if (!this.blocks.next()) return false;
      this.following = this.blocks.base;
    }
    const newline = findByte(this.following, this.blocks.end, 0x0a);
    this.at = this.following;
    this.bytes = lineBytes(this.at, newline);
    this.following = newline == this.blocks.end ? newline : newline + 1;
    this.number++;
    return true;
  }
}

/** Bytes of a line that ends before `newline`, without a carriage return there. */
export function lineBytes(at: usize, newline: usize): i32 {
  return <i32> (newline - at) - <i32> (newline > at && load<u8>(newline - 1) == 0x0d);
}
