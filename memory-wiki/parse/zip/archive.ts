/** Reads the entries of a zip archive one at a time, within limits. Nested archives are not opened. @module */
import { Fault } from "../../../contracts/base/fault.ts";
import type { DocumentBytes, Inflate } from "../document.ts";
import { makeXmlReader, type XmlHandler } from "../xml.ts";

/** An open archive. */
export interface Archive {
  readonly names: readonly string[];
  /** Number of entries left out for an unsafe or duplicate name. */
  readonly dropped: number;
  /**
   * Passes an entry's bytes to `take` in parts, until it returns false. Returns whether that was everything;
   * undefined for an entry that is missing, encrypted, damaged, or compressed by an unknown method.
   */
  read(name: string, take: (part: Uint8Array) => boolean): Promise<boolean | undefined>;
}

/** Decompressed bytes of one entry. */
const MAX_ENTRY = 96 * 1024 * 1024;
/** Decompressed bytes of one archive. */
const MAX_ALL = 256 * 1024 * 1024;

const ELSEWHERE = 0xffffffff;

/** Opens an archive. Throws `invalidInput` unless the bytes are one. */
export function openArchive({ bytes, name }: DocumentBytes, inflate: Inflate): Archive {
  const { entries, dropped } = readDirectory(bytes, name);
  let left = MAX_ALL;

  const unpack = async (entry: ZipEntry, take: (part: Uint8Array) => boolean): Promise<boolean> => {
    const max = Math.min(left, MAX_ENTRY);
    let given = 0;
    const counted = (part: Uint8Array): boolean => {
      left -= part.length;
      given += part.length;
      return take(part);
    };
    if (entry.method === 8) {
      const whole = await inflate(entry.packed, max, counted);
      // The runtime does not report a truncated stream, so the size is compared. All ones: the size is in
      // another field.
      return whole && (given >= entry.size || entry.size === ELSEWHERE);
    }
    return counted(entry.packed.subarray(0, max)) && entry.packed.length <= max;
  };

  return Object.freeze({
    names: [...entries.keys()],
    dropped,
    async read(entryName: string, take: (part: Uint8Array) => boolean) {
      const entry = entries.get(entryName);
      if (entry === undefined || entry.encrypted) return undefined;
      if (entry.method !== 0 && entry.method !== 8) return undefined;
      if (left <= 0) throw tooLarge(name);
      try {
        return await unpack(entry, take);
      } catch (error) {
        // Damaged deflate: the bytes before the damage remain.
        if (error instanceof TypeError) return undefined;
        throw error;
      }
    },
  });
}

/** Reads an entry up to `max` bytes; undefined if unreadable. */
export async function readEntry(
  archive: Archive,
  name: string,
  max: number,
): Promise<{ readonly bytes: Uint8Array; readonly whole: boolean } | undefined> {
  const parts: Uint8Array[] = [];
  let size = 0;
  const whole = await archive.read(name, (part) => {
    parts.push(part);
    size += part.length;
    return size <= max;
  });
  if (whole === undefined) return undefined;
  const bytes = new Uint8Array(Math.min(size, max));
  let at = 0;
  for (const part of parts) {
    const fitting = part.subarray(0, bytes.length - at);
    bytes.set(fitting, at);
    at += fitting.length;
  }
  return { bytes, whole: whole && size <= max };
}

function tooLarge(name: string): Fault {
  return new Fault(
    "tooLarge",
    `Cannot read ${JSON.stringify(name)}: it unpacks to more than ${MAX_ALL / 1024 / 1024} MiB`,
  );
}

// Parses a zip directory, defending against inconsistent ones.

/** An entry's compressed bytes. */
interface ZipEntry {
  /** A map key; never opened as a path. */
  readonly name: string;
  /** 0: stored, 8: deflated. Others are unreadable. */
  readonly method: number;
  readonly encrypted: boolean;
  /** Decompressed size by the directory; never used for allocation. */
  readonly size: number;
  readonly packed: Uint8Array;
}

/** A parsed directory. */
interface ZipDirectory {
  readonly entries: ReadonlyMap<string, ZipEntry>;
  /** Number of entries left out for an unsafe or duplicate name. */
  readonly dropped: number;
}

const MAX_ENTRIES = 10_000;
const MAX_NAME = 512;
const END = 0x06054b50;
const END_64 = 0x06064b50;
const LOCATOR_64 = 0x07064b50;
const CENTRAL = 0x02014b50;
const LOCAL = 0x04034b50;
const END_SIZE = 22;
const MAX_COMMENT = 65_535;
const ALL = 0xffffffff;

