/** Zip archives for tests, well made and not. @module */
import { constants, deflateRawSync } from "node:zlib";

/** One entry, and what its headers say of it where that is not so. */
export interface ZipPart {
  readonly name: string;
  readonly content: string | Uint8Array;
  /** Raw deflate that is put in as it is. */
  readonly packed?: Uint8Array;
  readonly stored?: boolean;
  readonly flags?: number;
  readonly method?: number;
  /** The unpacked size that the headers tell. */
  readonly says?: number;
  /** The packed size that the directory tells. */
  readonly saysPacked?: number;
  /** Offset of the entry that the directory means by this one, by its number. */
  readonly like?: number;
}

const text = new TextEncoder();

/** Makes an archive. Checksums are zero: nothing here looks at them. */
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

/** Bytes end to end. */
export function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Raw deflate of `head` and then so many MiB of one character, made of one piece over and over. */
export function bomb(head: string, mebibytes: number, character = "\0"): Uint8Array<ArrayBuffer> {
  const STEP = 16;
  const flushed = { finishFlush: constants.Z_FULL_FLUSH };
  const piece = deflateRawSync(new Uint8Array(STEP << 20).fill(character.charCodeAt(0)), flushed);
  const first = deflateRawSync(text.encode(head), flushed);
  const count = Math.ceil(mebibytes / STEP);
  return joined([first, ...Array.from({ length: count }, () => piece), Uint8Array.of(3, 0)]);
}
