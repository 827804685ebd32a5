/** What comes in the moment in which a turn's end, its task's and its exchange's are one commit. */
import assert from "node:assert/strict";
import { Fault } from "../../../contracts/base/mod.ts";
import { AgentMessage, Box } from "../../../contracts/exchange/mod.ts";
import {
  emptyDisk,
  now,
  sendOf,
  statusOf,
  type World,
  world,
} from "../../_fixture/exchange_world.ts";

/** A turn that ends with "Done.", while `work` is done in the moment of the commit that says so. */
async function inTheMoment(w: World, work: () => Promise<unknown>): Promise<unknown> {
  const { disk } = w;
  const real = disk.log.append;
  let came: Promise<unknown> | undefined;
  disk.log.append = async (task, events, documents) => {
    const placed = await real(task, events, documents);
    if (!events.some(({ body }) => body["state"] === "completed")) return placed;
    // Written, and nobody knows it yet.
    came ??= work().catch((error: unknown) => error);
    await Promise.race([came, w.exchanges.settled()]);
    return placed;
  };
  await w.say("Done.");
  disk.log.append = real;
  assert.ok(came, "the turn's end was one commit with its exchange's");
  const result = await came;
  await w.rest();
  return result;
}

const code = (error: unknown): unknown => error instanceof Fault ? error.code : error;

Deno.test("alice's message in the moment of the answer is refused, and the answer stands", async () => {
  const w = await world();
  const sent = await w.send("Tidy the plan.");
  const late = sendOf("One more thing.", { exchange: sent.id });
  assert.equal(code(await inTheMoment(w, () => w.exchanges.send(late))), "conflict");
  const done = await now(w, sent);
  assert.deepEqual([done.state, statusOf(done)], ["completed", "Done."]);
  assert.equal(w.service.get(w.task(sent)).status, "done");
  assert.deepEqual(w.inbox.list({ state: "queued" }), []);
});

Deno.test("carol's cancel and her interrupt in the moment of the answer come too late, and are told so", async () => {
  for (const how of ["exchange", "task", "interrupt"] as const) {
    const w = await world();
    const sent = await w.send("Tidy the plan.");
    const task = w.task(sent);
    const said = code(
      await inTheMoment(w, async () => {
        if (how === "exchange") await w.exchanges.cancel({ exchange: sent.id });
        else if (how === "task") await w.service.cancel(task, "enough");
        else await w.service.interrupt(task, "interrupted twice");
      }),
    );
    assert.equal(said, how === "interrupt" ? undefined : "conflict", how);
    assert.equal((await now(w, sent)).state, "completed", how);
    assert.equal(w.service.get(task).status, "done", how);
  }
});

Deno.test("carol's own words to the task in the moment of the answer are put aside for her, not lost", async () => {
  const w = await world();
  const sent = await w.send("Tidy the plan.");
  const task = w.task(sent);
  const message = AgentMessage.parse({
    ...{ id: "n1", sender: "host", recipientTask: task, kind: "status", body: "Wait!" },
    ...{ artifactRefs: [], requestedActions: [], requestedAuthority: [] },
  });
  await inTheMoment(
    w,
    () => w.inbox.put(message, { box: Box.parse(`task:${task}`), colour: "BLUE", label: "public" }),
  );
  assert.equal(w.service.get(task).status, "done");
  assert.deepEqual(w.inbox.list({ state: "quarantined" }).map(({ why }) => why), [
    "its task is over",
  ]);
});

Deno.test("a kernel that is stopped in the moment of the answer has it at its next start, once", async () => {
  const disk = emptyDisk();
  const w = await world(disk);
  const sent = await w.send("Tidy the plan.");
  await inTheMoment(w, () => w.service.close());
  const next = await world(disk);
  const done = await now(next, sent);
  assert.deepEqual([done.state, statusOf(done)], ["completed", "Done."]);
  assert.equal(done.history.length, 1);
});

Deno.test("a question that could not be taken back when the next turn began is not asked at its end", async () => {
  const disk = emptyDisk();
  const w = await world(disk);
  const sent = await w.send("Book a table.");
  await w.exchanges.ofTask(w.task(sent))?.ask("For how many?");
  await w.send("For four, by the way.", { exchange: sent.id });
  const real = disk.log.append;
  let slow = 0;
  disk.log.append = (task, events, documents) => {
    if (task !== "exchanges" || events.length > 0 || slow > 0) return real(task, events, documents);
    slow += 1;
    return Promise.reject(new Error("the disk is slow today"));
  };
  await w.say("I asked.");
  assert.equal(slow, 1);
  await w.say("Booked for four.");
  const done = await now(w, sent);
  assert.deepEqual([done.state, statusOf(done)], ["completed", "Booked for four."]);
});
