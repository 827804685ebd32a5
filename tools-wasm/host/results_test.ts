import assert from "node:assert/strict";
import { Fault } from "../../contracts/base/fault.ts";
import { assemble } from "./_fixture/assemble.ts";
import { makeHere, makeKernel } from "./_fixture/rig.ts";

const NO_RESULT: readonly (readonly [tool: string, why: RegExp])[] = [
  ["run", /it is not JSON, or repeats a key/],
  ["nothing", /it set none/],
  ["bare", /it is not an envelope/],
  ["twice", /repeats a key/],
  ["twice_within", /repeats a key/],
  ["proto", /it is not an envelope/],
  ["proto_only", /it is not an envelope/],
  ["not_utf8", /it is not JSON/],
  ["infinite", /it is not JSON/],
  ["no_error", /it is not an envelope/],
  ["both", /it is not an envelope/],
];

for (const [tool, why] of NO_RESULT) {
  Deno.test(`_fixture/not_json.wat "${tool}" is no result`, async () => {
    const here = makeHere();
    await here.load("not_json");
    const told = await here.call(`not_json ${tool}`);
    assert.equal(told.code, "upstream");
    assert.match(String(told.message), /^Cannot read the result of "\w+" of plugin "not_json": /);
    assert.match(String(told.message), why);
  });
}

Deno.test("an instance that says so, or whose result is none, serves no other call", async () => {
  const counting = (name: string, envelope: string): string =>
    `(func (export "${name}") (result i32)
      (global.set $calls (i32.add (global.get $calls) (i32.const 1)))
      (call $say (text ${envelope}))
      (i32.const 0))`;
  const here = makeHere();
  await here.load("counter", {
    bytes: assemble(`(module (kit) (global $calls (mut i32) (i32.const 0))
      (func (export "calls") (result i32)
        (call $output_set
          (call $block (text aaaaaaaaaa))
          (i64.extend_i32_u (global.get $calls)))
        (i32.const 0))
      ${counting("good", `{"ok":true,"value":1,"discard":false}`)}
      ${counting("bad", `{"ok":false,"error":{"code":"notFound","message":"no"}}`)}
      ${counting("last", `{"ok":true,"value":1,"discard":true}`)}
      ${
      counting("failed", `{"ok":false,"error":{"code":"tooLarge","message":"no"},"discard":true}`)
    }
      ${counting("garbage", "{")}
      ${counting("odd", `{"ok":true,"value":1,"discard":1}`)}
    )`),
  });
  const calls = async (): Promise<unknown> => (await here.raw("counter calls")).value;
  assert.equal((await here.call("counter good")).value, 1);
  assert.equal((await here.call("counter bad")).code, "notFound");
  assert.equal(await calls(), "aa");
  for (const tool of ["last", "failed", "garbage", "odd"]) {
    await here.call("counter good");
    await here.call(`counter ${tool}`);
    assert.equal(await calls(), "", tool);
  }
});

Deno.test("keys that JavaScript knows are data in a value", async () => {
  const here = makeHere();
  await here.load("not_json");
  const { value } = await here.call("not_json proto_within");
  assert.equal(JSON.stringify(value), `{"__proto__":{"admin":true},"constructor":1}`);
  assert.equal(Reflect.get({}, "admin"), undefined);
});

Deno.test("a plugin ends with codes of its own, and with others only if the kernel said them in this call", async () => {
  const here = makeHere(makeKernel(() => {
    throw new Fault("needsApproval", "Cannot read it: somebody must say yes");
  }));
  await here.load("not_json");
  const own = await here.call("not_json own_code");
  assert.deepEqual([own.code, own.message], ["notFound", "Cannot find it"]);
  assert.equal((await here.call("not_json forged_code")).code, "upstream");
  assert.equal((await here.call("not_json odd_code")).code, "upstream");
  const passing = assemble(`(module (kit) (func (export "run") (result i32)
    (call $give (call $ask (text {"fn":"fs.read"})))
    (i32.const 0)))`);
  await here.load("passing", { bytes: passing, hostFunctions: ["fs.read"] });
  const passed = await here.call("passing");
  assert.deepEqual(
    [passed.code, passed.message],
    ["needsApproval", "Cannot read it: somebody must say yes"],
  );
});

Deno.test("a value is measured as it will be written, in bytes", async () => {
  const here = makeHere();
  await here.load("not_json");
  // Eight times 1e20 is 41 bytes as it comes and 177 as it goes on.
  assert.equal((await here.call("not_json grown", { bytes: 176 })).code, "tooLarge");
  assert.equal((await here.call("not_json grown", { bytes: 185 })).code, undefined);
  await here.load("honest");
  assert.equal((await here.raw("honest echo", "x".repeat(98), { bytes: 100 })).code, undefined);
  assert.equal((await here.raw("honest echo", "x".repeat(99), { bytes: 100 })).code, "tooLarge");
  assert.equal((await here.raw("honest echo", "é".repeat(50), { bytes: 100 })).code, "tooLarge");
});

Deno.test("what the host throws cannot be caught away in the module", async () => {
  const here = makeHere();
  await here.load("catcher");
  assert.equal((await here.call("catcher")).code, "tooLarge");
});

Deno.test("a plugin finds nothing of another plugin, nor of an earlier call in its blocks", async () => {
  const here = makeHere();
  await here.load("thief");
  await here.load("thief", { plugin: "victim" });
  assert.equal((await here.raw("victim leave", "a secret")).value, "left");
  assert.equal((await here.raw("victim look")).value, "a secret");
  assert.equal((await here.raw("thief look")).value, "nothing");
  assert.equal((await here.raw("victim blocks", "long input")).value, "nothing");
  assert.equal((await here.raw("thief blocks")).value, "nothing");
});

Deno.test("there is no configuration, also not by the names that every object has", async () => {
  const here = makeHere();
  await here.load("thief");
  for (const key of ["key", "", "__proto__", "constructor", "toString", "hasOwnProperty"]) {
    assert.equal((await here.raw("thief config", key)).value, "nothing", key);
  }
});

Deno.test("variables are limited, and an instance that fills them is not kept", async () => {
  const here = makeHere();
  await here.load("thief");
  await here.raw("thief leave", "kept");
  const told = await here.raw("thief hoard");
  assert.equal(told.code, "tooLarge");
  assert.match(String(told.message), /more than 1048576 bytes in variables/);
  assert.equal((await here.raw("thief look")).value, "nothing");
});
