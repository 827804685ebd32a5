import assert from "node:assert/strict";
import type { TaskId } from "../contracts/authority/mod.ts";
import { Fault } from "../contracts/base/mod.ts";
import { type Bench, bench, settled } from "./_fixture/bench.ts";
import { endingOfFault } from "./task/ending.ts";
import { memoryLog, requestOf } from "./_fixture/fakes.ts";

function statuses(log: Bench["log"], task: TaskId): unknown[] {
  return log.events.filter((each) => each.task === task && each.event.kind === "taskStatus")
    .map((each) => each.event.body["status"]);
}

Deno.test("a task that is answered is done with exit 0 and leaves no process", async () => {
  const { service, host, log } = bench();
  const task = await service.create(requestOf());
  await settled();
  host.finish({ stop: "answered", text: "Tidied." });
  await settled();
  assert.equal(service.get(task.id).status, "done");
  assert.equal(service.get(task.id).exit, 0);
  assert.equal(service.get(task.id).answer, "Tidied.");
  assert.deepEqual(host.ended, [0]);
  assert.deepEqual(statuses(log, task.id), ["done"]);
  assert.ok(service.idle());
});

Deno.test("a task whose question is queued waits with exit 75 and goes on when resumed", async () => {
  const { service, host } = bench();
  const task = await service.create(requestOf());
  await settled();
  host.finish({ stop: "waiting", question: "q000000000001" as never, text: "" });
  await settled();
  assert.equal(service.get(task.id).status, "needsApproval");
  assert.deepEqual(host.ended, [75]);
  await service.resume(task.id);
  await settled();
  assert.equal(host.started.at(-1)?.resume, true);
  host.finish({ stop: "answered", text: "Done after all." });
  await settled();
  assert.equal(service.get(task.id).status, "done");
});

Deno.test("a task that failed at its provider goes on when resumed, also by the next kernel; another does not", async () => {
  const log = memoryLog();
  const { service, host } = bench(log);
  const task = await service.create(requestOf());
  await settled();
  host.finish({ stop: "upstream", text: "the provider is overloaded" });
  await settled();
  assert.equal(service.get(task.id).status, "failed");
  await service.resume(task.id);
  await settled();
  assert.equal(host.started.at(-1)?.resume, true);
  assert.equal(service.get(task.id).status, "open");
  host.finish({ stop: "upstream", text: "still overloaded" });
  await settled();
  assert.deepEqual(statuses(log, task.id), ["failed", "open", "failed"]);

  const later = bench(log);
  await later.service.recover();
  await later.service.resume(task.id);
  await settled();
  later.host.finish({ stop: "answered", text: "At last." });
  await settled();
  assert.equal(later.service.get(task.id).status, "done");
  await assert.rejects(later.service.resume(task.id), /it is "done"/);

  const other = bench();
  const spent = await other.service.create(requestOf());
  await settled();
  other.host.finish({ stop: "budget", text: "" });
  await settled();
  await assert.rejects(other.service.resume(spent.id), /it is "failed"/);
});

Deno.test("a task that has ended leaves no timer behind", async () => {
  const { service, host, powers } = bench();
  await service.create(requestOf());
  await settled();
  assert.equal(powers.armed(), 1);
  host.finish({ stop: "answered", text: "Tidied." });
  await settled();
  assert.equal(powers.armed(), 0);
});

Deno.test("a task that waited and was resumed expires when it would have without", async () => {
  const { service, host, powers } = bench();
  const task = await service.create(requestOf({ limits: { wallClockMs: 1_000 } }));
  await settled();
  powers.turn(600);
  host.finish({ stop: "waiting", question: "q000000000001" as never, text: "" });
  await settled();
  await service.resume(task.id);
  await settled();
  powers.turn(399);
  await settled();
  assert.equal(service.get(task.id).status, "open");
  powers.turn(1);
  await settled();
  assert.equal(service.get(task.id).status, "expired");
});

Deno.test("a review that a person must answer keeps the task open for approval", async () => {
  const { service, host } = bench();
  host.review = { kind: "waiting", question: "q000000000001" as never };
  const task = await service.create(requestOf());
  await settled();
  host.finish({ stop: "answered", text: "Please look." });
  await settled();
  assert.equal(service.get(task.id).status, "needsApproval");
});

Deno.test("the second interrupt ends a task as cancelled with exit 130", async () => {
  const { service, host } = bench();
  const task = await service.create(requestOf());
  await settled();
  await service.interrupt(task.id);
  assert.equal(host.interrupted, 1);
  assert.equal(service.get(task.id).status, "open");
  await service.interrupt(task.id, "interrupted twice");
  await settled();
  assert.equal(service.get(task.id).status, "cancelled");
  assert.equal(service.get(task.id).exit, 130);
  assert.deepEqual(host.ended, [130]);
});

