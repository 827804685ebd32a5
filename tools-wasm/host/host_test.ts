import assert from "node:assert/strict";
import fc from "fast-check";
import { Fault } from "../../contracts/base/fault.ts";
import type { Json } from "../../contracts/base/json.ts";
import { assemble } from "./_fixture/assemble.ts";
import { loadBody, makeHere, makeKernel, type Told } from "./_fixture/rig.ts";
import { toJson } from "../../contracts/base/json.ts";
import { sha256 } from "./host_powers.ts";

const ask = (fn: string, args: Json = {}): string => JSON.stringify({ fn, args });
const answer = (
  told: Told,
): { ok?: boolean; value?: Json; error?: { code: string; message: string } } =>
  JSON.parse(String(told.value));

Deno.test("a plugin is loaded once, called, and its value comes back", async () => {
  const here = makeHere();
  await here.load("honest");
  assert.deepEqual(await here.call("honest"), { value: "well", logs: [] });
  await assert.rejects(here.load("honest"), (error: Fault) => error.code === "alreadyExists");
  assert.equal((await here.call("nobody")).code, "notFound");
});

Deno.test("a module or script of another digest than the pinned one is refused", async () => {
  const here = makeHere();
  const body = await loadBody("honest");
  const other = "0".repeat(64);
  const refused = (error: Fault): boolean => {
    assert.equal(error.code, "refused");
    assert.match(error.message, /is not the pinned (module|one)/);
    return true;
  };
  await assert.rejects(here.ask("load", toJson({ ...body, sha256: other })), refused);
  await here.ask("engine", { sha256: body.sha256, code: body.code });
  const script = { ...body, plugin: "script", engine: "script", code: "1" };
  await assert.rejects(here.ask("load", toJson({ ...script, sha256: other })), refused);
  await here.ask(
    "load",
    toJson({ ...script, sha256: await sha256(new TextEncoder().encode("1")) }),
  );
});

Deno.test("a module that is known is loaded again without its bytes, under the new plugin's own rule", async () => {
  const here = makeHere();
  const body = await loadBody("honest");
  await assert.rejects(here.ask("load", toJson({ ...body, code: "" })), Fault);
  await here.ask("load", toJson(body));
  await here.ask("load", toJson({ ...body, plugin: "again", code: "" }));
  assert.equal((await here.call("again")).value, "well");
  await assert.rejects(
    here.ask("load", toJson({ ...body, plugin: "narrow", code: "", memoryPages: 1 })),
    (error: Fault) => error.code === "refused",
  );
});

Deno.test("a host function goes to the kernel with the id of the call that runs, and its answer back", async () => {
  const kernel = makeKernel();
  const here = makeHere(kernel);
  await here.load("honest", { hostFunctions: ["fs.read"] });
  const told = await here.raw("honest forward", ask("fs.read", { path: "desk/a" }), { id: "one" });
  assert.deepEqual(answer(told), { ok: true, value: { text: "alpha" } });
  assert.deepEqual(kernel.asked, [{ call: "one", fn: "fs.read", args: { path: "desk/a" } }]);
});

Deno.test("a host function that was not asked for is refused in the plugin, and the kernel not bothered", async () => {
  const kernel = makeKernel();
  const here = makeHere(kernel);
  await here.load("honest", { hostFunctions: ["fs.read"] });
  for (const fn of ["http.fetch", "fs.write", "tool.call", "secret.use", "log", "random"]) {
    const { error } = answer(await here.raw("honest forward", ask(fn)));
    assert.equal(error?.code, "refused");
    assert.equal(
      error?.message,
      `Cannot use ${fn}: plugin honest did not ask for it; ` +
        `add it to hostFunctions in its tool.yaml and have it reviewed`,
    );
  }
  assert.deepEqual(kernel.asked, []);
});

Deno.test("a plugin that may call tools is told that one of them may do what it may not", async () => {
  const here = makeHere(makeKernel());
  await here.load("honest", { hostFunctions: ["tool.call"] });
  const { error } = answer(await here.raw("honest forward", ask("fs.read", { path: "desk/a" })));
  assert.match(
    error?.message ?? "",
    /did not ask for it; have a tool do it \(tool\.call\), or add/,
  );
});

