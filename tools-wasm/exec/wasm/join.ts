/** Joins two modules that import from each other into one. @module */
import { Fault } from "../../../contracts/base/fault.ts";
import { type Numbering, renumberBody } from "./instructions.ts";
import type { WasmModule } from "./module.ts";

/**
 * Joins `main` and `glue` into one module: each function import of `main` is resolved by an export
 * of `glue` with that name, each import of `glue` from the module `name` by an export of `main`,
 * and the glue's memory is `main`'s. The remaining imports are the glue's from elsewhere. All
 * exported functions stay exported.
 *
 * @throws Fault `invalidInput` where an import has no export of its type, or `glue` has data, a
 * table or a memory
 */
export function joinModules(
  { main, glue, name }: {
    readonly main: WasmModule;
    readonly glue: WasmModule;
    readonly name: string;
  },
): WasmModule {
  if (glue.data.length + glue.elements.length > 0 || (glue.tables ?? glue.memory) !== undefined) {
    throw new Fault("invalidInput", "Cannot join modules: the glue has data of its own");
  }
  const outer = glue.imports.filter((entry) => entry.kind === 0 && entry.module !== name);
  const firstGlue = outer.length + main.functions.length;
  const ofMain: Numbering = numbering(main, (old) => {
    const entry = main.imports[old];
    if (entry === undefined) return outer.length + old - main.imports.length;
    return firstGlue + exported(glue, entry.name) - functionImports(glue).length;
  }, { types: 0, globals: 0 });
  const ofGlue: Numbering = numbering(glue, (old) => {
    const entry = functionImports(glue)[old];
    if (entry === undefined) return firstGlue + old - functionImports(glue).length;
    if (entry.module !== name) return outer.indexOf(entry);
    return ofMain.func(exported(main, entry.name));
  }, { types: main.types.length, globals: main.globals.length });
  return {
    types: [...main.types, ...glue.types],
    imports: outer.map((entry) => ({ ...entry, type: ofGlue.type(entry.type) })),
    functions: [...main.functions, ...glue.functions.map(ofGlue.type)],
    tables: main.tables,
    memory: main.memory,
    globals: [...main.globals, ...glue.globals],
    exports: [...renamed(main, ofMain), ...renamed(glue, ofGlue)],
    elements: main.elements.map(({ head, functions }) => ({
      head,
      functions: functions.map(ofMain.func),
    })),
    code: [
      ...main.code.map((body) => renumberBody(body, ofMain)),
      ...glue.code.map((body) => renumberBody(body, ofGlue)),
    ],
    data: main.data,
  };
}

function functionImports(module: WasmModule): WasmModule["imports"] {
  return module.imports.filter(({ kind }) => kind === 0);
}

function exported(module: WasmModule, name: string): number {
  const found = module.exports.find((entry) => entry.kind === 0 && entry.name === name);
  if (found === undefined) {
    throw new Fault("invalidInput", `Cannot join modules: nothing is called "${name}"`);
  }
  return found.index;
}

function numbering(
  module: WasmModule,
  func: (old: number) => number,
  shift: { readonly types: number; readonly globals: number },
): Numbering {
  if (module.imports.some(({ kind }) => kind === 3)) {
    throw new Fault("invalidInput", "Cannot join modules: one imports a global");
  }
  // Cached: every call instruction asks for its function's index, and the lookup is by name.
  const known = new Map<number, number>();
  return {
    func: (old) => {
      const answer = known.get(old) ?? func(old);
      known.set(old, answer);
      return answer;
    },
    type: (old) => old + shift.types,
    global: (old) => old + shift.globals,
  };
}

function renamed(module: WasmModule, numbers: Numbering): WasmModule["exports"] {
  return module.exports.filter(({ kind }) => kind === 0 || kind === 2 || kind === 3).map((
    entry,
  ) => ({
    ...entry,
    index: entry.kind === 0
      ? numbers.func(entry.index)
      : entry.kind === 3
      ? numbers.global(entry.index)
      : entry.index,
  }));
}
