import assert from "node:assert/strict";
import binaryen from "binaryen";
import { Fault } from "../../../contracts/base/fault.ts";
import { stubImports } from "./stub_imports.ts";

function wasm(text: string): Uint8Array {
  const m = binaryen.parseText(`(module ${text})`);
  try {
    return m.emitBinary();
  } finally {
    m.dispose();
  }
}

const refused = (said: RegExp) => (error: unknown): boolean =>
  error instanceof Fault && said.test(error.message);

const importsOf = (module: Uint8Array): string[] =>
  WebAssembly.Module.imports(new WebAssembly.Module(new Uint8Array(module)))
    .map(({ module: from, name }) => `${from}.${name}`);

function exportsOf(module: Uint8Array): Readonly<Record<string, (...args: unknown[]) => unknown>> {
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(new Uint8Array(module)));
  return exports as Record<string, (...args: unknown[]) => unknown>;
}

const WASI = "wasi_snapshot_preview1";

Deno.test("WASI's imports become functions that grant nothing: no arguments, no clock, no files, no chance", () => {
  const { module, stubs } = stubImports(wasm(`
    (import "${WASI}" "environ_sizes_get" (func $sizes (param i32 i32) (result i32)))
    (import "${WASI}" "clock_time_get" (func $clock (param i32 i64 i32) (result i32)))
    (import "${WASI}" "random_get" (func $random (param i32 i32) (result i32)))
    (import "${WASI}" "fd_prestat_get" (func $prestat (param i32 i32) (result i32)))
    (import "${WASI}" "path_open"
      (func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
    (import "${WASI}" "proc_exit" (func $exit (param i32)))
    (import "env" "abort" (func $abort (param i32 i32 i32 i32)))
    (memory (export "memory") 1)
    (data (i32.const 0) "\\ff\\ff\\ff\\ff\\ff\\ff\\ff\\ff\\ff\\ff\\ff\\ff\\ff\\ff\\ff\\ff")
    (func (export "sizes") (result i32) (call $sizes (i32.const 0) (i32.const 4)))
    (func (export "clock") (result i32) (call $clock (i32.const 0) (i64.const 0) (i32.const 8)))
    (func (export "random") (result i32) (call $random (i32.const 64) (i32.const 4)))
    (func (export "prestat") (result i32) (call $prestat (i32.const 3) (i32.const 0)))
    (func (export "open") (result i32) (call $open (i32.const 3) (i32.const 0) (i32.const 0)
      (i32.const 0) (i32.const 0) (i64.const 0) (i64.const 0) (i32.const 0) (i32.const 0)))
    (func (export "exit") (call $exit (i32.const 0)))
    (func (export "abort") (call $abort (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0)))`));
  assert.equal(stubs.length, 7);
  assert.deepEqual(importsOf(module), []);
  const { memory, ...call } = exportsOf(module);
  assert.ok(memory instanceof Object && "buffer" in memory);
  const bytes = (
    from: number,
    to: number,
  ): number[] => [...new Uint8Array((memory as { buffer: ArrayBuffer }).buffer.slice(from, to))];
  assert.deepEqual(["sizes", "clock", "random"].map((name) => call[name]?.()), [0, 0, 0]);
  assert.deepEqual(bytes(0, 16), Array(16).fill(0));
  assert.deepEqual(bytes(63, 69), [0, 4, 4, 4, 4, 0]);
  assert.deepEqual(["prestat", "open"].map((name) => call[name]?.()), [8, 52]);
  assert.throws(() => call["exit"]?.(), WebAssembly.RuntimeError);
  assert.throws(() => call["abort"]?.(), WebAssembly.RuntimeError);
});

Deno.test("mallory's import of a known name in another shape gets an error number, and never a memory write", () => {
  const { module } = stubImports(wasm(`
    (import "${WASI}" "random_get" (func $random (param i64) (result i32)))
    (import "${WASI}" "clock_time_get" (func $clock (result i64)))
    (memory 1)
    (func (export "random") (result i32) (call $random (i64.const 0)))
    (func (export "clock") (drop (call $clock)))`));
  assert.deepEqual(importsOf(module), []);
  const call = exportsOf(module);
  assert.equal(call["random"]?.(), 52);
  assert.throws(() => call["clock"]?.(), WebAssembly.RuntimeError);
});

Deno.test("imports of others stay as they are, for the load gate to judge", () => {
  const plain = wasm('(import "extism:host/env" "http_request" (func (result i64))) (memory 1)');
  const { module, stubs } = stubImports(plain);
  assert.equal(module, plain);
  assert.deepEqual(stubs, []);
});

Deno.test("bytes that only begin like a module are refused", () => {
  const whole = wasm('(memory 1) (func (export "run") (result i32) (i32.const 7))');
  assert.throws(() => stubImports(whole.subarray(0, whole.length - 3)), refused(/does not parse/));
});
