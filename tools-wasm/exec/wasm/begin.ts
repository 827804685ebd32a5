/** Starts the joined engine and takes its memory image. @module */
import { Fault } from "../../../contracts/base/fault.ts";
import type { Global, WasmModule } from "./module.ts";
import { joined, leb, signedLeb } from "./reader.ts";

/** The answer when the prelude has no memory left to answer. */
const LAST_WORDS = JSON.stringify({
  ok: false,
  error: {
    code: "tooLarge",
    message: "Cannot go on: the program used up its memory (64 MiB) or its stack",
  },
  discard: true,
});

/** Bytes that a program finds free: if it needs no more, the memory can be rewound. */
const ROOM = 1_048_576;

/** QuickJS' flags for bytecode: omit the prelude's source and line numbers. */
const STRIP = (1 << 4) | (1 << 5);

interface Engine {
  readonly instance: WebAssembly.Instance;
  readonly memory: WebAssembly.Memory;
}

/**
 * Instantiates `joined`, starts QuickJS and the prelude, and returns a module that resumes from
 * there.
 *
 * @throws Fault `invalidInput` where the prelude fails or calls the host
 */
export function beginEngine(
  joined: WasmModule,
  { prelude, stripper, heapBytes, stackBytes, pages }: {
    /** A script whose value makes the prelude's function. */
    readonly prelude: string;
    /** A script whose value strips types from TypeScript. */
    readonly stripper: string;
    readonly heapBytes: number;
    readonly stackBytes: number;
    /** Maximum pages of 64 KiB of its memory. */
    readonly pages: number;
  },
): Uint8Array {
  const open = withGlobals(joined);
  const module = new WebAssembly.Module(writeModule(open));
  const bytecode = compile(start(module), prelude);
  // Stored unevaluated: evaluated it would double what every instance copies, and few programs need
  // it.
  const later = compile(start(module), stripper);
  // A new instance: the compiler's leftovers would double the image.
  const engine = start(module);
  const code = put(engine, bytecode);
  const words = new TextEncoder().encode(LAST_WORDS);
  const last = put(
    engine,
    new Uint8Array([...new Uint8Array(Uint32Array.of(words.length).buffer), ...words]),
  );
  const bad = call(engine, "build_prelude", code, bytecode.length, last, heapBytes, stackBytes);
  call(engine, "build_stripper", put(engine, later), later.length);
  if (bad !== 0) throw new Fault("invalidInput", `Cannot begin the engine: step ${bad} failed`);
  free(engine, code, bytecode.length);
  call(engine, "wasm_free", call(engine, "wasm_malloc", ROOM));
  return writeModule(imageOf(open, {
    instance: engine.instance,
    memory: new Uint8Array(engine.memory.buffer),
    keep: ["run", "memory"],
    maximum: pages,
  }));
}

/** A new instance in which QuickJS has started. It may call nothing. */
function start(module: WebAssembly.Module): Engine {
  const imports: Record<string, Record<string, () => never>> = {};
  for (const entry of WebAssembly.Module.imports(module)) {
    (imports[entry.module] ??= {})[entry.name] = () => {
      throw new Fault("invalidInput", `Cannot begin the engine: it calls ${entry.name}`);
    };
  }
  const instance = new WebAssembly.Instance(module, imports);
  const { memory } = instance.exports;
  if (!(memory instanceof WebAssembly.Memory)) {
    throw new Fault("invalidInput", "Cannot begin the engine: it has no memory");
  }
  const engine = { instance, memory };
  call(engine, "_initialize");
  if (call(engine, "build_begin") !== 0) {
    throw new Fault("invalidInput", "Cannot begin the engine: QuickJS does not start");
  }
  return engine;
}

/** The bytecode of a script. */
function compile(engine: Engine, script: string): Uint8Array {
  const text = new TextEncoder().encode(`${script}\0`);
  const size = put(engine, new Uint8Array(4));
  const name = put(engine, new TextEncoder().encode("prelude.js\0"));
  const code = put(engine, text);
  const at = call(engine, "qjs_compile", code, text.length - 1, name, 0, STRIP, size);
  if (at === 0) {
    throw new Fault("invalidInput", "Cannot begin the engine: the prelude is not JavaScript");
  }
  const view = new DataView(engine.memory.buffer);
  return new Uint8Array(engine.memory.buffer, at, view.getUint32(size, true)).slice();
}

function put(engine: Engine, bytes: Uint8Array): number {
  const at = call(engine, "wasm_malloc", bytes.length);
  new Uint8Array(engine.memory.buffer, at, bytes.length).set(bytes);
  return at;
}

/** Frees a block and zeroes it, because its content would enlarge the image. */
function free(engine: Engine, at: number, bytes: number): void {
  new Uint8Array(engine.memory.buffer, at, bytes).fill(0);
  call(engine, "wasm_free", at);
}

function call(engine: Engine, name: string, ...args: readonly number[]): number {
  const found = engine.instance.exports[name];
  if (typeof found !== "function") {
    throw new Fault("invalidInput", `Cannot begin the engine: it has no ${name}`);
  }
  return Number(found(...args) ?? 0);
}

// Writes the parts of a module.

