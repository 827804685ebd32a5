/** Reads a WebAssembly binary piece by piece. @module */
import { Fault } from "../../../contracts/base/fault.ts";

/** A position in bytes that advances as they are read. */
export interface Reader {
  readonly at: () => number;
  readonly done: () => boolean;
  readonly byte: () => number;
  /** An unsigned number of at most 32 bits in LEB128. */
  readonly u32: () => number;
  /** Skips a number in LEB128, signed or not. */
  readonly skipLeb: () => void;
  readonly take: (bytes: number) => Uint8Array;
  /** A length and so many bytes. */
  readonly block: () => Uint8Array;
  /** A name in UTF-8. */
  readonly name: () => string;
}

/** Reads `bytes` from the start. Every method throws fault `invalidInput` past the end. */
export function makeReader(bytes: Uint8Array): Reader {
  let at = 0;
  const byte = (): number => {
    const value = bytes[at];
    if (value === undefined) throw new Fault("invalidInput", "Cannot read module: it ends early");
    at += 1;
    return value;
  };
  const u32 = (): number => {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const next = byte();
      value += (next & 0x7f) * 2 ** shift;
      if (next < 0x80) return value;
    }
    throw new Fault("invalidInput", "Cannot read module: a number is too long");
  };
  const take = (count: number): Uint8Array => {
    if (count > bytes.length - at) {
      throw new Fault("invalidInput", "Cannot read module: it ends early");
    }
    at += count;
    return bytes.subarray(at - count, at);
  };
  return Object.freeze({
    at: () => at,
    done: () => at >= bytes.length,
    byte,
    u32,
    skipLeb: () => {
      while (byte() >= 0x80);
    },
    take,
    block: () => take(u32()),
    name: () => new TextDecoder("utf-8", { fatal: true }).decode(take(u32())),
  });
}

/** `value` as unsigned LEB128. */
export function leb(value: number): readonly number[] {
  const out: number[] = [];
  let rest = value;
  while (rest >= 0x80) {
    out.push((rest % 0x80) | 0x80);
    rest = Math.floor(rest / 0x80);
  }
  out.push(rest);
  return out;
}

/** `value`, a 32-bit number, as signed LEB128. */
export function signedLeb(value: number): readonly number[] {
  const out: number[] = [];
  let rest = value | 0;
  while (rest < -0x40 || rest >= 0x40) {
    out.push((rest & 0x7f) | 0x80);
    rest >>= 7;
  }
  out.push(rest & 0x7f);
  return out;
}

/** All `parts` concatenated. */
export function joined(
  parts: readonly (Uint8Array | readonly number[])[],
): Uint8Array<ArrayBuffer> {
  let length = 0;
  for (const part of parts) length += part.length;
  const out = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}
