import assert from "node:assert/strict";
import { buildEngine } from "../exec/build.ts";
import { bundlePluginHost } from "./_fixture/bundle.ts";
import { makeCaller, makeKernel } from "./_fixture/rig.ts";
import { sha256 } from "./host_powers.ts";

Deno.test("the engine runs programs and scripts in a process without permissions", async () => {
  const bytes = new Uint8Array(await buildEngine());
  const digest = await sha256(bytes);
  await using bundle = await bundlePluginHost();
  const kernel = makeKernel();
  const child = bundle.start(kernel.handler, { pooled: true });
  const { ask } = child.port;
  await ask("engine", { sha256: digest, code: bytes.toBase64() });
  const memoryPages = 2_048;
  await ask("load", {
    ...{ plugin: "exec", engine: "wasm", sha256: digest, code: "" },
    ...{ memoryPages, hostFunctions: ["fs.read"] },
  });
  const source = `
    let calls = 0;
    globalThis.__tools = {
      count: async () => ++calls,
      read: async ({ path }, remit) => (await remit.fs.read({ path })).text + "!",
      write: async ({ path }, remit) => await remit.fs.write({ path, text: "" }),
    };`;
  await ask("load", {
    ...{ plugin: "script", engine: "script", code: source },
    ...{ sha256: await sha256(new TextEncoder().encode(source)) },
    ...{ memoryPages, hostFunctions: ["fs.read"] },
  });
  const { call } = makeCaller(ask);
  const exec = async (code: string): Promise<unknown> =>
    (await call("exec exec", { args: { code } })).value;

  assert.equal(await exec("1 + 1"), 2);
  await exec("globalThis.left = 1");
  assert.equal(await exec("typeof left"), "undefined");
  // One instance serves them all, and none finds anything of those before.
  const first = await exec("Math.random() + Date.now()");
  const left = `Object.prototype.left = 1; Array.prototype.map = () => "mine"; JSON.stringify = 0;
    globalThis.remit = undefined; setTimeout(() => { for (;;) {} }, 1e9); Math.random()`;
  for (const code of [left, "throw new Error(left)", "new Uint8Array(200_000).fill(65).length"]) {
    await call("exec exec", { args: { code } });
    const found = await exec("[{}.left, JSON.stringify([1].map(String)), typeof remit.fs.read]");
    assert.deepEqual(found, [null, '["1"]', "function"]);
    assert.equal(await exec("Math.random() + Date.now()"), first);
  }
  const usage = await ask("usage", null);
  // The engine's own, and one for all programs.
  assert.equal(JSON.stringify(usage).includes('"instances":2,'), true, JSON.stringify(usage));
  // One that took more memory than there was is not used again.
  await exec("new Uint8Array(20_000_000).length");
  assert.equal(await exec("Math.random() + Date.now()"), first);
  assert.match(JSON.stringify(await ask("usage", null)), /"instances":3,/);
  assert.equal(await exec(`(await remit.fs.read({ path: "desk/a" })).text`), "alpha");
  assert.equal((await call("script count")).value, 1);
  assert.equal((await call("script count")).value, 2);
  assert.equal((await call("script read", { args: { path: "desk/b" } })).value, "alpha!");
  const refused = await call("script write", { args: { path: "desk/b" } });
  assert.equal(refused.code, "refused");
  assert.match(String(refused.message), /Cannot use fs.write: plugin script did not ask for it/);
  assert.deepEqual(kernel.asked.map(({ args }) => args), [{ path: "desk/a" }, { path: "desk/b" }]);
  await child.kill();
});
