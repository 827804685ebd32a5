/** Reads a WebAssembly module's declarations from its bytes, without compiling it. @module */
import { Fault } from "../../contracts/base/fault.ts";

/** The kind of an import or export. */
type ExternKind = "function" | "table" | "memory" | "global" | "tag";

/** Limits of a memory (pages of 64 KiB) or table (elements). */
export interface Limits {
  readonly least: number;
  /** The declared maximum; absent when it may grow without limit. */
  readonly most?: number;
  /** Shared between threads, or with 64-bit addresses, or with pages of another size. */
  readonly odd: boolean;
  /** The entry's position in the module, in bytes: from, to. */
  readonly place: readonly [number, number];
}

/** One import. */
export interface ModuleImport {
  readonly module: string;
  readonly name: string;
  readonly kind: ExternKind;
  /** A function's signature, such as `i64 i64 -> i32`. */
  readonly signature?: string;
}

/** One export. */
interface ModuleExport {
  readonly name: string;
  readonly kind: ExternKind;
  /** A function's signature, such as `-> i32`. */
  readonly signature?: string;
}

/** A module's declarations. */
export interface ModuleShape {
  readonly imports: readonly ModuleImport[];
  readonly exports: readonly ModuleExport[];
  /** Its own memories, without imported ones. */
  readonly memories: readonly Limits[];
  /** Its own tables, without imported ones. */
  readonly tables: readonly Limits[];
  /** Whether code runs when an instance is made. */
  readonly start: boolean;
  /** Positions of its sections by id: of the id, the content, the end. */
  readonly places: ReadonlyMap<number, readonly [number, number, number]>;
}

const MAGIC = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];
const KINDS: readonly ExternKind[] = ["function", "table", "memory", "global", "tag"];
const TYPES: ReadonlyMap<number, string> = new Map([
  [0x7f, "i32"],
  [0x7e, "i64"],
  [0x7d, "f32"],
  [0x7c, "f64"],
  [0x7b, "v128"],
  [0x70, "funcref"],
  [0x6f, "externref"],
]);
/** Ids of the sections that are read. */
export const SECTION = {
  type: 1,
  import: 2,
  function: 3,
  table: 4,
  memory: 5,
  export: 7,
  start: 8,
};
const LAST_SECTION = 13;
/** Maximum entries of one list: more than any compiler makes of 16 MiB. */
const ENTRIES = 200_000;

/**
 * Reads the declarations of `bytes`. WebAssembly.compile validates everything else.
 * @throws {Fault} `invalidInput` for an invalid module, or features that no compiler for plugins
 * emits
 */
export function readShape(bytes: Uint8Array): ModuleShape {
  const cursor = makeCursor(bytes);
  if (bytes.length < MAGIC.length || MAGIC.some((byte, i) => bytes[i] !== byte)) {
    throw malformed("it does not start as a WebAssembly module (a component is none)");
  }
  cursor.part(MAGIC.length);
  const types: string[] = [];
  const functions: number[] = [];
  const imports: ModuleImport[] = [];
  const exports: { name: string; kind: ExternKind; index: number }[] = [];
  const memories: Limits[] = [];
  const tables: Limits[] = [];
  const places = new Map<number, readonly [number, number, number]>();

  const signature = (index: number | undefined): string => {
    const found = index === undefined ? undefined : types[index];
    if (found === undefined) throw malformed("a function has no type");
    return found;
  };
  while (!cursor.done) {
    const from = cursor.at;
    const id = cursor.byte();
    const part = cursor.part(cursor.u32());
    if (id === 0) continue;
    if (id > LAST_SECTION || places.has(id)) throw malformed("a section is unknown or repeated");
    places.set(id, [from, part.at, cursor.at]);
    if (id === SECTION.type) list(part, () => types.push(readFunctionType(part)));
    else if (id === SECTION.import) {
      list(part, () => {
        const [module, name] = [part.name(), part.name()];
        const kind = kindOf(part.byte());
        if (kind !== "function") return imports.push(skipImport(part, { module, name, kind }));
        const index = part.u32();
        functions.push(index);
        imports.push({ module, name, kind, signature: signature(index) });
      });
    } else if (id === SECTION.function) list(part, () => functions.push(part.u32()));
    else if (id === SECTION.table) {
      list(part, () => {
        valueType(part.byte());
        tables.push(readLimits(part));
      });
    } else if (id === SECTION.memory) {
      list(part, () => memories.push(readLimits(part)));
    } else if (id === SECTION.export) {
      list(part, () => {
        exports.push({ name: part.name(), kind: kindOf(part.byte()), index: part.u32() });
      });
    }
  }
  return {
    imports,
    exports: exports.map(({ name, kind, index }) =>
      kind === "function" ? { name, kind, signature: signature(functions[index]) } : { name, kind }
    ),
    memories,
    tables,
    start: places.has(SECTION.start),
    places,
  };
}

