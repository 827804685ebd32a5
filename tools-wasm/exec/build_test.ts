import { deepEqual, equal, ok, throws } from "node:assert/strict";
import { buildEngine } from "./build.ts";
import { MEMORY_PAGES } from "./_build_powers.ts";
import { changesTable } from "./wasm/instructions.ts";
import { joinModules } from "./wasm/join.ts";
import { parseModule } from "./wasm/module.ts";
import { writeModule } from "./wasm/begin.ts";

Deno.test("the engine is the same bytes each time, imports what is allowed, and exports what it must (long)", async () => {
  const [one, two] = [await buildEngine(), await buildEngine()];
  deepEqual(one, two);
  ok(one.length < 1_500_000, `${one.length} bytes`);
  const module = new WebAssembly.Module(one.slice().buffer);
  const imports = WebAssembly.Module.imports(module);
  deepEqual(
    imports.flatMap(({ module, name }) => module === "extism:host/env" ? [] : `${module} ${name}`)
      .sort(),
    ["block_read", "block_write", "host_call", "input_read"].map((name) =>
      `extism:host/user ${name}`
    ),
  );
  ok(imports.every(({ kind, name }) => kind === "function" && !/^(http|var)/.test(name)));
  const exported = WebAssembly.Module.exports(module);
  deepEqual(
    exported.flatMap(({ name, kind }) => kind === "global" ? [] : name).sort(),
    ["memory", "run"],
  );
  const { memory, globals, exports } = parseModule(one);
  // What rewinds an instance puts these and the memory back: there is nothing else that a call can leave.
  deepEqual(
    exports.flatMap(({ kind, index }) => kind === 3 ? index : []).sort(),
    globals.flatMap(({ mutable }, index) => mutable ? index : []).sort(),
  );
  ok(globals.some(({ mutable }) => mutable));
  equal(memory?.maximum, MEMORY_PAGES);
  const manifest = await Deno.readTextFile(new URL("tool.yaml", import.meta.url));
  ok(manifest.includes(`\nmemoryPages: ${MEMORY_PAGES}\n`));
  // No path of the machine that built it.
  ok(!new TextDecoder("latin1").decode(one).includes(Deno.cwd()));
});

Deno.test("a module that is taken apart and put together is the same module", async () => {
  const bytes = await buildEngine();
  deepEqual(writeModule(parseModule(bytes)), bytes);
});

Deno.test("a function that changes a table is found", () => {
  const [none, end] = [0, 0x0b];
  for (const body of [[0x41, 0, 0xd0, 0x70, 0x26, 0], [0xfc, 15, 0], [0x11, 0, 0, 0xfc, 13, 0]]) {
    ok(changesTable(Uint8Array.from([none, ...body, end])));
  }
  for (const body of [[0x41, 0x26], [0x10, 0x26, 0x23, 0x26], [0x11, 0x26, 0], [0xfc, 11, 0]]) {
    ok(!changesTable(Uint8Array.from([none, ...body, end])));
  }
});

Deno.test("a module that ends early, and glue that brings data, are refused", async () => {
  const bytes = await buildEngine();
  for (const end of [0, 7, 9, 100, 2_000, bytes.length - 1]) {
    throws(() => parseModule(bytes.subarray(0, end)), { name: "Fault", code: "invalidInput" });
  }
  const engine = parseModule(bytes);
  throws(
    () => joinModules({ main: engine, glue: engine, name: "qjs" }),
    /the glue has data of its own/,
  );
});
