import assert from "node:assert/strict";
import { Fault } from "../../contracts/base/fault.ts";
import { assembleFile } from "./_fixture/assemble.ts";
import { makeHere } from "./_fixture/rig.ts";
import { sha256 } from "./host_powers.ts";

const SOURCE = "globalThis.__tools = {};";

async function loadScript(
  here: ReturnType<typeof makeHere>,
  plugin: string,
  memoryPages = 64,
): Promise<void> {
  await here.ask("load", {
    plugin,
    engine: "script",
    sha256: await sha256(new TextEncoder().encode(SOURCE)),
    code: SOURCE,
    memoryPages,
    hostFunctions: [],
  });
}

async function loadEngine(here: ReturnType<typeof makeHere>): Promise<void> {
  const bytes = assembleFile("engine");
  await here.ask("engine", { sha256: await sha256(bytes), code: bytes.toBase64() });
}

Deno.test("a script is loaded into an instance before its first call, and kept there", async () => {
  const here = makeHere();
  await loadEngine(here);
  await loadScript(here, "script");
  const input = (op: string): unknown => ({ v: 1, op, args: { a: [1] } });
  const args = { args: { a: [1] } };
  // Its first call is the second of the instance: the first was @load.
  assert.deepEqual((await here.call("script one", args)).value, [2, 9, input("one")]);
  assert.deepEqual((await here.call("script two", args)).value, [3, 9, input("two")]);
  await loadScript(here, "other");
  assert.deepEqual((await here.call("other one", args)).value, [2, 9, input("one")]);
});

Deno.test("a script's memory has as many pages as its own manifest says", async () => {
  const here = makeHere();
  await loadEngine(here);
  await loadScript(here, "wide");
  await loadScript(here, "narrow", 5);
  const pages = async (tool: string): Promise<unknown> =>
    Reflect.get(Object((await here.call(tool)).value), 1);
  assert.equal(await pages("narrow one"), 1);
  assert.equal(await pages("wide one"), 9);
  await assert.rejects(loadScript(here, "none", 0), (error: Fault) => error.code === "refused");
});

Deno.test("no script is loaded without an engine", async () => {
  await assert.rejects(
    loadScript(makeHere(), "script"),
    (error: Fault) => error.code === "unavailable",
  );
});

Deno.test("an engine passes the load gate, too", async () => {
  const bytes = assembleFile("wasi_write");
  await assert.rejects(
    makeHere().ask("engine", { sha256: await sha256(bytes), code: bytes.toBase64() }),
    (error: Fault) => error.code === "refused",
  );
});