Deno.test("a plugin's request names a function and arguments, and nothing beside", async () => {
  const kernel = makeKernel();
  const here = makeHere(kernel);
  await here.load("honest", { hostFunctions: ["fs.read", "clock"] });
  const bad = [
    "",
    "x",
    "null",
    "[]",
    `"fs.read"`,
    `{"fn":"fs.read","args":[]}`,
    `{"fn":"fs.read","args":null}`,
    `{"fn":"fs.read","args":{},"call":"another"}`,
    `{"fn":"fs.read","args":{},"__proto__":{"call":"another"}}`,
    `{"fn":"clock","fn":"fs.read"}`,
    `{"fn":"fs.read","args":{"path":"a","path":"b"}}`,
    `{"fn":"fs.read","args":{"at":1e999}}`,
    `{"fn":"constructor"}`,
    `{"fn":"__proto__"}`,
    `{"fn":["fs.read"]}`,
    `{"fn":7}`,
    `{}`,
  ];
  for (const request of bad) {
    const told = await here.raw("honest forward", request);
    assert.equal(answer(told).error?.code, "invalidInput", request);
  }
  const deep = `{"fn":"fs.read","args":{"a":${"[".repeat(100)}${"]".repeat(100)}}}`;
  assert.equal(answer(await here.raw("honest forward", deep)).error?.code, "tooLarge");
  const wide = ask("fs.read", { a: Array.from({ length: 100_000 }, () => 0) });
  assert.equal(answer(await here.raw("honest forward", wide)).error?.code, "tooLarge");
  assert.deepEqual(kernel.asked, []);
});

Deno.test("what the kernel refuses fails in the plugin with its code and words, and no more of it", async () => {
  const here = makeHere(makeKernel(() => {
    throw new Fault("leaseRevoked", "Cannot read desk/a: the lease is gone", {
      detail: { inner: 1 },
    });
  }));
  await here.load("honest", { hostFunctions: ["fs.read"] });
  const told = await here.raw("honest forward", ask("fs.read"));
  assert.deepEqual(answer(told), {
    ok: false,
    error: { code: "leaseRevoked", message: "Cannot read desk/a: the lease is gone" },
  });
});

Deno.test("clock stands still unless granted; random and log are given only then", async () => {
  const here = makeHere();
  await here.load("honest");
  const ungranted = await here.raw("honest forward", ask("clock"));
  assert.deepEqual(answer(ungranted).value, { now: 1_767_225_600_000 });
  await here.load("honest", { plugin: "granted", hostFunctions: ["clock", "random", "log"] });
  const value = async (fn: string, args: Json = {}): Promise<Told> =>
    await here.raw("granted forward", ask(fn, args));
  assert.deepEqual(answer(await value("clock")).value, { now: 1 });
  assert.deepEqual(answer(await value("random", { bytes: 3 })).value, { base64: "AAA" });
  for (const bytes of [0, -1, 1.5, 65_537, "3", null]) {
    assert.equal(answer(await value("random", { bytes })).error?.code, "invalidInput");
  }
  assert.equal(answer(await value("log", {})).error?.code, "invalidInput");
  assert.deepEqual((await value("log", { text: "said" })).logs, ["said"]);
});

Deno.test("Extism's own log functions give lines too, and a failing call's lines go with its fault", async () => {
  const here = makeHere();
  await here.load("honest");
  assert.deepEqual((await here.raw("honest log", "hello")).logs, ["hello"]);
  await here.load("talker", {
    bytes: assemble(`(module (kit) (func (export "run") (result i32)
      (call $log_info (call $block (text before the end)))
      (unreachable)))`),
  });
  const told = await here.call("talker");
  assert.equal(told.code, "upstream");
  assert.deepEqual(told.detail, { logs: ["before the end"] });
});

Deno.test("an export of another kit's fails by its error or by what it returns", async () => {
  const here = makeHere();
  await here.load("honest");
  const failed = await here.raw("honest fail");
  assert.deepEqual([failed.code, failed.message], ["upstream", "no such luck"]);
  const silent = await here.raw("honest fail_silently");
  assert.equal(silent.code, "upstream");
  assert.match(String(silent.message), /it says it failed/);
  assert.equal((await here.raw("honest echo", "né☃")).value, "né☃");
});

Deno.test("a kept instance serves calls until one traps, and never after that", async () => {
  const here = makeHere();
  await here.load("honest");
  assert.equal((await here.raw("honest count")).value, "a");
  assert.equal((await here.raw("honest count")).value, "aa");
  await here.raw("honest fail");
  assert.equal((await here.raw("honest count")).value, "aaa");
  const trapped = await here.raw("honest trap");
  assert.equal(trapped.code, "upstream");
  assert.match(String(trapped.message), /it trapped \(unreachable\): last words/);
  assert.equal((await here.raw("honest count")).value, "a");
  // Too large a result does not trap, and yet: nobody knows where the plugin was.
  assert.equal((await here.raw("honest echo", "x".repeat(70_000))).code, "tooLarge");
  assert.equal((await here.raw("honest count")).value, "a");
});

