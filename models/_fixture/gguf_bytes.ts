/** Writes the bytes of GGUF version 3: metadata, a table of tensors, their data. @module */
import { joinBytes } from "../../port/join_bytes.ts";

/** A value of the metadata. */
export type GgufValue =
  | { readonly u32: number }
  | { readonly f32: number }
  | { readonly bool: boolean }
  | { readonly text: string }
  | { readonly texts: readonly string[] }
  | { readonly f32s: readonly number[] }
  | { readonly i32s: readonly number[] };

/** A tensor of 32-bit floats; the first dimension is the contiguous one. */
export interface GgufTensor {
  readonly name: string;
  readonly shape: readonly number[];
  readonly data: Float32Array;
}

const ALIGNMENT = 32;
const utf8 = new TextEncoder();

/** Appends little-endian values to a growing list of bytes. */
export interface ByteWriter {
  u8(value: number): void;
  u32(value: number): void;
  u64(value: number): void;
  f32(value: number): void;
  raw(bytes: Uint8Array): void;
  /** The length in 64 bits, then the UTF-8 bytes. */
  text(value: string): void;
  pad(to: number): void;
  length(): number;
  bytes(): Uint8Array<ArrayBuffer>;
}

export function makeByteWriter(): ByteWriter {
  const parts: Uint8Array[] = [];
  let length = 0;
  const raw = (bytes: Uint8Array): void => {
    parts.push(bytes);
    length += bytes.length;
  };
  const number = (size: number, set: (view: DataView) => void): void => {
    const bytes = new Uint8Array(size);
    set(new DataView(bytes.buffer));
    raw(bytes);
  };
  const u64 = (value: number): void =>
    number(8, (view) => view.setBigUint64(0, BigInt(value), true));
  return Object.freeze<ByteWriter>({
    u8: (value) => number(1, (view) => view.setUint8(0, value)),
    u32: (value) => number(4, (view) => view.setUint32(0, value, true)),
    u64,
    f32: (value) => number(4, (view) => view.setFloat32(0, value, true)),
    raw,
    text: (value) => {
      const bytes = utf8.encode(value);
      u64(bytes.length);
      raw(bytes);
    },
    pad: (to) => raw(new Uint8Array((to - length % to) % to)),
    length: () => length,
    bytes: () => joinBytes(parts),
  });
}

/** Writes one value with the number of its type before it. */
function writeValue(to: ByteWriter, value: GgufValue): void {
  const array = <T>(type: number, all: readonly T[], each: (one: T) => void): void => {
    to.u32(9);
    to.u32(type);
    to.u64(all.length);
    all.forEach(each);
  };
  if ("u32" in value) {
    to.u32(4);
    to.u32(value.u32);
  } else if ("f32" in value) {
    to.u32(6);
    to.f32(value.f32);
  } else if ("bool" in value) {
    to.u32(7);
    to.u8(value.bool ? 1 : 0);
  } else if ("text" in value) {
    to.u32(8);
    to.text(value.text);
  } else if ("texts" in value) array(8, value.texts, to.text);
  else if ("f32s" in value) array(6, value.f32s, to.f32);
  else array(5, value.i32s, (one) => to.u32(one >>> 0));
}

/** Writes a whole file. */
export function ggufBytes(
  metadata: Readonly<Record<string, GgufValue>>,
  tensors: readonly GgufTensor[],
): Uint8Array<ArrayBuffer> {
  const to = makeByteWriter();
  const entries = Object.entries(metadata);
  to.raw(utf8.encode("GGUF"));
  to.u32(3);
  to.u64(tensors.length);
  to.u64(entries.length);
  for (const [key, value] of entries) {
    to.text(key);
    writeValue(to, value);
  }
  let offset = 0;
  for (const { name, shape, data } of tensors) {
    to.text(name);
    to.u32(shape.length);
    shape.forEach(to.u64);
    to.u32(0);
    to.u64(offset);
    offset += Math.ceil(data.byteLength / ALIGNMENT) * ALIGNMENT;
  }
  to.pad(ALIGNMENT);
  for (const { data } of tensors) {
    to.raw(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
    to.pad(ALIGNMENT);
  }
  return to.bytes();
}
