/** Replaces a module's WASI imports by stubs that grant nothing. @module */
import binaryen from "binaryen";
import { Fault } from "../../../contracts/base/fault.ts";

/** A module with replaced imports. */
export interface Stubbed {
  readonly module: Uint8Array;
  /** `MODULE.NAME` of each replaced import. */
  readonly stubs: readonly string[];
}

type Module = ReturnType<typeof binaryen.readBinary>;

/** WASI's "bad file descriptor": libraries take it for the end of the open files. */
const BADF = 8;
/** WASI's "not supported". */
const NOSYS = 52;

// Stubs: files are closed, lists are empty, the clock stands at 0, random bytes are all equal.
const WASI = /^wasi_(snapshot_preview1|unstable)$/;
/** AssemblyScript's default imports that end the program. */
const ENDS: ReadonlySet<string> = new Set(["env.abort", "wasi_snapshot_preview1.proc_exit"]);

function bodyOf(m: Module, base: string, results: number): number {
  const at = (index: number): number => m.local.get(index, binaryen.i32);
  const errno = (code: number): number => m.i32.const(code);
  const zeros = (...stores: number[]): number => m.block(null, [...stores, errno(0)], binaryen.i32);
  switch (base) {
    case "environ_sizes_get":
    case "args_sizes_get":
      return zeros(
        m.i32.store(0, 1, at(0), m.i32.const(0), "0"),
        m.i32.store(0, 1, at(1), m.i32.const(0), "0"),
      );
    case "environ_get":
    case "args_get":
    case "sched_yield":
      return errno(0);
    case "clock_time_get":
      return zeros(m.i64.store(0, 1, at(2), m.i64.const(0n), "0"));
    case "random_get":
      return zeros(m.memory.fill(at(0), m.i32.const(4), at(1), "0"));
    default:
      if (results !== binaryen.i32) return m.unreachable();
      return errno(base.startsWith("fd_") ? BADF : NOSYS);
  }
}

/** Parameters of the stubs above: a function of another shape gets the plain answer. */
const SHAPES: Readonly<Record<string, readonly number[]>> = {
  environ_sizes_get: [binaryen.i32, binaryen.i32],
  args_sizes_get: [binaryen.i32, binaryen.i32],
  clock_time_get: [binaryen.i32, binaryen.i64, binaryen.i32],
  random_get: [binaryen.i32, binaryen.i32],
};

function fits(base: string, params: number): boolean {
  const shape = SHAPES[base];
  const given = binaryen.expandType(params);
  return shape === undefined ||
    (shape.length === given.length && shape.every((type, n) => type === given[n]));
}

/**
 * Replaces every function that `module` imports from WASI (and AssemblyScript's `env.abort`) by a
 * stub. Returns a module without such imports byte for byte.
 *
 * @throws Fault `invalidInput` when the module does not parse, or is not valid afterwards
 */
export function stubImports(module: Uint8Array): Stubbed {
  let m: Module;
  try {
    m = binaryen.readBinary(module);
  } catch (cause) {
    throw new Fault("invalidInput", "Cannot read the module: it does not parse", { cause });
  }
  try {
    m.setFeatures(binaryen.Features.All);
    const stubs: string[] = [];
    const imports = Array.from(
      { length: m.getNumFunctions() },
      (_, n) => binaryen.getFunctionInfo(m.getFunctionByIndex(n)),
    ).map((info) => ({ ...info, from: info.module ?? "", base: info.base ?? "" }))
      .filter(({ from, base }) => WASI.test(from) || ENDS.has(`${from}.${base}`));
    for (const { name, from, base, params, results } of imports) {
      const ends = ENDS.has(`${from}.${base}`) || results !== binaryen.i32;
      const body = ends || !fits(base, params)
        ? (ends ? m.unreachable() : m.i32.const(NOSYS))
        : bodyOf(m, base, results);
      m.removeFunction(name);
      m.addFunction(name, params, results, [], body);
      stubs.push(`${from}.${base}`);
    }
    if (stubs.length === 0) return { module, stubs };
    if (m.validate() !== 1) {
      throw new Fault(
        "invalidInput",
        "Cannot adapt the module: it is not valid with stubs for WASI",
      );
    }
    return { module: m.emitBinary(), stubs };
  } finally {
    m.dispose();
  }
}
