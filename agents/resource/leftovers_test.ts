/** What tasks and kernels that are over leave in a registry. */
import assert from "node:assert/strict";
import type { TaskId } from "../../contracts/authority/mod.ts";
import { ALICE, BOB, DONE } from "../_fixture/inbox_world.ts";
import { CHORES, part, resourceWorld, SITE, worker } from "../_fixture/resource_world.ts";
import { openResources } from "./registry.ts";

Deno.test("what is done of a list goes with the tasks whose it was, so that lists of tasks that are over fill no registry", async () => {
  const world = await resourceWorld(0);
  const { resources, tasks } = world;
  const add = async (text: string) => await resources.addItem(CHORES, text, worker(ALICE));
  const does = async (
    { number, generation }: { number: number; generation: number },
    who: TaskId,
  ) => {
    const seen = { resource: CHORES, number };
    await resources.claimItem({ ...seen, generation }, worker(who));
    await resources.finishItem({ ...seen, generation: generation + 1 }, worker(who));
  };
  const texts = async () => (await resources.get(CHORES))?.items.map(({ text }) => text);
  const end = async (task: TaskId) => {
    tasks.set(task, tasks.get(DONE) ?? assert.fail());
    await resources.ownerEnded(task);
  };
  await does(await add("one"), ALICE);
  await does(await add("bob's"), BOB);
  const open = await add("open");
  await end(ALICE);
  // Whoever did it may still ask for it, and what is open is anybody's.
  assert.deepEqual(await texts(), ["bob's", "open"]);
  await does(open, BOB);
  await end(BOB);
  assert.equal(await resources.get(CHORES), undefined);
  await world.restart();
  assert.deepEqual(await world.resources.list(), []);
});

Deno.test("a kernel that died before it dropped what was done does it when it starts", async () => {
  const world = await resourceWorld(0);
  const { resources, tasks } = world;
  const { number } = await resources.addItem(CHORES, "one", worker(ALICE));
  await resources.claimItem({ resource: CHORES, number, generation: 1 }, worker(ALICE));
  await resources.finishItem({ resource: CHORES, number, generation: 2 }, worker(ALICE));
  tasks.set(ALICE, tasks.get(DONE) ?? assert.fail());
  await world.restart();
  assert.deepEqual(await world.resources.list(), []);
});

Deno.test("a number of a list never comes again while others stay", async () => {
  const world = await resourceWorld(0);
  const { resources, tasks } = world;
  await resources.addItem(CHORES, "bob's", worker(BOB));
  await resources.addItem(CHORES, "alice's", worker(ALICE));
  await resources.claimItem({ resource: CHORES, number: 2, generation: 1 }, worker(ALICE));
  await resources.finishItem({ resource: CHORES, number: 2, generation: 2 }, worker(ALICE));
  tasks.set(ALICE, tasks.get(DONE) ?? assert.fail());
  await resources.ownerEnded(ALICE);
  assert.equal((await resources.addItem(CHORES, "next", worker(BOB))).number, 3);
});

Deno.test("what another kernel left of a resource is read, and never taken for nothing", async () => {
  const world = await resourceWorld(0);
  const wanted = { resource: SITE, scope: part("a"), mode: "exclusive" } as const;
  assert.equal((await world.resources.claim(wanted, worker(ALICE))).kind, "held");
  const { store } = world.log;
  // As a registry that was opened before the document was there.
  const resources = await openResources({
    ...{ log: world.log, powers: world.powers, note: () => undefined },
    store: { document: store.document, documents: () => Promise.resolve([]) },
    ...{ hasLog: () => true, isOver: () => false },
  });
  assert.equal((await resources.claim(wanted, worker(BOB))).kind, "conflict");
});

Deno.test("a list of a task that is over can be looked at while few stand", async () => {
  const world = await resourceWorld();
  const { resources, tasks } = world;
  const { number } = await resources.addItem(CHORES, "one", worker(ALICE));
  await resources.claimItem({ resource: CHORES, number, generation: 1 }, worker(ALICE));
  await resources.finishItem({ resource: CHORES, number, generation: 2 }, worker(ALICE));
  tasks.set(ALICE, tasks.get(DONE) ?? assert.fail());
  await resources.ownerEnded(ALICE);
  assert.deepEqual((await resources.get(CHORES))?.items.map(({ state }) => state), ["done"]);
});