Deno.test("an interrupt before the turn has begun reaches the turn", async () => {
  const { service, host } = bench();
  const task = await service.create(requestOf());
  await service.interrupt(task.id);
  assert.equal(host.messages.length, 0);
  await settled();
  assert.equal(host.messages.length, 1);
  assert.equal(host.interrupted, 1);
});

Deno.test("a task past its wall clock expires and its processes end", async () => {
  const { service, powers } = bench();
  const task = await service.create(requestOf({ limits: { wallClockMs: 5_000 } }));
  await settled();
  powers.turn(5_001);
  await settled();
  assert.equal(service.get(task.id).status, "expired");
  assert.equal(service.get(task.id).exit, 66);
});

Deno.test("a person's session that rests does not expire, and each of its turns has the whole time", async () => {
  const { service, host, powers } = bench();
  const task = await service.create(
    requestOf({ interactive: true, limits: { wallClockMs: 5_000 } }),
  );
  await settled();
  powers.turn(4_000);
  host.finish({ stop: "answered", text: "Hello." });
  await settled();
  powers.turn(3_600_000);
  await settled();
  assert.equal(service.get(task.id).status, "open");
  await service.say(task.id, "and now?");
  await settled();
  powers.turn(4_999);
  await settled();
  assert.equal(service.get(task.id).status, "open");
  powers.turn(1);
  await settled();
  assert.equal(service.get(task.id).status, "expired", "a turn that takes too long still ends");
});

Deno.test("time that a person adds while a task works counts", async () => {
  const { service, keeper, powers } = bench();
  const task = await service.create(requestOf({ limits: { wallClockMs: 5_000 } }));
  await settled();
  powers.turn(4_000);
  await keeper.record(task.id, [{ kind: "budget", body: { limits: { wallClockMs: 9_000 } } }]);
  powers.turn(4_000);
  await settled();
  assert.equal(service.get(task.id).status, "open");
  powers.turn(1_000);
  await settled();
  assert.equal(service.get(task.id).status, "expired");
});

Deno.test("the time in which a task waits for a person is not its own", async () => {
  const { service, host, powers } = bench();
  const task = await service.create(requestOf({ limits: { wallClockMs: 5_000 } }));
  await settled();
  powers.turn(4_000);
  host.finish({ stop: "waiting", question: "q000000000001" as never, text: "" });
  await settled();
  powers.turn(900);
  await service.resume(task.id);
  await settled();
  powers.turn(999);
  await settled();
  assert.equal(service.get(task.id).status, "open");
  powers.turn(1);
  await settled();
  assert.equal(service.get(task.id).status, "expired");
});

Deno.test("a task whose changes are looked at is reviewing, and then what comes of it", async () => {
  const { service, host, log } = bench();
  host.review = { kind: "applied", patch: "a".repeat(64) as never };
  const task = await service.create(requestOf());
  await settled();
  host.finish({ stop: "answered", text: "Tidied." });
  await settled();
  assert.deepEqual(statuses(log, task.id), ["reviewing", "done"]);
  const talk = await service.create(requestOf({ interactive: true }));
  await settled();
  host.finish({ stop: "answered", text: "Tidied." });
  await settled();
  assert.deepEqual(statuses(log, talk.id), ["reviewing", "open"]);
  host.review = { kind: "nothing" };
  await service.say(talk.id, "and now?");
  await settled();
  host.finish({ stop: "answered", text: "Nothing." });
  await settled();
  assert.deepEqual(statuses(log, talk.id), ["reviewing", "open", "open"]);
});

Deno.test("a full disk creates no task and leaves nothing half done", async () => {
  const { service, host, log } = bench();
  log.full = true;
  await assert.rejects(service.create(requestOf()), { code: "storeFull" });
  assert.deepEqual(await service.list(), []);
  assert.deepEqual(host.started, []);
  log.full = false;
  await service.create(requestOf());
  assert.equal((await service.list()).length, 1);
});

Deno.test("a kernel takes up the tasks that an earlier one left open", async () => {
  const log = memoryLog();
  const first = bench(log);
  const task = await first.service.create(requestOf());
  await settled();
  const second = bench(log);
  assert.deepEqual(await second.service.recover(), [task.id]);
  await settled();
  assert.equal(second.host.started[0]?.resume, true);
  second.host.finish({ stop: "answered", text: "Finished by the second kernel." });
  await settled();
  assert.equal(second.service.get(task.id).status, "done");
});

Deno.test("more tasks than slots wait their turn and all of them end", async () => {
  const { service, host } = bench(memoryLog(), 1);
  const first = await service.create(requestOf());
  const second = await service.create(requestOf());
  await settled();
  assert.equal(host.started.length, 1);
  host.finish({ stop: "answered", text: "one" });
  await settled();
  assert.equal(host.started.length, 2);
  host.finish({ stop: "answered", text: "two" });
  await settled();
  assert.deepEqual([first, second].map((each) => service.get(each.id).status), ["done", "done"]);
});

