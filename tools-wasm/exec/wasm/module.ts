/** Parses a WebAssembly module into its sections. @module */
import { Fault } from "../../../contracts/base/fault.ts";
import { joined, leb, makeReader, type Reader } from "./reader.ts";

/** An import: a function of a type, or another kind. */
export interface Import {
  readonly module: string;
  readonly name: string;
  /** 0 function, 1 table, 2 memory, 3 global. */
  readonly kind: number;
  /** Index of a function's type. */
  readonly type: number;
}

/** An export; `kind` as in {@link Import}. */
export interface Export {
  readonly name: string;
  readonly kind: number;
  readonly index: number;
}

/** A global: its type, mutability, and the instructions of its initial value, with their end. */
export interface Global {
  readonly type: number;
  readonly mutable: boolean;
  readonly init: Uint8Array;
}

/** A module's parts, as QuickJS and the glue need them: one memory, no start function, no tags. */
export interface WasmModule {
  readonly types: readonly Uint8Array[];
  readonly imports: readonly Import[];
  /** Index of the type of each function that is not imported. */
  readonly functions: readonly number[];
  /** The raw table section, or undefined. */
  readonly tables: Uint8Array | undefined;
  /** Pages of 64 KiB of the one memory that is not imported. */
  readonly memory: { readonly initial: number; readonly maximum: number | undefined } | undefined;
  readonly globals: readonly Global[];
  readonly exports: readonly Export[];
  /** Segments of the table, each with its function indices. */
  readonly elements: readonly {
    readonly head: Uint8Array;
    readonly functions: readonly number[];
  }[];
  readonly code: readonly Uint8Array[];
  /** Active data segments: offset and bytes. */
  readonly data: readonly { readonly at: number; readonly bytes: Uint8Array }[];
}

const MAGIC = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0] as const;

function refuse(why: string): Fault {
  return new Fault("invalidInput", `Cannot read module: ${why}`);
}

/** Reads a count and so many items. */
function list<T>(reader: Reader | undefined, item: (reader: Reader) => T): readonly T[] {
  if (reader === undefined) return [];
  const items: T[] = [];
  for (let n = reader.u32(); n > 0; n--) items.push(item(reader));
  return items;
}

function readType(reader: Reader): Uint8Array {
  if (reader.byte() !== 0x60) throw refuse("it has a type that is not a function's");
  const parameters = reader.block();
  const results = reader.block();
  return joined([[0x60], leb(parameters.length), parameters, leb(results.length), results]);
}

function readLimits(reader: Reader): { initial: number; maximum: number | undefined } {
  const flags = reader.byte();
  if (flags > 1) throw refuse("its memory is shared or of 64 bits");
  return { initial: reader.u32(), maximum: flags === 1 ? reader.u32() : undefined };
}

function readImport(reader: Reader): Import {
  const [module, name, kind] = [reader.name(), reader.name(), reader.byte()];
  if (kind === 0) return { module, name, kind, type: reader.u32() };
  if (kind !== 2) throw refuse("it imports a table or a global");
  readLimits(reader);
  return { module, name, kind, type: -1 };
}

/** The instructions of a constant, including their end. */
function readConstant(reader: Reader): Uint8Array {
  const op = reader.byte();
  if (op !== 0x41 && op !== 0x42 && op !== 0x43 && op !== 0x44) {
    throw refuse("a constant is not plain");
  }
  const immediate: number[] = [];
  if (op === 0x43 || op === 0x44) immediate.push(...reader.take(op === 0x43 ? 4 : 8));
  else {
    do immediate.push(reader.byte()); while ((immediate.at(-1) ?? 0) >= 0x80);
  }
  if (reader.byte() !== 0x0b) throw refuse("a constant is not plain");
  return Uint8Array.from([op, ...immediate, 0x0b]);
}

function readOffset(reader: Reader): number {
  const constant = makeReader(readConstant(reader).subarray(1));
  let [value, shift] = [0, 0];
  for (let next = 0x80; next >= 0x80; shift += 7) {
    next = constant.byte();
    value |= (next & 0x7f) << shift;
  }
  return value >>> 0;
}

function readElement(reader: Reader) {
  if (reader.u32() !== 0) {
    throw refuse("its table is filled in another way than by active segments");
  }
  const head = joined([[0], readConstant(reader)]);
  return { head, functions: list(reader, (inner) => inner.u32()) };
}

function readData(reader: Reader) {
  if (reader.u32() !== 0) throw refuse("its data is not in active segments");
  return { at: readOffset(reader), bytes: reader.block() };
}

/** Parses `bytes`. Throws fault `invalidInput` for anything that {@link WasmModule} cannot hold. */
export function parseModule(bytes: Uint8Array): WasmModule {
  const reader = makeReader(bytes);
  if (MAGIC.some((value) => reader.byte() !== value)) throw refuse("it is not WebAssembly");
  const sections = new Map<number, Uint8Array>();
  while (!reader.done()) {
    const id = reader.byte();
    const content = reader.block();
    // Custom sections (names, producers) and the count of data segments are dropped.
    if (id !== 0 && id !== 12) sections.set(id, content);
  }
  if (sections.has(8) || sections.has(13)) throw refuse("it has a start function or tags");
  const section = (id: number): Reader | undefined => {
    const content = sections.get(id);
    return content === undefined ? undefined : makeReader(content);
  };
  const memories = list(section(5), readLimits);
  if (memories.length > 1) throw refuse("it has several memories");
  return {
    types: list(section(1), readType),
    imports: list(section(2), readImport),
    functions: list(section(3), (inner) => inner.u32()),
    tables: sections.get(4),
    memory: memories[0],
    globals: list(section(6), (inner) => ({
      type: inner.byte(),
      mutable: inner.byte() === 1,
      init: readConstant(inner),
    })),
    exports: list(section(7), (inner) => ({
      name: inner.name(),
      kind: inner.byte(),
      index: inner.u32(),
    })),
    elements: list(section(9), readElement),
    code: list(section(10), (inner) => inner.block()),
    data: list(section(11), readData),
  };
}