/** Parses the directory. Throws `invalidInput` for bytes that are not an archive, and for a malicious one. */
function readDirectory(bytes: Uint8Array, name: string): ZipDirectory {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const bad = (why: string): Fault =>
    new Fault("invalidInput", `Cannot read ${JSON.stringify(name)}: ${why}`);
  const entries = new Map<string, ZipEntry>();
  const ranges: (readonly [from: number, to: number])[] = [];
  let dropped = 0;
  let at = startOf(view);
  if (at === undefined) throw bad("it is no zip archive, or cut off");
  for (let count = 0; at + 46 <= bytes.length && view.getUint32(at, true) === CENTRAL; count += 1) {
    if (count >= MAX_ENTRIES) throw bad(`it holds more than ${MAX_ENTRIES} entries`);
    const header = centralHeader(view, at);
    at = header.next;
    const from = header.offset;
    if (from + 30 > bytes.length || view.getUint32(from, true) !== LOCAL) {
      throw bad("its directory names an entry that is not there");
    }
    const start = from + 30 + view.getUint16(from + 26, true) + view.getUint16(from + 28, true);
    const end = start + header.packed;
    if (end > bytes.length) throw bad("an entry ends behind its end");
    ranges.push([from, end]);
    const entryName = new TextDecoder().decode(header.name);
    if (!isSafe(entryName) || entries.has(entryName)) {
      dropped += 1;
      continue;
    }
    entries.set(entryName, {
      name: entryName,
      method: header.method,
      encrypted: (header.flags & 1) !== 0,
      size: header.size,
      packed: bytes.subarray(start, end),
    });
  }
  ranges.sort(([one], [other]) => one - other);
  // Overlapping entries share compressed bytes: the way of a zip bomb.
  if (ranges.some(([from], i) => from < (ranges[i - 1]?.[1] ?? 0))) {
    throw bad("its entries lie over each other");
  }
  return { entries, dropped };
}

/** Offset of the directory, from the end record. */
function startOf(view: DataView): number | undefined {
  const last = view.byteLength - END_SIZE;
  for (let at = last; at >= Math.max(0, last - MAX_COMMENT); at -= 1) {
    if (view.getUint32(at, true) !== END) continue;
    const offset = view.getUint32(at + 16, true);
    return offset === ALL ? startOf64(view, at - 20) : offset;
  }
  return undefined;
}

function startOf64(view: DataView, locator: number): number | undefined {
  if (locator < 0 || view.getUint32(locator, true) !== LOCATOR_64) return undefined;
  const at = Number(view.getBigUint64(locator + 8, true));
  if (at + 56 > view.byteLength || view.getUint32(at, true) !== END_64) return undefined;
  return Number(view.getBigUint64(at + 48, true));
}

interface Header {
  readonly flags: number;
  readonly method: number;
  readonly packed: number;
  readonly size: number;
  readonly offset: number;
  readonly name: Uint8Array;
  readonly next: number;
}

function centralHeader(view: DataView, at: number): Header {
  const u16 = (offset: number): number => view.getUint16(at + offset, true);
  const u32 = (offset: number): number => view.getUint32(at + offset, true);
  const [nameSize, extraSize, commentSize] = [u16(28), u16(30), u16(32)];
  const nameAt = view.byteOffset + at + 46;
  const room = Math.max(0, Math.min(nameSize, view.byteLength - at - 46));
  const wide = { packed: u32(20), unpacked: u32(24), offset: u32(42) };
  const long = wideFields(view, at + 46 + nameSize, extraSize, wide);
  return {
    flags: u16(8),
    method: u16(10),
    size: wide.unpacked,
    ...long,
    name: new Uint8Array(view.buffer, nameAt, room),
    next: at + 46 + nameSize + extraSize + commentSize,
  };
}

/** Values beyond 32 bits are all ones, and are found in an extra field in this order. */
function wideFields(
  view: DataView,
  from: number,
  size: number,
  { packed, unpacked, offset }: {
    readonly packed: number;
    readonly unpacked: number;
    readonly offset: number;
  },
): { readonly packed: number; readonly offset: number } {
  const short = { packed, offset };
  if (packed !== ALL && offset !== ALL) return short;
  const end = Math.min(from + size, view.byteLength);
  for (let at = from; at + 4 <= end;) {
    const [id, length] = [view.getUint16(at, true), view.getUint16(at + 2, true)];
    let field = at + 4;
    at = field + length;
    if (id !== 1 || at > end) continue;
    const next = (): number => {
      field += 8;
      return field <= at ? Number(view.getBigUint64(field - 8, true)) : ALL;
    };
    if (unpacked === ALL) next();
    return { packed: packed === ALL ? next() : packed, offset: offset === ALL ? next() : offset };
  }
  return short;
}

/** Whether a name is a plain relative path. */
function isSafe(name: string): boolean {
  if (name === "" || name.length > MAX_NAME || name.includes("\0")) return false;
  if (name.startsWith("/") || name.includes("\\") || /^[a-z]:/i.test(name)) return false;
  return !name.split("/").includes("..");
}

// Streams an XML part of an archive to a handler.

/** How much of a part was read. `missing`: not there, encrypted or damaged. */
type XmlRead = "whole" | "cut" | "missing";

/** Reads a part until `full` returns true. */
export async function readXmlPart(
  archive: Archive,
  name: string,
  handler: XmlHandler,
  full: () => boolean = () => false,
): Promise<XmlRead> {
  const reader = makeXmlReader(handler);
  let given = false;
  const whole = await archive.read(name, (part) => {
    given = true;
    return reader.write(part) && !full();
  });
  const { tooDeep } = reader.end();
  if (whole === undefined) return given ? "cut" : "missing";
  return whole && !tooDeep ? "whole" : "cut";
}