Deno.test("an interactive task stays open after a turn and takes the next message", async () => {
  const { service, host } = bench();
  const task = await service.create(requestOf({ interactive: true }));
  await settled();
  host.finish({ stop: "answered", text: "Hello." });
  await settled();
  assert.equal(service.get(task.id).status, "open");
  await service.say(task.id, "and now?");
  await assert.rejects(service.say(task.id, "too soon"), { code: "conflict" });
  await settled();
  assert.equal(host.messages.at(-1)?.content, "and now?");
  host.finish({ stop: "answered", text: "Now this." });
  await settled();
  assert.equal(service.get(task.id).answer, "Now this.");
});

Deno.test("a purged task keeps its chain and loses its words", async () => {
  const { service, host, log } = bench();
  const task = await service.create(requestOf());
  await settled();
  await assert.rejects(service.purge(task.id), { code: "conflict" });
  host.finish({ stop: "answered", text: "secret words" });
  await settled();
  await service.purge(task.id);
  assert.ok(!JSON.stringify(log.documents.get(`task ${task.id}`)).includes("secret words"));
  assert.ok(!JSON.stringify(service.get(task.id)).includes("tidy"));
});

Deno.test("a person's turn whose model failed leaves the task open with its reason, and the next words go on in the same process", async () => {
  const { service, host, log } = bench();
  const { id } = await service.create(requestOf({ interactive: true }));
  await settled();
  host.finish({ stop: "upstream", text: "Cannot infer: nothing listens" });
  await settled();
  assert.equal(service.get(id).status, "open");
  assert.equal(service.get(id).reason, "Cannot infer: nothing listens");
  assert.equal(service.get(id).answer, undefined);
  assert.deepEqual(log.events.at(-1)?.event.body, { status: "open", failed: 67 });
  await service.say(id, "Again.");
  await settled();
  assert.equal(host.started.length, 1);
  host.finish({ stop: "answered", text: "Here." });
  await settled();
  assert.equal(service.get(id).answer, "Here.");
  assert.equal(service.get(id).reason, undefined);
  assert.equal(service.get(id).exit, undefined);
});

Deno.test("a worker that died in a person's turn is not asked again: the next words start another", async () => {
  const { service, host } = bench();
  const { id } = await service.create(requestOf({ interactive: true }));
  await settled();
  host.finish({ stop: "upstream", text: "the worker was killed", died: true });
  await settled();
  assert.equal(service.get(id).status, "open");
  assert.deepEqual(host.ended, [67]);
  await service.say(id, "Again.");
  await settled();
  assert.deepEqual(host.started.map(({ resume }) => resume), [false, true]);
});

Deno.test("a model that cannot be opened leaves a person's task open, and the next words try again", async () => {
  const { service, host } = bench();
  const { start } = host;
  host.start = () => Promise.reject(new Fault("unavailable", "Cannot open model: not there"));
  const { id } = await service.create(requestOf({ interactive: true }));
  await settled();
  assert.equal(service.get(id).status, "open");
  assert.match(String(service.get(id).reason), /not there/);
  host.start = start;
  await service.say(id, "Again.");
  await settled();
  host.finish({ stop: "answered", text: "Here." });
  await settled();
  assert.equal(service.get(id).answer, "Here.");
});

Deno.test("a failed turn ends a task that is run once, and one that a peer or a host talks to", async () => {
  const ingress = { principal: "mallory", colour: "RED", label: "public" } as const;
  for (
    const extra of [
      { interactive: false },
      { interactive: true, ingress: { ...ingress, channel: "a2a" as const } },
      { interactive: true, ingress: { ...ingress, channel: "mcp" as const } },
    ]
  ) {
    const { service, host } = bench();
    const { id } = await service.create(requestOf(extra));
    await settled();
    host.finish({ stop: "upstream", text: "gone" });
    await settled();
    assert.deepEqual([service.get(id).status, service.get(id).exit], ["failed", 67]);
    assert.deepEqual(host.ended, [67]);
  }
});

Deno.test("a limit that is used up and a log that cannot be written end a person's task, too", async () => {
  const { service, host } = bench();
  const { id } = await service.create(requestOf({ interactive: true }));
  await settled();
  host.finish({ stop: "upstream", text: "spent", limit: "money" });
  await settled();
  assert.equal(service.get(id).status, "failed");
  assert.deepEqual(
    ["storeFull", "rateLimited"].map((code) =>
      endingOfFault(new Fault(code as "storeFull", "no"), true).status
    ),
    ["failed", "open"],
  );
});
