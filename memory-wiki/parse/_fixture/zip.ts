/** Zip archives for tests, valid and invalid. @module */
import { constants, deflateRawSync } from "node:zlib";

/** One entry, and false values for its headers. */
export interface ZipPart {
  readonly name: string;
  readonly content: string | Uint8Array;
  /** Raw deflate that is written unchanged. */
  readonly packed?: Uint8Array;
  readonly stored?: boolean;
  readonly flags?: number;
  readonly method?: number;
  /** The unpacked size in the headers. */
  readonly says?: number;
  /** The packed size in the directory. */
  readonly saysPacked?: number;
  /** The directory gives the offset of the entry with this number instead. */
  readonly like?: number;
}

const text = new TextEncoder();

/** Makes an archive. Checksums are zero: no code under test checks them. */
export function makeZip(parts: readonly ZipPart[], comment = ""): Uint8Array<ArrayBuffer> {
  const out: Uint8Array[] = [];
  const central: Uint8Array[] = [];
  const offsets: number[] = [];
  let size = 0;
  const put = (bytes: Uint8Array): void => {
    out.push(bytes);
    size += bytes.length;
  };
  for (const part of parts) {
    const raw = typeof part.content === "string" ? text.encode(part.content) : part.content;
    const packed = part.packed ?? (part.stored === true ? raw : deflateRawSync(raw));
    const name = text.encode(part.name);
    const fields = {
      flags: part.flags ?? 0x800,
      method: part.method ?? (part.stored === true ? 0 : 8),
      packed: part.saysPacked ?? packed.length,
      size: part.says ?? raw.length,
      name: name.length,
    };
    offsets.push(size);
    const offset = part.like === undefined ? size : offsets[part.like] ?? 0;
    put(header(0x04034b50, fields));
    put(name);
    put(packed);
    central.push(header(0x02014b50, { ...fields, offset }), name);
  }
  const start = size;
  for (const bytes of central) put(bytes);
  const end = new DataView(new ArrayBuffer(22));
  end.setUint32(0, 0x06054b50, true);
  end.setUint16(8, parts.length, true);
  end.setUint16(10, parts.length, true);
  end.setUint32(12, size - start, true);
  end.setUint32(16, start, true);
  end.setUint16(20, comment.length, true);
  put(new Uint8Array(end.buffer));
  put(text.encode(comment));
  return joined(out);
}

function header(
  signature: number,
  fields: {
    readonly flags: number;
    readonly method: number;
    readonly packed: number;
    readonly size: number;
    readonly name: number;
    readonly offset?: number;
  },
): Uint8Array {
  const central = fields.offset !== undefined;
  const view = new DataView(new ArrayBuffer(central ? 46 : 30));
  view.setUint32(0, signature, true);
  const at = central ? 6 : 4;
  view.setUint16(at, 20, true);
  view.setUint16(at + 2, fields.flags, true);
  view.setUint16(at + 4, fields.method, true);
  view.setUint32(at + 14, fields.packed, true);
  view.setUint32(at + 18, fields.size, true);
  view.setUint16(at + 22, fields.name, true);
  if (fields.offset !== undefined) view.setUint32(42, fields.offset, true);
  return new Uint8Array(view.buffer);
}

/** Concatenated bytes. */
export function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Raw deflate of `head` followed by this many MiB of one character, made by repeating one block. */
export function bomb(head: string, mebibytes: number, character = "\0"): Uint8Array<ArrayBuffer> {
  const STEP = 16;
  const flushed = { finishFlush: constants.Z_FULL_FLUSH };
  const piece = deflateRawSync(new Uint8Array(STEP << 20).fill(character.charCodeAt(0)), flushed);
  const first = deflateRawSync(text.encode(head), flushed);
  const count = Math.ceil(mebibytes / STEP);
  return joined([first, ...Array.from({ length: count }, () => piece), Uint8Array.of(3, 0)]);
}
