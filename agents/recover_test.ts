import assert from "node:assert/strict";
import { Digest, QuestionId } from "../contracts/authority/mod.ts";
import { toJsonObject } from "../contracts/base/mod.ts";
import { bench, settled } from "./_fixture/bench.ts";
import { memoryLog, requestOf } from "./_fixture/fakes.ts";

const WAITING = {
  stop: "waiting",
  question: QuestionId.parse("q000000000001"),
  text: "",
} as const;

Deno.test("an answer that comes while the turn is being put aside is not left lying", async () => {
  const made = bench();
  const task = await made.service.create(requestOf());
  await settled();
  // It was taken before the task's status said that it waits.
  made.asked = false;
  made.host.finish(WAITING);
  await settled();
  assert.equal(made.host.started.length, 2, "it goes on by itself");
  made.host.finish({ stop: "answered", text: "Done." });
  await settled();
  assert.equal(made.service.get(task.id).status, "done");
});

Deno.test("a task that waits for a person still waits after a restart, and goes on once nothing is asked", async () => {
  const log = memoryLog();
  const first = bench(log);
  const task = await first.service.create(requestOf());
  await settled();
  first.host.finish(WAITING);
  await settled();
  assert.equal(first.service.get(task.id).status, "needsApproval");
  assert.deepEqual(await bench(log).service.recover(), []);
  const answered = bench(log);
  answered.asked = false;
  assert.deepEqual(await answered.service.recover(), [task.id]);
});

Deno.test("an idle session is not taken up, and one in the middle of a turn is", async () => {
  const log = memoryLog();
  const first = bench(log);
  const task = await first.service.create(requestOf({ interactive: true }));
  await settled();
  first.host.finish({ stop: "answered", text: "Hello." });
  await settled();
  assert.deepEqual(await bench(log).service.recover(), []);
  await first.service.say(task.id, "go on");
  assert.deepEqual(await bench(log).service.recover(), [task.id]);
});

Deno.test("a session whose turn failed is not taken up by the next kernel, and the next words go on with it", async () => {
  const log = memoryLog();
  const first = bench(log);
  const task = await first.service.create(requestOf({ interactive: true }));
  await settled();
  first.host.finish({ stop: "upstream", text: "nothing listens" });
  await settled();
  const { service, host } = bench(log);
  assert.deepEqual(await service.recover(), []);
  assert.equal(service.get(task.id).status, "open");
  assert.equal(service.get(task.id).reason, "nothing listens");
  await service.say(task.id, "again");
  await settled();
  host.finish({ stop: "answered", text: "Here." });
  await settled();
  assert.equal(service.get(task.id).answer, "Here.");
});

Deno.test("a task's state after a crash is what its log says, not what was last written beside it", async () => {
  const log = memoryLog();
  const first = bench(log);
  const task = await first.service.create(requestOf());
  const patch = Digest.parse("a".repeat(64));
  // The kernel dies before the next change of status writes the projection.
  await log.append(task.id, [
    {
      kind: "outcome",
      body: { colour: "RED", label: "secret" },
      private: { record: { applied: { patch } } },
    },
    { kind: "budget", body: { limits: toJsonObject({ toolCalls: 7 }) } },
  ]);
  const second = bench(log);
  await second.service.recover();
  const { applied, colour, label, limits } = second.service.get(task.id);
  assert.deepEqual([applied, colour, label, limits.toolCalls], [[patch], "RED", "secret", 7]);
});

Deno.test("a task whose record is lost is made anew from its log", async () => {
  const log = memoryLog();
  const task = await bench(log).service.create(requestOf());
  log.documents.clear();
  const second = bench(log);
  assert.deepEqual(await second.service.recover(), [task.id]);
  assert.equal(second.service.get(task.id).request, "tidy my notes");
});

Deno.test("on a full disk a task is not taken up, says why, and stays to be resumed", async () => {
  const log = memoryLog();
  const task = await bench(log).service.create(requestOf());
  const second = bench(log);
  log.full = true;
  await second.service.recover();
  assert.match(second.service.get(task.id).reason ?? "", /disk is full/);
  assert.equal(second.service.get(task.id).status, "open");
  log.full = false;
  await second.service.resume(task.id);
  await settled();
  assert.equal(second.host.started.length, 1);
});

Deno.test("whoever comes to a task that was taken up without anybody is asked, also when it has asked already", async () => {
  const log = memoryLog();
  const task = await bench(log).service.create(requestOf());
  const second = bench(log);
  second.asked = false;
  await second.service.recover();
  await settled();
  assert.equal(second.host.attended, false);
  await second.service.resume(task.id);
  assert.equal(second.host.attended, true, "it had asked nothing yet");

  const third = bench(log);
  await third.service.recover();
  await settled();
  // It has asked, and its turn is about to be put aside for that: were it attended now, it might as well wait for
  // an answer from whoever waits for it here.
  const joined = third.service.resume(task.id);
  await settled();
  assert.equal(third.host.attended, false);
  third.host.finish(WAITING);
  await joined;
  await settled();
  assert.equal(third.host.started.length, 2, "it is taken up again, with somebody there");
  assert.equal(third.service.get(task.id).status, "open");
  assert.equal(third.host.attended, true);
});

Deno.test("a task whose question nobody answered in time waits for resume, and says so, also after a restart", async () => {
  const log = memoryLog();
  const first = bench(log);
  const task = await first.service.create(requestOf());
  await settled();
  first.host.finish(WAITING);
  await settled();
  const expired = (question: string) => ({
    kind: "questionAnswered" as const,
    body: { question, state: "expired", kind: "consent" },
  });
  await log.append(task.id, [expired("q000000000009"), expired(WAITING.question)]);
  const next = bench(log);
  next.asked = false;
  next.unanswered = true;
  assert.deepEqual(await next.service.recover(), [], "nobody is asked again unasked");
  const waits = next.service.get(task.id);
  assert.equal(waits.status, "needsApproval");
  assert.equal(
    waits.reason,
    `question ${WAITING.question} has expired, nobody answered it: "remit resume ${task.id}" asks it again`,
  );
  assert.equal(waits.exit, 75);
  await next.service.resume(task.id);
  await settled();
  assert.equal(next.host.started.length, 1);
  const { reason, exit } = next.service.get(task.id);
  assert.deepEqual([reason, exit], [undefined, undefined], "nothing of the wait is left");
});

Deno.test("what expires of a task that waits for another answer changes nothing of it", async () => {
  const log = memoryLog();
  const made = bench(log);
  const task = await made.service.create(requestOf());
  await settled();
  made.host.finish(WAITING);
  await settled();
  const { reason } = made.service.get(task.id);
  made.keeper.saw(task.id, {
    kind: "questionAnswered",
    body: { question: "q000000000009", state: "expired", kind: "elicit" },
    at: 5,
  });
  made.keeper.saw(task.id, {
    kind: "questionAnswered",
    body: { question: WAITING.question, state: "denied", kind: "consent" },
    at: 6,
  });
  assert.equal(made.service.get(task.id).reason, reason);
});
