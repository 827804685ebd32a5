import assert from "node:assert/strict";
import { SessionId, type TaskId } from "../contracts/mod.ts";
import { type Bench, bench, settled } from "./_fixture/bench.ts";
import { memoryLog, requestOf } from "./_fixture/fakes.ts";

const here = {
  session: SessionId.parse("s000000000009"),
  ingress: { channel: "terminal", principal: "carol", colour: "BLUE", label: "internal" },
} as const;

async function idleTalk(made: Bench): Promise<TaskId> {
  const { id } = await made.service.create(requestOf({ interactive: true }));
  await settled();
  made.host.finish({ stop: "answered", text: "Tidied." });
  await settled();
  return id;
}
const kinds = ({ log }: Bench, task: TaskId): string =>
  log.events.filter((each) => each.task === task).map(({ event }) => event.kind).join(" ");

Deno.test("a fork with words runs at once, from its own log, in the colour of what it copied", async () => {
  const made = bench();
  const task = await idleTalk(made);
  const fork = await made.service.fork({ task, turn: 1, message: "and now?", ...here });
  await settled();
  assert.equal(fork.colour, "RED");
  assert.equal(fork.label, "secret");
  assert.equal(made.host.started.at(-1)?.resume, true);
  assert.equal(made.host.messages.at(-1)?.content, "and now?");
  const created = made.log.events.find((each) => each.task === fork.id)?.event;
  assert.deepEqual(created?.body["fork"], { task, turn: 1, idle: false });
  made.host.finish({ stop: "answered", text: "Now." });
  await settled();
  assert.equal(made.service.get(fork.id).status, "open");
});

Deno.test("a fork without words waits for them, and a later kernel does not take it for unfinished", async () => {
  const log = memoryLog();
  const made = bench(log);
  const task = await idleTalk(made);
  const fork = await made.service.fork({ task, ...here });
  await settled();
  assert.equal(made.host.started.length, 1, "nothing runs for it");
  assert.equal(fork.answer, "Tidied.");
  assert.equal(kinds(made, fork.id), "taskCreated taskStatus");
  const later = bench(log);
  assert.deepEqual(await later.service.recover(), []);
  // To resume it would be to wait for a turn that nobody asked for.
  await assert.rejects(later.service.resume(fork.id), /waits for your next words/);
  await later.service.say(fork.id, "go on");
  await settled();
  assert.equal(later.host.started.at(-1)?.resume, true);
  assert.equal(later.host.messages.at(-1)?.content, "go on");
});

Deno.test("while a turn is under way only the turns before it are over", async () => {
  const made = bench();
  const { id } = await made.service.create(requestOf({ interactive: true }));
  await settled();
  const fork = await made.service.fork({ task: id, ...here });
  const created = made.log.events.find((each) => each.task === fork.id)?.event;
  assert.deepEqual(created?.body["fork"], { task: id, turn: 1, idle: true });
});

Deno.test("what gave way is put back between turns alone, and the process starts anew from the log", async () => {
  const made = bench();
  const { id } = await made.service.create(requestOf({ interactive: true }));
  await settled();
  await assert.rejects(made.service.restore(id, 1), /a turn is under way/);
  made.host.finish({ stop: "answered", text: "Tidied." });
  await settled();
  await assert.rejects(made.service.restore(id, 2), /Cannot find change 2/);
  assert.deepEqual(made.host.ended, []);
  await made.service.restore(id, 1);
  assert.deepEqual(made.host.ended, [0], "its process has the conversation as it was");
  assert.match(kinds(made, id), /contextRestored$/);
  await made.service.say(id, "and now?");
  await settled();
  assert.equal(made.host.started.at(-1)?.resume, true);
});

Deno.test("a conversation whose content is erased is neither forked nor restored", async () => {
  const made = bench();
  const task = await idleTalk(made);
  await made.service.cancel(task, "enough");
  await made.service.purge(task);
  await assert.rejects(made.service.fork({ task, ...here }), /is erased/);
  await assert.rejects(made.service.restore(task, 1), /is erased/);
});
