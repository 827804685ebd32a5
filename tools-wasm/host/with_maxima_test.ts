import assert from "node:assert/strict";
import { assemble, assembleFile } from "./_fixture/assemble.ts";
import { TABLE_ELEMENTS } from "./bounds.ts";
import { readShape } from "./module_shape.ts";
import { withMaxima } from "./with_maxima.ts";

Deno.test("a module to which nothing is to be written keeps its very bytes", () => {
  const bytes = assembleFile("honest");
  assert.equal(withMaxima(bytes, readShape(bytes)), bytes);
});

Deno.test("a memory is given fewer pages, a table a maximum, and the module still compiles", () => {
  const bytes = assemble(`(module
    (import "extism:host/env" "input_length" (func (result i64)))
    (table 5 funcref)
    (table 300 300 funcref)
    (memory (export "memory") 3 2000)
    (global i32 (i32.const 1))
    (func (export "run") (result i32) (memory.grow (i32.const 200))))`);
  const written = withMaxima(bytes, readShape(bytes), 200);
  const shape = readShape(written);
  assert.deepEqual(shape.memories.map(({ least, most }) => [least, most]), [[3, 200]]);
  assert.deepEqual(
    shape.tables.map(({ least, most }) => [least, most]),
    [[5, TABLE_ELEMENTS - 300], [300, 300]],
  );
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(written), {
    "extism:host/env": { input_length: () => 0n },
  });
  const { run } = exports;
  assert.ok(run instanceof Function);
  assert.equal(run(), -1);
  assert.deepEqual(readShape(withMaxima(bytes, readShape(bytes))).memories[0]?.most, 2_000);
});