Deno.test("the engine is made anew for each exec, also when it was loaded as a plugin before", async () => {
  const here = makeHere();
  const body = await loadBody("honest", { plugin: "exec" });
  await here.ask("load", toJson({ ...body, exports: { exec: "count", other: "count" } }));
  const exec = { tool: "exec", raw: "" };
  assert.equal((await here.call("exec", exec)).value, "a");
  assert.equal((await here.call("exec", exec)).value, "a");
  await here.ask("engine", { sha256: body.sha256, code: body.code });
  assert.equal((await here.raw("exec other")).value, "a");
  assert.equal((await here.raw("exec other")).value, "a");
});

Deno.test("one call runs at a time for a plugin; others run meanwhile", async () => {
  const waiting: ((value: Json) => void)[] = [];
  const kernel = makeKernel(() => new Promise<Json>((resolve) => waiting.push(resolve)));
  const here = makeHere(kernel);
  await here.load("honest", { hostFunctions: ["fs.read"] });
  await here.load("honest", { plugin: "second", hostFunctions: ["fs.read"] });
  const request = ask("fs.read");
  const first = here.raw("honest forward", request, { id: "first" });
  const next = here.raw("honest forward", request, { id: "next" });
  const beside = here.raw("second forward", request, { id: "beside" });
  await kernel.until(2);
  assert.deepEqual(kernel.asked.map(({ call }) => call).sort(), ["beside", "first"]);
  waiting.splice(0).forEach((resolve) => resolve("now"));
  assert.equal(answer(await first).value, "now");
  assert.equal(answer(await beside).value, "now");
  await kernel.until(3);
  assert.equal(kernel.asked.at(-1)?.call, "next");
  waiting[0]?.("then");
  assert.equal(answer(await next).value, "then");
});

Deno.test("a cancelled call gets nothing more of its host, and one that waits does not begin", async () => {
  let release = (_: Json): void => {};
  const kernel = makeKernel(() => new Promise<Json>((resolve) => release = resolve));
  const here = makeHere(kernel);
  const twice = assemble(`(module (kit) (func (export "run") (result i32)
    (drop (call $ask (text {"fn":"fs.read"})))
    (call $give (call $ask (text {"fn":"fs.read"})))
    (i32.const 0)))`);
  await here.load("twice", { bytes: twice, hostFunctions: ["fs.read"] });
  const running = here.raw("twice run", "", { id: "running" });
  const waiting = here.raw("twice run", "", { id: "waiting" });
  await kernel.until(1);
  here.tell("cancel", { id: "running" });
  here.tell("cancel", { id: "waiting" });
  here.tell("cancel", { id: "unknown" });
  release({ text: "alpha" });
  assert.equal(answer(await running).error?.code, "cancelled");
  assert.equal((await waiting).code, "cancelled");
  assert.equal(kernel.asked.length, 1);
});

Deno.test("an id under way cannot be used again", async () => {
  const kernel = makeKernel(() => new Promise<Json>(() => {}));
  const here = makeHere(kernel);
  await here.load("honest", { hostFunctions: ["fs.read"] });
  void here.raw("honest forward", ask("fs.read"), { id: "one" });
  assert.equal((await here.raw("honest forward", "", { id: "one" })).code, "badFrame");
});

Deno.test("usage counts instances and calls, and adds up the memory that is kept", async () => {
  const here = makeHere();
  await here.load("honest");
  assert.deepEqual(await here.ask("usage", null), { instances: 0, calls: 0, wasmBytes: 0 });
  await here.call("honest");
  await here.raw("honest trap");
  await here.call("honest");
  assert.deepEqual(await here.ask("usage", null), { instances: 2, calls: 3, wasmBytes: 65_536 });
});

Deno.test("what is no request of the kernel's is a bad frame", async () => {
  const here = makeHere();
  for (const [op, body] of [["eval", "1"], ["load", {}], ["call", null], ["cancel", { id: "a" }]]) {
    await assert.rejects(
      async () => await here.ask(String(op), toJson(body)),
      (error: Fault) => error.code === "badFrame",
    );
  }
});

Deno.test("whatever a plugin asks, it is answered with an envelope, and the kernel only what was granted", async () => {
  const kernel = makeKernel();
  const here = makeHere(kernel);
  await here.load("honest", { hostFunctions: ["fs.list", "log"] });
  const request = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.json(),
    fc.record({
      fn: fc.constantFrom("fs.list", "fs.read", "tool.call", "log", "clock", "random", "x", null),
      args: fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue()),
    }, { requiredKeys: [] }).map((value) => JSON.stringify(value)),
  );
  await fc.assert(
    fc.asyncProperty(request, async (text) => {
      const { ok, value, error } = answer(await here.raw("honest forward", text));
      assert.ok(ok === true ? value !== undefined : error?.code !== undefined);
    }),
    { numRuns: 500 },
  );
  assert.ok(kernel.asked.length > 0);
  assert.deepEqual([...new Set(kernel.asked.map(({ fn }) => fn))], ["fs.list"]);
});
