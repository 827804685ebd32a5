import assert from "node:assert/strict";
import fc from "fast-check";
import { Fault } from "../../contracts/base/fault.ts";
import { assemble, assembleFile } from "./_fixture/assemble.ts";
import { ALLOWED_IMPORTS } from "./allowed_imports.ts";
import { MODULE_BYTES } from "./bounds.ts";
import { passGate } from "./load_gate.ts";

const RULE = { memoryPages: 16, exports: ["run"] };

function refusal(bytes: Uint8Array, rule = RULE): Fault | undefined {
  try {
    passGate("mallory", bytes, rule);
    return undefined;
  } catch (error) {
    assert.ok(error instanceof Fault, String(error));
    return error;
  }
}

const REFUSED: readonly (readonly [file: string, why: RegExp])[] = [
  ["unknown_import", /it imports "env" "system", which is not there/],
  ["http_import", /"http_request"; the network is reached by the host function http\.fetch/],
  ["wasi_write", /"fd_write"; there is no WASI here/],
  ["wasi_environment", /"environ_get"; there is no WASI here/],
  ["wasi_open", /"path_open"; there is no WASI here/],
  ["imported_memory", /imports the memory "env" "memory"; only functions can be imported/],
  ["no_maximum", /its memory has no maximum/],
  ["two_memories", /it has 2 memories of its own/],
  ["two_growing_tables", /more than one table has no maximum/],
  ["large_table", /its tables may grow to 10000000 elements/],
];

for (const [file, why] of REFUSED) {
  Deno.test(`the load gate refuses _fixture/${file}.wat`, () => {
    const fault = refusal(assembleFile(file));
    assert.equal(fault?.code, "refused");
    assert.match(fault?.message ?? "", /^Cannot load plugin "mallory": /);
    assert.match(fault?.message ?? "", why);
  });
}

const MODULES: readonly (readonly [what: string, source: string, why: RegExp | undefined])[] = [
  [
    "a start function",
    `(module (memory 1 1) (func $s) (start $s) (func (export "run") (result i32) (i32.const 0)))`,
    undefined,
  ],
  [
    "a memory that is not exported",
    `(module (memory 1 16) (func (export "run") (result i32) (i32.const 0)))`,
    undefined,
  ],
  [
    "one table without a maximum",
    `(module (memory 1 1) (table 1 funcref) (func (export "run") (result i32) (i32.const 0)))`,
    undefined,
  ],
  [
    "more memory than its rule",
    `(module (memory 1 17) (func (export "run") (result i32) (i32.const 0)))`,
    /may grow to 17 pages; its tool.yaml allows 16/,
  ],
  [
    "a shared memory",
    `(module (memory 1 1 shared) (func (export "run") (result i32) (i32.const 0)))`,
    /shared or of 64 bits/,
  ],
  [
    "a 64-bit memory",
    `(module (memory i64 1 1) (func (export "run") (result i32) (i32.const 0)))`,
    /shared or of 64 bits/,
  ],
  [
    "no memory",
    `(module (func (export "run") (result i32) (i32.const 0)))`,
    /it has 0 memories/,
  ],
  ["no run", `(module (memory 1 1))`, /it has no export "run"/],
  [
    "a run that takes an argument",
    `(module (memory 1 1) (func (export "run") (param i32) (result i32) (i32.const 0)))`,
    /its export "run" is not a function without arguments/,
  ],
  [
    "a run that gives nothing",
    `(module (memory 1 1) (func (export "run")))`,
    /its export "run" is not a function without arguments/,
  ],
  [
    "a memory by the name of run",
    `(module (memory (export "run") 1 1))`,
    /its export "run" is not a function/,
  ],
  [
    "host_call with another signature",
    `(module (import "extism:host/user" "host_call" (func (param i32) (result i64)))
      (memory 1 1) (func (export "run") (result i32) (i32.const 0)))`,
    /"host_call" with another signature/,
  ],
  [
    "a function of Extism's from another place",
    `(module (import "env" "alloc" (func (param i64) (result i64)))
      (memory 1 1) (func (export "run") (result i32) (i32.const 0)))`,
    /"env" "alloc", which is not there/,
  ],
  [
    "the name of an object's own as a function",
    `(module (import "extism:host/env" "constructor" (func))
      (memory 1 1) (func (export "run") (result i32) (i32.const 0)))`,
    /"constructor", which is not there/,
  ],
  [
    "an imported global",
    `(module (import "extism:host/env" "secret" (global i64))
      (memory 1 1) (func (export "run") (result i32) (i32.const 0)))`,
    /imports the global .* only functions can be imported/,
  ],
  [
    "an imported table",
    `(module (import "extism:host/env" "table" (table 1 1 funcref))
      (memory 1 1) (func (export "run") (result i32) (i32.const 0)))`,
    /imports the table /,
  ],
  [
    "an imported tag",
    `(module (import "extism:host/env" "tag" (tag (param i32)))
      (memory 1 1) (func (export "run") (result i32) (i32.const 0)))`,
    /imports the tag /,
  ],
];

