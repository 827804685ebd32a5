/**
 * The load gate: requirements on a module before it is compiled.
 *
 * A start section is allowed: its code runs under the deadline of the call that makes the instance,
 * like the rest of the plugin.
 * @module
 */
import { Fault } from "../../contracts/base/fault.ts";
import { ALLOWED_IMPORTS, EXTISM_ENV, EXTISM_USER } from "./allowed_imports.ts";
import { MODULE_BYTES, TABLE_ELEMENTS } from "./bounds.ts";
import { type ModuleImport, type ModuleShape, readShape } from "./module_shape.ts";

/** The requirements on one plugin's module. */
export interface GateRule {
  /** Maximum pages of 64 KiB of its memory. */
  readonly memoryPages: number;
  /** Required exports, without arguments and returning an i32. */
  readonly exports: readonly string[];
}

/**
 * Parses a module and checks it.
 *
 * @throws {Fault} `tooLarge` for its size, `invalidInput` for an invalid module, `refused` for one
 * that a plugin may not have
 * @example
 * ```ts
 * import { passGate } from "./load_gate.ts";
 * passGate("text", await Deno.readFile("text.wasm"), { memoryPages: 256, exports: ["run"] });
 * ```
 */
export function passGate(plugin: string, bytes: Uint8Array, rule: GateRule): ModuleShape {
  if (bytes.length > MODULE_BYTES) {
    throw new Fault(
      "tooLarge",
      `Cannot load plugin "${plugin}": its module is longer than ${MODULE_BYTES} bytes`,
    );
  }
  const shape = readShape(bytes);
  const [first] = gateFindings(shape, rule);
  if (first === undefined) return shape;
  throw new Fault("refused", `Cannot load plugin "${plugin}": ${first}`);
}

/** All reasons why the gate refuses a module of this shape; none if it is accepted. */
export function gateFindings(shape: ModuleShape, rule: GateRule): readonly string[] {
  return [
    ...shape.imports.flatMap(importFinding),
    ...memoryFindings(shape, rule.memoryPages),
    ...tableFindings(shape),
    ...rule.exports.flatMap((name) => {
      const found = shape.exports.find((each) => each.name === name);
      if (found === undefined) return [`it has no export "${name}"`];
      return found.signature === "-> i32"
        ? []
        : [`its export "${name}" is not a function without arguments that gives an i32`];
    }),
  ];
}

function importFinding({ module, name, kind, signature }: ModuleImport): string[] {
  const finding = `it imports ${kind === "function" ? "" : `the ${kind} `}"${module}" "${name}"`;
  if (kind !== "function") return [`${finding}; only functions can be imported`];
  const allowed = ALLOWED_IMPORTS.get(module)?.get(name);
  if (allowed === signature) return [];
  if (allowed !== undefined) return [`${finding} with another signature than "${allowed}"`];
  if (module === EXTISM_ENV && name.startsWith("http_")) {
    return [`${finding}; the network is reached by the host function http.fetch`];
  }
  if (module.startsWith("wasi")) {
    return [`${finding}; there is no WASI here ("remit tool add" writes in a stub of it)`];
  }
  return [`${finding}, which is not there; only ${EXTISM_ENV} and ${EXTISM_USER} are`];
}

function memoryFindings({ memories }: ModuleShape, pages: number): string[] {
  const [memory] = memories;
  if (memory === undefined || memories.length !== 1) {
    return [`it has ${memories.length} memories of its own; one is needed`];
  }
  if (memory.odd) return ["its memory is shared or of 64 bits"];
  if (memory.most === undefined) {
    return [`its memory has no maximum ("remit tool add" writes one in)`];
  }
  // WebAssembly refuses a maximum below the minimum.
  if (memory.most <= pages) return [];
  return [`its memory may grow to ${memory.most} pages; its tool.yaml allows ${pages}`];
}

function tableFindings({ tables }: ModuleShape): string[] {
  if (tables.some(({ odd }) => odd)) return ["a table is shared or of 64 bits"];
  // A single table without a maximum gets the remaining elements when loaded.
  if (tables.filter(({ most }) => most === undefined).length > 1) {
    return ["more than one table has no maximum"];
  }
  let elements = 0;
  for (const { least, most } of tables) elements += most ?? least;
  return elements <= TABLE_ELEMENTS
    ? []
    : [`its tables may grow to ${elements} elements; ${TABLE_ELEMENTS} are allowed`];
}
