/** Reads a GGUF header value by value, never past the file's end. @module */
import { Fault } from "../base/fault.ts";

/** Byte sizes of the fixed-size metadata types, by type number. */
const SCALAR_BYTES: ReadonlyMap<number, number> = new Map([
  [0, 1],
  [1, 1],
  [2, 2],
  [3, 2],
  [4, 4],
  [5, 4],
  [6, 4],
  [7, 1],
  [10, 8],
  [11, 8],
  [12, 8],
]);
const TYPE_TEXT = 8;
const TYPE_ARRAY = 9;

/** The file that a header is read from. */
export interface HeaderFile {
  /** In bytes. */
  readonly length: number;
  /** Copies bytes; fewer at the end of the file. */
  read(at: number, length: number): Uint8Array<ArrayBuffer>;
}

/** A metadata value; lists are skipped unless asked for. */
export type MetadataValue = string | number | boolean | readonly string[] | readonly number[];

/** A reading position that advances with each read. All reads throw `invalidInput`. */
export interface GgufCursor {
  at(): number;
  u32(): number;
  u64(): number;
  /** UTF-8 of at most `most` bytes. */
  text(most: number): string;
  /** A value preceded by its type number; undefined for an array that is not `wanted`. */
  value(wanted: boolean): MetadataValue | undefined;
}

const WINDOW = 262_144;
const MAX_TEXT = 4_194_304;
const MAX_ITEMS = 4_000_000;
const MAX_TOKEN = 65_536;

/** A fault that names the file's defect. */
export function badGguf(why: string): Fault {
  return new Fault("invalidInput", `Cannot read the weights as GGUF: ${why}`);
}

/** Makes a cursor at the beginning of the file. */
export function makeGgufCursor(file: HeaderFile): GgufCursor {
  let at = 0;
  let window = new Uint8Array();
  let windowAt = 0;
  const decoder = new TextDecoder();

  function take(length: number): Uint8Array {
    if (length > file.length - at) throw badGguf("it ends within its header");
    if (at < windowAt || at + length > windowAt + window.length) {
      window = file.read(at, Math.max(WINDOW, length));
      windowAt = at;
    }
    const bytes = window.subarray(at - windowAt, at - windowAt + length);
    at += length;
    return bytes;
  }
  function view(length: number): DataView {
    const bytes = take(length);
    return new DataView(bytes.buffer, bytes.byteOffset, length);
  }
  const u32 = (): number => view(4).getUint32(0, true);
  function u64(): number {
    const value = view(8).getBigUint64(0, true);
    if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw badGguf(`a count of ${value}`);
    return Number(value);
  }
  function text(most: number): string {
    const length = u64();
    if (length > most) throw badGguf(`a text of ${length} bytes, ${most} at most`);
    return decoder.decode(take(length));
  }
  function scalar(type: number, bytes: number): number | boolean {
    const from = view(bytes);
    switch (type) {
      case 0:
        return from.getUint8(0);
      case 1:
        return from.getInt8(0);
      case 2:
        return from.getUint16(0, true);
      case 3:
        return from.getInt16(0, true);
      case 4:
        return from.getUint32(0, true);
      case 5:
        return from.getInt32(0, true);
      case 6:
        return from.getFloat32(0, true);
      case 7:
        return from.getUint8(0) !== 0;
      case 12:
        return from.getFloat64(0, true);
      default:
        return Number(from.getBigInt64(0, true));
    }
  }
  function bytesOf(type: number): number {
    const bytes = SCALAR_BYTES.get(type);
    if (bytes === undefined) throw badGguf(`a value of the unknown type ${type}`);
    return bytes;
  }
  function array(wanted: boolean): readonly string[] | readonly number[] | undefined {
    const type = u32();
    const length = u64();
    if (length > MAX_ITEMS) throw badGguf(`a list of ${length} items, ${MAX_ITEMS} at most`);
    if (type === TYPE_TEXT) {
      const texts: string[] = [];
      for (let n = 0; n < length; n++) {
        if (wanted) texts.push(text(MAX_TOKEN));
        else skipText();
      }
      return wanted ? texts : undefined;
    }
    const bytes = bytesOf(type);
    if (!wanted) {
      skip(length * bytes);
      return undefined;
    }
    return Array.from({ length }, () => Number(scalar(type, bytes)));
  }
  function skip(length: number): void {
    if (length > file.length - at) throw badGguf("it ends within its header");
    at += length;
  }
  function skipText(): void {
    const length = u64();
    if (length > MAX_TOKEN) throw badGguf(`a text of ${length} bytes in a list`);
    skip(length);
  }

  return Object.freeze<GgufCursor>({
    at: () => at,
    u32,
    u64,
    text,
    value(wanted) {
      const type = u32();
      if (type === TYPE_TEXT) return text(MAX_TEXT);
      // A list of lists has no use, and the engine does not read it either.
      if (type === TYPE_ARRAY) return array(wanted);
      return scalar(type, bytesOf(type));
    },
  });
}