type Bytes = Uint8Array | readonly number[];

function vector(items: readonly Bytes[]): Uint8Array {
  return joined([leb(items.length), ...items]);
}

function named(name: string): Uint8Array {
  const bytes = new TextEncoder().encode(name);
  return joined([leb(bytes.length), bytes]);
}

function sized(bytes: Uint8Array): Uint8Array {
  return joined([leb(bytes.length), bytes]);
}

function limits({ initial, maximum }: { initial: number; maximum: number | undefined }): Bytes {
  return maximum === undefined ? [0, ...leb(initial)] : [1, ...leb(initial), ...leb(maximum)];
}

/** The module of `parts`, as bytes. Equal parts give equal bytes. */
export function writeModule(parts: WasmModule): Uint8Array<ArrayBuffer> {
  const sections: readonly (readonly [number, Bytes])[] = [
    [1, vector(parts.types)],
    [
      2,
      vector(
        parts.imports.map(({ module, name, kind, type }) =>
          joined([named(module), named(name), [kind], leb(type)])
        ),
      ),
    ],
    [3, vector(parts.functions.map(leb))],
    ...(parts.tables === undefined ? [] : [[4, parts.tables] as const]),
    ...(parts.memory === undefined ? [] : [[5, vector([limits(parts.memory)])] as const]),
    [
      6,
      vector(
        parts.globals.map(({ type, mutable, init }) => joined([[type, mutable ? 1 : 0], init])),
      ),
    ],
    [
      7,
      vector(
        parts.exports.map(({ name, kind, index }) => joined([named(name), [kind], leb(index)])),
      ),
    ],
    [
      9,
      vector(
        parts.elements.map(({ head, functions }) => joined([head, vector(functions.map(leb))])),
      ),
    ],
    [10, vector(parts.code.map(sized))],
    [
      11,
      vector(
        parts.data.map(({ at, bytes }) =>
          joined([[0, 0x41, ...signedLeb(at), 0x0b], sized(bytes)])
        ),
      ),
    ],
  ];
  return joined([
    [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...sections.flatMap(([id, content]) => [[id], leb(content.length), content]),
  ]);
}

// Makes a module that resumes at another instance's current state.

/** Zeros in a row that justify a new segment: a segment's head costs up to eleven bytes. */
const GAP = 32;
/** Prefix of the exports that {@link withGlobals} adds. */
const GLOBAL = "global ";

/** The non-zero pieces of `memory`. */
function segmentsOf(memory: Uint8Array): WasmModule["data"] {
  const segments: { at: number; bytes: Uint8Array }[] = [];
  let at = 0;
  while (at < memory.length) {
    while (at < memory.length && memory[at] === 0) at += 1;
    if (at === memory.length) break;
    const from = at;
    let end = at;
    while (at < memory.length && at - end < GAP) {
      if (memory[at] !== 0) end = at + 1;
      at += 1;
    }
    segments.push({ at: from, bytes: memory.slice(from, end) });
    at = end;
  }
  return segments;
}

/** The initial value of a global that holds `value` now. */
function constant(type: number, value: number | bigint): Uint8Array {
  if (type === 0x7f) return joined([[0x41], signedLeb(Number(value)), [0x0b]]);
  const bytes = new Uint8Array(8);
  const view = new DataView(bytes.buffer);
  if (type === 0x7c) {
    view.setFloat64(0, Number(value), true);
    return joined([[0x44], bytes, [0x0b]]);
  }
  const out: number[] = [];
  let rest = BigInt.asIntN(64, BigInt(value));
  while (rest < -0x40n || rest >= 0x40n) {
    out.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  return joined([[0x42], [...out, Number(rest & 0x7fn)], [0x0b]]);
}

/** The name under which {@link withGlobals} exports the global `index`. */
function globalName(index: number): string {
  return `${GLOBAL}${index}`;
}

/**
 * `parts` with every mutable global exported: for {@link imageOf}, and for rewinding an instance.
 */
function withGlobals(parts: WasmModule): WasmModule {
  const extra = parts.globals.flatMap((global, index) =>
    global.mutable ? [{ name: globalName(index), kind: 3, index }] : []
  );
  return { ...parts, exports: [...parts.exports, ...extra] };
}

/**
 * `parts` with the memory and the globals of `instance`, an instance of {@link withGlobals} of
 * `parts`, and with only the exports `keep` besides the globals. Its memory has at most `maximum`
 * pages. The table must be unchanged.
 */
function imageOf(
  parts: WasmModule,
  { instance, memory, keep, maximum }: {
    readonly instance: WebAssembly.Instance;
    readonly memory: Uint8Array;
    readonly keep: readonly string[];
    readonly maximum: number;
  },
): WasmModule {
  const globals = parts.globals.map((global, index): Global => {
    const now = instance.exports[globalName(index)];
    if (!(now instanceof WebAssembly.Global)) return global;
    return { ...global, init: constant(global.type, now.value) };
  });
  return {
    ...parts,
    globals,
    memory: { initial: memory.length / 65_536, maximum },
    exports: parts.exports.filter(({ name }) => name.startsWith(GLOBAL) || keep.includes(name)),
    data: segmentsOf(memory),
  };
}