function list(part: Cursor, entry: () => unknown): void {
  const count = part.u32();
  if (count > ENTRIES) throw malformed(`a list has more than ${ENTRIES} entries`);
  for (let i = 0; i < count; i++) entry();
  if (!part.done) throw malformed("a section has another length than it says");
}

function kindOf(byte: number): ExternKind {
  const kind = KINDS[byte];
  if (kind === undefined) throw malformed("a kind of import or export is unknown");
  return kind;
}

function valueType(byte: number): string {
  const type = TYPES.get(byte);
  if (type === undefined) throw malformed("it uses typed references, which are not taken");
  return type;
}

function readFunctionType(part: Cursor): string {
  if (part.byte() !== 0x60) throw malformed("it declares types other than of functions");
  const values = (): string => {
    const names: string[] = [];
    for (let left = part.u32(); left > 0; left--) names.push(valueType(part.byte()));
    return names.join(" ");
  };
  const params = values();
  return `${params} -> ${values()}`.trim();
}

function readLimits(part: Cursor): Limits {
  const from = part.at;
  const flags = part.byte();
  // 1: has a maximum; 2: shared; 4: 64-bit addresses; 8: pages of another size.
  if (flags > 7) throw malformed("limits of a memory or table are of an unknown form");
  const least = part.u64();
  const most = (flags & 1) === 1 ? part.u64() : undefined;
  return {
    least,
    ...(most === undefined ? {} : { most }),
    odd: flags > 1,
    place: [from, part.at],
  };
}

function skipImport(part: Cursor, named: ModuleImport): ModuleImport {
  if (named.kind === "table") valueType(part.byte());
  if (named.kind === "table" || named.kind === "memory") readLimits(part);
  if (named.kind === "global") {
    valueType(part.byte());
    part.byte();
  }
  if (named.kind === "tag") {
    part.byte();
    part.u32();
  }
  return named;
}

// Reads numbers, names and bytes of a WebAssembly module, never past its end.

/** A position in a module. */
interface Cursor {
  byte(): number;
  /** An unsigned number of at most 32 bits. */
  u32(): number;
  /** An unsigned number of at most 64 bits; inexact above 2^53. */
  u64(): number;
  /** A text of at most 1,024 bytes. */
  name(): string;
  /** A cursor over the next bytes, which this cursor skips. */
  part(length: number): Cursor;
  /** Bytes from the start of the module. */
  readonly at: number;
  readonly done: boolean;
}

const NAME_BYTES = 1_024;
const decoder = new TextDecoder("utf-8", { fatal: true });

/** The fault of an invalid module. */
function malformed(why: string): Fault {
  return new Fault("invalidInput", `Cannot read module: ${why}`);
}

/** Makes a cursor from `from` to `to`. */
function makeCursor(bytes: Uint8Array, from = 0, to = bytes.length): Cursor {
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
