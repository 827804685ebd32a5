/** What a WebAssembly module declares, read from its bytes without compiling it. @module */
import { type Cursor, makeCursor, malformed } from "./_cursor.ts";

/** What an import or export can be. */
export type ExternKind = "function" | "table" | "memory" | "global" | "tag";

/** Size of a memory (pages of 64 KiB) or table (elements). */
export interface Limits {
  readonly least: number;
  /** As the module declares it; absent when it may grow without end. */
  readonly most?: number;
  /** Shared between threads, or addressed with 64 bits, or with pages of another size. */
  readonly odd: boolean;
  /** Where the entry stands in the module, bytes: from, to. */
  readonly place: readonly [number, number];
}

/** One import. */
export interface ModuleImport {
  readonly module: string;
  readonly name: string;
  readonly kind: ExternKind;
  /** Of a function, as in `i64 i64 -> i32`. */
  readonly signature?: string;
}

/** One export. */
export interface ModuleExport {
  readonly name: string;
  readonly kind: ExternKind;
  /** Of a function, as in `-> i32`. */
  readonly signature?: string;
}

/** What a module declares. */
export interface ModuleShape {
  readonly imports: readonly ModuleImport[];
  readonly exports: readonly ModuleExport[];
  /** Its own memories, without imported ones. */
  readonly memories: readonly Limits[];
  /** Its own tables, without imported ones. */
  readonly tables: readonly Limits[];
  /** Whether code runs when an instance is made. */
  readonly start: boolean;
  /** Where its sections stand, by their ids: of the id, the content, the end. */
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
/** Most entries of one list: more than any compiler makes of 16 MiB. */
const ENTRIES = 200_000;

/**
 * Reads what `bytes` declare. What it does not look at, WebAssembly.compile validates.
 * @throws {Fault} `invalidInput` for what is no module, or uses what no compiler for plugins emits.
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
