import assert from "node:assert/strict";
import {
  emptyDisk,
  historyWords,
  now,
  sendOf,
  statusOf,
  type World,
  world,
} from "../../_fixture/exchange_world.ts";
import { ContextId } from "../../../contracts/exchange/mod.ts";

const CONTEXT = ContextId.parse("dinner");

/** Everything that comes to an exchange, each step as far as the state lets it. */
async function play(w: World, sent: ReturnType<typeof sendOf>, follow: ReturnType<typeof sendOf>) {
  const begun = await w.exchanges.send(sent);
  await w.rest();
  const step = async (state: string, work: () => Promise<unknown>): Promise<void> => {
    if ((await now(w, begun)).state === state) await work();
    await w.rest();
  };
  await step("submitted", async () => {
    const [held] = w.inbox.list({ state: "held" });
    if (held !== undefined) await w.exchanges.onRelease(held);
  });
  const working = async (text: string, ask?: string): Promise<void> => {
    await w.rest();
    const task = w.exchanges.taskOf(begun.id);
    if (task === undefined || w.host.messages.length === 0) return;
    if (ask !== undefined) await w.exchanges.ofTask(task)?.ask(ask);
    try {
      w.host.finish({ stop: "answered", text });
    } catch { /* no turn is under way */ }
    await w.rest();
  };
  const asked = (await now(w, begun)).history.length < 2;
  if (asked) await step("working", () => working("I asked.", "For how many?"));
  await step("inputRequired", () => w.exchanges.send({ ...follow, exchange: begun.id }));
  await step("working", () => working("Booked."));
  return begun;
}

/** More commits than there are when nothing goes wrong. */
const LONGEST = 13;

Deno.test("killed after any commit, an exchange comes to its end: nothing is lost, and nothing is done twice", async () => {
  let crashed = 0;
  for (let last = 1; last <= LONGEST; last++) {
    const disk = emptyDisk();
    disk.last = last;
    const first = await world(disk);
    const sent = sendOf("Book a table.", { context: CONTEXT, accept: "ask" });
    const follow = sendOf("For four.");
    void play(first, sent, follow);
    await settle();
    first.kill();
    if (!disk.events.some(({ event }) => event.body["state"] === "completed")) crashed += 1;
    disk.last = Infinity;

    const second = await world(disk);
    const exchange = await play(second, sent, follow);
    await second.rest();
    const done = await now(second, exchange);
    const at = `after commit ${last}`;
    assert.equal(done.state, "completed", at);
    assert.equal(statusOf(done), "Booked.", at);
    assert.deepEqual(historyWords(done), [
      ...["peer: Book a table.", "agent: For how many?", "peer: For four."],
    ], at);
    const tasks = await second.service.list();
    assert.deepEqual(tasks.map(({ status }) => status), ["done"], at);
    const shown = disk.events.filter(({ event }) =>
      event.kind === "message" && event.body["inbox"]
    );
    assert.equal(shown.length, 1, at);
    assert.equal((await second.exchanges.list({ size: 10 })).total, 1, at);
  }
  assert.ok(crashed > 6 && crashed < LONGEST, `${crashed} of ${LONGEST} were crashes`);
});

async function settle(): Promise<void> {
  for (let n = 0; n < 10_000; n++) await Promise.resolve();
}

Deno.test("a turn's end, its task's and its exchange's answer are one commit: none is over without the others", async () => {
  const disk = emptyDisk();
  const first = await world(disk);
  const sent = await first.send("Hello.");
  disk.last = disk.commits + 1;
  first.host.finish({ stop: "answered", text: "Hello, alice." });
  await settle();
  first.kill();
  const ends = disk.events.flatMap(({ event: { kind, body } }) =>
    body["status"] === "done" || body["state"] === "completed" ? [kind] : []
  );
  assert.deepEqual(ends, ["taskStatus", "exchange"]);
  disk.last = Infinity;
  const done = await now(await world(disk), sent);
  assert.deepEqual([done.state, statusOf(done)], ["completed", "Hello, alice."]);
});

Deno.test("a task that was cancelled while its exchange did not hear of it tells so at the next start", async () => {
  const disk = emptyDisk();
  const first = await world(disk);
  const sent = await first.send("Hello.");
  // The task's own end is the last that is written.
  disk.last = disk.commits + 1;
  await first.service.cancel(first.task(sent), "carol ended it");
  await settle();
  first.kill();
  assert.ok(!disk.events.some(({ event }) => event.body["state"] === "canceled"));
  disk.last = Infinity;
  const second = await world(disk);
  assert.equal((await now(second, sent)).state, "canceled");
});

Deno.test("a message that carol dismissed as the kernel died is rejected at the next start", async () => {
  const first = await world();
  const sent = await first.send("Hello.", { accept: "ask" });
  const [held] = first.inbox.list({ state: "held" });
  assert.ok(held);
  await first.inbox.dismiss(held.id, "No.");
  const second = await world(first.disk);
  assert.equal((await now(second, sent)).state, "rejected");
});

Deno.test("a task that a repair lost fails its exchange", async () => {
  const first = await world();
  const sent = await first.send("Hello.");
  const task = first.task(sent);
  first.disk.events.splice(0, Infinity);
  first.disk.log.rows.delete(`task ${task}`);
  const second = await world(first.disk);
  assert.equal((await now(second, sent)).state, "failed");
});
