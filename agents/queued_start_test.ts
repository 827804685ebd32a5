/** A task that waits for its place: what is said of it meanwhile holds when it begins. */
import assert from "node:assert/strict";
import { bench, settled } from "./_fixture/bench.ts";
import { memoryLog, requestOf } from "./_fixture/fakes.ts";

Deno.test("a task that carol cancelled while it waited for its place would have begun all the same", async () => {
  const { service, host } = bench(memoryLog(), 1);
  await service.create(requestOf());
  const waits = await service.create(requestOf());
  await settled();
  assert.equal((await service.cancel(waits.id, "not now")).status, "cancelled");
  host.finish({ stop: "answered", text: "first" });
  await settled();
  assert.deepEqual([host.started.length, host.messages.length], [1, 1]);
  assert.equal(service.get(waits.id).reason, "not now");
  const third = await service.create(requestOf());
  await settled();
  assert.equal(host.started.at(-1)?.task.id, third.id, "its place is free");
});

Deno.test("a task that is cancelled while its processes start gets no turn, and they end", async () => {
  const made = bench();
  const start = made.host.start.bind(made.host);
  const begun = Promise.withResolvers<void>();
  made.host.start = async (...asked) => {
    await begun.promise;
    return await start(...asked);
  };
  const task = await made.service.create(requestOf());
  await settled();
  await made.service.cancel(task.id, "not now");
  begun.resolve();
  await settled();
  assert.deepEqual([made.host.messages, made.host.ended], [[], [1]]);
  assert.equal(made.service.idle(), true);
});
