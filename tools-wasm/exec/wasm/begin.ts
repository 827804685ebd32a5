/** Begins the joined engine and takes its image. @module */
import { Fault } from "../../../contracts/fault.ts";
import { imageOf, withGlobals } from "./image.ts";
import type { WasmModule } from "./module.ts";
import { writeModule } from "./write_module.ts";

/** What is answered when the prelude itself has no memory left to say so. */
const LAST_WORDS = JSON.stringify({
  ok: false,
  error: {
    code: "tooLarge",
    message: "Cannot go on: the program used up its memory (64 MiB) or its stack",
  },
  discard: true,
});

/** Bytes that a program finds free: one that takes no more leaves a memory that can be used again. */
const ROOM = 1_048_576;

/** QuickJS' flags for bytecode: neither source nor line numbers of the prelude are kept. */
const STRIP = (1 << 4) | (1 << 5);

interface Engine {
  readonly instance: WebAssembly.Instance;
  readonly memory: WebAssembly.Memory;
}

/**
 * Instantiates `joined`, lets QuickJS and the prelude begin, and returns a module that starts from there.
 *
 * @throws Fault `invalidInput` where the prelude fails or asks the host for something.
 */
export function beginEngine(
  joined: WasmModule,
  { prelude, stripper, heapBytes, stackBytes, pages }: {
    /** A script whose value makes the prelude's function. */
    readonly prelude: string;
    /** A script whose value is the function that takes types out of TypeScript. */
    readonly stripper: string;
    readonly heapBytes: number;
    readonly stackBytes: number;
    /** Pages of 64 KiB of its memory, at most. */
    readonly pages: number;
  },
): Uint8Array {
  const open = withGlobals(joined);
  const module = new WebAssembly.Module(writeModule(open));
  const bytecode = compile(start(module), prelude);
  // Kept unevaluated: evaluated it would double what every instance copies, and few programs need it.
  const later = compile(start(module), stripper);
  // In an instance of its own: what compiling leaves behind would double the image.
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

/** A new instance in which QuickJS has begun. It may call nothing. */
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

/** Frees a block whose content would only make the image larger. */
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
