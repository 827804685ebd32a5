import { deepEqual, equal, match, rejects } from "node:assert/strict";
import type { ToolResult } from "../../contracts/tool/mod.ts";
import { Fault } from "../../contracts/base/mod.ts";
import { makeWorld, type World } from "../_fixture/world.ts";

const FREE = { rules: [{ mode: "auto", at: "remit.yaml:1" }] } as const;

function keyOf(world: World): string {
  const key = world.log.events.find(({ kind }) => kind === "intent")?.private?.["key"];
  if (typeof key !== "string") throw new Error("no intent");
  return key;
}

Deno.test("the same call id and arguments act once and answer twice", async () => {
  const world = await makeWorld({ policy: FREE });
  let n = 0;
  world.add({
    name: "save",
    effect: "mutateLocal",
    invoke: () => Promise.resolve({ content: `${++n}` }),
  });
  const first = await world.call("save", { a: 1, b: 2 });
  deepEqual(await world.call("save", { a: 1, b: 2 }), first);
  // Another layout of the same arguments is the same call.
  deepEqual(await world.call("save", {}, { text: '{ "b": 2, "a": 1 }' }), first);
  equal((await world.call("save", { a: 1, b: 3 })).content, "2");
  equal((await world.call("save", { a: 1, b: 2 }, { id: "c2" })).content, "3");
  deepEqual(world.effects, ["save", "save", "save"]);
});

Deno.test("the same call twice at once acts once", async () => {
  const world = await makeWorld({ policy: FREE });
  world.add({ name: "save", effect: "mutateLocal" });
  const both = await Promise.all([world.call("save"), world.call("save")]);
  deepEqual(both.map(({ outcome }) => outcome), ["ok", "ok"]);
  deepEqual(world.effects, ["save"]);
});

Deno.test("a read under an old call id reads again", async () => {
  const world = await makeWorld();
  let n = 0;
  world.add({
    name: "file_read",
    effect: "read",
    invoke: () => Promise.resolve({ content: `${++n}` }),
  });
  await world.call("file_read");
  equal((await world.call("file_read")).content, "2");
});

Deno.test("an outcome of an earlier kernel is given again, and nothing happens", async () => {
  const world = await makeWorld({ policy: FREE });
  world.add({ name: "save", effect: "mutateLocal" });
  const result: ToolResult = await world.call("save");
  const finished = new Map([[keyOf(world), result]]);
  const next = await makeWorld({ from: world, policy: FREE, finished });
  next.add({ name: "save", effect: "mutateLocal" });
  deepEqual(await next.call("save"), result);
  deepEqual(next.effects, []);
});

Deno.test("what an earlier kernel began and did not finish is asked about, unless its key repeats", async () => {
  const world = await makeWorld({ policy: FREE });
  world.add({ name: "save", effect: "mutateLocal" });
  await world.call("save");
  const unfinished = new Set([keyOf(world)]);

  const again = await makeWorld({ from: world, policy: FREE, unfinished });
  again.add({ name: "save", effect: "mutateLocal", resolve: () => ({ idempotent: true }) });
  equal((await again.call("save")).outcome, "ok");

  const asking = await makeWorld({ from: world, policy: FREE, unfinished });
  asking.add({ name: "save", effect: "mutateLocal" });
  const call = asking.call("save");
  equal((await asking.openQuestion()).kind, "recovery");
  deepEqual(asking.effects, []);
  await asking.answer({ decision: "deny", say: "it did happen" });
  const denied = await call;
  equal(denied.outcome, "deniedByUser");
  // Denied is settled: the next kernel finds the key with its result.
  const event = asking.log.events.at(-1);
  deepEqual([event?.kind, event?.private?.["key"]], ["refused", keyOf(world)]);
  equal(event?.private?.["result"] === undefined, false);

  const allowed = await makeWorld({ from: world, policy: FREE, unfinished });
  allowed.add({ name: "save", effect: "mutateLocal" });
  const second = allowed.call("save");
  await allowed.openQuestion();
  await allowed.answer();
  equal((await second).outcome, "ok");
});

Deno.test("an effect whose outcome could not be written is not repeated by the same kernel unasked", async () => {
  const world = await makeWorld({ policy: FREE });
  world.add({
    name: "save",
    effect: "mutateLocal",
    invoke: () => {
      world.log.full = true;
      return Promise.resolve({});
    },
  });
  await rejects(world.call("save"), (e) => e instanceof Fault && e.code === "storeFull");
  world.log.full = false;
  const decision = world.decide("save");
  equal(decision.kind, "ask");
  match(decision.rule, /may have happened already/);
});

Deno.test("a gate that forgot a task keeps nothing of it", async () => {
  const world = await makeWorld({ policy: FREE });
  world.add({ name: "save", effect: "mutateLocal" });
  await world.call("save");
  world.gate.forget(world.alice.task);
  await world.call("save");
  deepEqual(world.effects, ["save", "save"]);
});
