/** Reads numbers, names and bytes of a WebAssembly module, and never past its end. @module */
import { Fault } from "../../contracts/fault.ts";

/** A place in a module. */
export interface Cursor {
  byte(): number;
  /** An unsigned number of at most 32 bits. */
  u32(): number;
  /** An unsigned number of at most 64 bits; inexact above 2^53. */
  u64(): number;
  /** A text of at most 1,024 bytes. */
  name(): string;
  /** A cursor over the next bytes, which this one leaves behind. */
  part(length: number): Cursor;
  /** Bytes from the start of the module. */
  readonly at: number;
  readonly done: boolean;
}

const NAME_BYTES = 1_024;
const decoder = new TextDecoder("utf-8", { fatal: true });

/** The fault of a module that is not one. */
export function malformed(why: string): Fault {
  return new Fault("invalidInput", `Cannot read module: ${why}`);
}

/** Makes a cursor from `from` to `to`. */
export function makeCursor(bytes: Uint8Array, from = 0, to = bytes.length): Cursor {
  let at = from;

  function byte(): number {
    const value = at < to ? bytes[at] : undefined;
    if (value === undefined) throw malformed("it ends too early");
    at++;
    return value;
  }

  function number(bits: number): number {
    let value = 0;
    for (let shift = 0; shift < bits; shift += 7) {
      const next = byte();
      value += (next & 0x7f) * 2 ** shift;
      if (next < 0x80) {
        if (value >= 2 ** bits) break;
        return value;
      }
    }
    throw malformed("a number is too large");
  }

  function take(length: number): number {
    if (length > to - at) throw malformed("it ends too early");
    at += length;
    return at - length;
  }

  return Object.freeze({
    byte,
    u32: () => number(32),
    u64: () => number(64),
    name(): string {
      const length = number(32);
      if (length > NAME_BYTES) throw malformed("a name is too long");
      const start = take(length);
      try {
        return decoder.decode(bytes.subarray(start, start + length));
      } catch (cause) {
        throw new Fault("invalidInput", "Cannot read module: a name is not UTF-8", { cause });
      }
    },
    part(length: number): Cursor {
      const start = take(length);
      return makeCursor(bytes, start, start + length);
    },
    get at() {
      return at;
    },
    get done() {
      return at === to;
    },
  });
}
