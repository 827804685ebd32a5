import assert from "node:assert/strict";
import { assemble } from "./_fixture/assemble.ts";
import { beginningOf, rewind } from "./rewind.ts";

const MODULE = `(module
  (memory (export "memory") 4 6)
  (global $count (export "count") (mut i64) (i64.const 7))
  (data (i32.const 8) "first")
  (data (i32.const 196606) "last")
  (func (export "work") (param $at i32)
    (global.set $count (i64.add (global.get $count) (i64.const 1)))
    (i32.store (local.get $at) (i32.const 0x5a5a5a5a)))
  (func (export "grow") (drop (memory.grow (i32.const 1)))))`;

function call(exports: WebAssembly.Exports, name: string, ...args: number[]): void {
  const found = exports[name];
  assert.ok(typeof found === "function");
  found(...args);
}

function bytesOf(exports: WebAssembly.Exports): Uint8Array {
  const { memory } = exports;
  assert.ok(memory instanceof WebAssembly.Memory);
  return new Uint8Array(memory.buffer).slice();
}

Deno.test("an instance that is rewound holds the bytes and globals that it began with, and nothing else", () => {
  const { exports } = new WebAssembly.Instance(
    new WebAssembly.Module(assemble(MODULE)),
  );
  const beginning = beginningOf(exports);
  const whole = bytesOf(exports);
  // Pages with bytes, without, and the ends of both.
  for (const at of [0, 8, 40_000, 65_532, 65_536, 131_000, 196_604, 196_608, 262_140]) {
    call(exports, "work", at);
  }
  assert.notDeepEqual(bytesOf(exports), whole);
  assert.notDeepEqual(beginningOf(exports), beginning);
  assert.equal(rewind(exports, beginning), true);
  assert.deepEqual(bytesOf(exports), whole);
  assert.deepEqual(beginningOf(exports), beginning);
});

Deno.test("an instance whose memory has grown is not rewound", () => {
  const { exports } = new WebAssembly.Instance(
    new WebAssembly.Module(assemble(MODULE)),
  );
  const beginning = beginningOf(exports);
  call(exports, "grow");
  assert.equal(rewind(exports, beginning), false);
});