for (const [what, source, why] of MODULES) {
  Deno.test(`the load gate ${why === undefined ? "lets in" : "refuses"} ${what}`, () => {
    const fault = refusal(assemble(source));
    if (why === undefined) return assert.equal(fault, undefined);
    assert.equal(fault?.code, "refused");
    assert.match(fault?.message ?? "", why);
  });
}

const HEAD = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];
const NO_MODULES: readonly (readonly [what: string, bytes: readonly number[]])[] = [
  ["nothing", []],
  ["text", [...new TextEncoder().encode("(module)")]],
  ["a component", [0x00, 0x61, 0x73, 0x6d, 0x0d, 0x00, 0x01, 0x00]],
  ["a section that is longer than the module", [...HEAD, 1, 0xff, 0xff, 0xff, 0x0f]],
  ["a number without an end", [...HEAD, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]],
  ["a section that comes twice", [...HEAD, 5, 4, 1, 1, 1, 1, 5, 4, 1, 1, 1, 1]],
  ["a list of four billion types", [...HEAD, 1, 5, 0xff, 0xff, 0xff, 0xff, 0x0f]],
  ["a name longer than its section", [...HEAD, 2, 3, 1, 0x70, 0x61]],
  ["a section shorter than it says", [...HEAD, 5, 6, 1, 1, 1, 1, 0, 0]],
  ["an unknown section", [...HEAD, 99, 0]],
];

for (const [what, bytes] of NO_MODULES) {
  Deno.test(`the load gate refuses ${what} as no module`, () => {
    const fault = refusal(new Uint8Array(bytes));
    assert.equal(fault?.code, "invalidInput");
    assert.match(fault?.message ?? "", /^Cannot read module: /);
  });
}

Deno.test("the load gate refuses 50 MB before it looks at them", () => {
  const bytes = new Uint8Array(50_000_000);
  bytes.set(HEAD);
  assert.equal(refusal(bytes)?.code, "tooLarge");
  assert.equal(refusal(new Uint8Array(MODULE_BYTES + 1))?.code, "tooLarge");
  assert.equal(refusal(new Uint8Array(MODULE_BYTES))?.code, "invalidInput");
});

Deno.test("whatever is done to a module's bytes, what passes the gate and compiles imports nothing else", () => {
  const seeds = ["honest", "wasi_open", "imported_memory", "no_maximum", "large_table"]
    .map(assembleFile);
  const edit = fc.record({ at: fc.nat(), byte: fc.nat(255), cut: fc.boolean() });
  let compiled = 0;
  fc.assert(
    fc.property(fc.constantFrom(...seeds), fc.array(edit, { maxLength: 3 }), (seed, edits) => {
      let bytes = seed.slice();
      for (const { at, byte, cut } of edits) {
        if (cut) bytes = bytes.slice(0, bytes.length - (at % 16));
        else bytes[at % bytes.length] = byte;
      }
      // A Fault or nothing: `refusal` fails for anything else.
      if (refusal(bytes) !== undefined || !WebAssembly.validate(bytes)) return;
      compiled++;
      for (
        const { module, name, kind } of WebAssembly.Module.imports(new WebAssembly.Module(bytes))
      ) {
        assert.equal(kind, "function");
        assert.ok(ALLOWED_IMPORTS.get(module)?.has(name), `${module} ${name}`);
      }
    }),
    { numRuns: 3_000 },
  );
  assert.ok(compiled > 100, `${compiled} passed`);
});
