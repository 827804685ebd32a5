import { deepEqual, equal, notEqual, ok, rejects } from "node:assert/strict";
import type { Answer, Question } from "../contracts/authority/mod.ts";
import { Fault } from "../contracts/base/mod.ts";
import { CAROL, CAROL_STEP_UP, makeKeys } from "./_fixture/carol.ts";
import { makeWorld, type World } from "./_fixture/world.ts";

async function asked(effect: "mutateLocal" | "destructive" = "mutateLocal"): Promise<{
  readonly world: World;
  readonly question: Question;
}> {
  const world = await makeWorld({ row: { onQuestion: "queue" } });
  world.add({ name: "act", effect });
  await rejects(world.call("act"));
  return { world, question: await world.openQuestion() };
}

async function settled(): Promise<void> {
  for (let i = 0; i < 50; i++) await Promise.resolve();
}

const refused = (error: unknown): boolean => error instanceof Fault && error.code === "refused";

Deno.test("mallory smuggles an answer: none that carol did not sign for what she saw is taken", async () => {
  const { world, question } = await asked();
  const mallory = makeKeys();
  const good = world.signed(question);
  const forged: readonly Answer[] = [
    world.signed(question, {}, mallory),
    { ...world.signed(question, {}, mallory), key: CAROL.raw },
    { ...world.signed(question, { decision: "deny" }), decision: "allow" },
    { ...good, for: "session" },
    { ...good, by: "the operator" },
    { ...good, say: "yes" },
    { ...good, signature: "" },
    { ...good, signature: "not base64 at all!" },
    { ...good, signature: good.signature.slice(2) },
    world.signed(question, { shown: question.scope.arguments }),
    world.signed({ ...question, summary: "Read a file." }),
    world.signed({ ...question, argumentsText: "{}​" }),
    world.signed({ ...question, executes: ["desk/x.sh"] }),
  ];
  for (const answer of forged) await rejects(world.questions.answer(answer), refused);
  await rejects(
    world.questions.answer({ ...good, question: "q00000000zzzz" as never }),
    (error) => error instanceof Fault && error.code === "notFound",
  );
  equal(world.questions.get(question.id)?.state, "open");
  deepEqual(world.effects, []);
  equal((await world.questions.answer(good)).state, "allowed");
});

Deno.test("one question takes one answer, also when two arrive at once", async () => {
  const { world, question } = await asked();
  const answers = [world.signed(question), world.signed(question, { decision: "deny" })];
  const taken = await Promise.allSettled(answers.map((answer) => world.questions.answer(answer)));
  deepEqual(taken.map(({ status }) => status), ["fulfilled", "rejected"]);
  await rejects(world.questions.answer(world.signed(question)), refused);
});

Deno.test("a full disk leaves the question open, and the same answer is taken later", async () => {
  const { world, question } = await asked();
  world.log.full = true;
  await rejects(world.questions.answer(world.signed(question)), /full/);
  world.log.full = false;
  equal((await world.questions.answer(world.signed(question))).state, "allowed");
});

Deno.test("stepUp is answered with the passphrase key alone, at a terminal, once", async () => {
  const { world, question } = await asked("destructive");
  equal(question.kind, "stepUp");
  const give = (change: Partial<Answer>, key = CAROL_STEP_UP): Promise<Question> =>
    world.questions.answer(world.signed(question, change, key));
  await rejects(give({}, CAROL), (e) => e instanceof Fault && e.code === "stepUpFailed");
  await rejects(give({ channel: "answersFile" }), refused);
  await rejects(give({ channel: "page" }), refused);
  await rejects(give({ for: "turn" }), refused);
  equal((await give({})).state, "allowed");
});

Deno.test("whoever may consent may also say no to a stepUp", async () => {
  const { world, question } = await asked("destructive");
  equal(
    (await world.questions.answer(world.signed(question, { decision: "deny" }))).state,
    "denied",
  );
});

Deno.test("a question that expired is neither open nor answered", async () => {
  const { world, question } = await asked();
  world.powers.turn(25 * 3_600_000);
  deepEqual(world.questions.open(), []);
  await rejects(world.questions.answer(world.signed(question)), /the question is expired/);
  equal(world.questions.get(question.id)?.state, "expired");
});

Deno.test("who answers in the morning what was asked before the machine slept ends the wait for it", async () => {
  const { world, question } = await asked();
  const waiting = world.questions.ask(question, {
    wait: true,
    signal: new AbortController().signal,
  });
  world.powers.leap(25 * 3_600_000);
  await rejects(world.questions.answer(world.signed(question)), /the question is expired/);
  deepEqual(await waiting, { kind: "expired" });
});

Deno.test("an open question outlives the kernel; an answer to it counts in the next one", async () => {
  const { world, question } = await asked();
  const next = await makeWorld({ from: world, row: { onQuestion: "queue" } });
  next.add({ name: "act", effect: "mutateLocal" });
  deepEqual(next.questions.open().map(({ id }) => id), [question.id]);
  await next.answer();
  equal((await next.call("act")).outcome, "ok");
});

Deno.test("an answer that was given before the kernel ended lets nothing happen after it", async () => {
  const { world } = await asked();
  await world.answer();
  const next = await makeWorld({ from: world, row: { onQuestion: "queue" } });
  next.add({ name: "act", effect: "mutateLocal" });
  await rejects(next.call("act"), (e) => e instanceof Fault && e.code === "needsApproval");
  deepEqual(next.effects, []);
});

Deno.test("a task that ended leaves no open question", async () => {
  const { world } = await asked();
  await world.questions.lapse({ task: world.alice.task });
  deepEqual(world.questions.open(), []);
  equal(world.log.events.at(-1)?.body["state"], "lapsed");
});

Deno.test("the log holds what was asked as content, not in the open", async () => {
  const { world } = await asked();
  const event = world.log.events.find(({ kind }) => kind === "questionAsked");
  equal(JSON.stringify(event?.body).includes("argumentsText"), false);
  equal(event?.private?.["question"] === undefined, false);
});

Deno.test("nobody looks at a queued question: when its time is over that is on record, and the next kernel knows", async () => {
  const { world, question } = await asked();
  world.powers.turn(25 * 3_600_000);
  await settled();
  const closed = world.log.events.filter(({ kind }) => kind === "questionAnswered");
  deepEqual(closed.map(({ body }) => [body["question"], body["state"]]), [[
    question.id,
    "expired",
  ]]);
  const next = await makeWorld({ from: world, row: { onQuestion: "queue" } });
  equal(next.questions.get(question.id)?.state, "expired");
  next.add({ name: "act", effect: "mutateLocal" });
  await rejects(next.call("act"), (e) => e instanceof Fault && e.code === "needsApproval");
  const [again, ...more] = next.questions.open();
  equal(more.length, 0);
  notEqual(again?.id, question.id, "it is asked anew");
});

Deno.test("a question that expired while no kernel ran is recorded as that by the next one", async () => {
  const { world, question } = await asked();
  world.powers.leap(25 * 3_600_000);
  const next = await makeWorld({ from: world });
  equal(next.questions.get(question.id)?.state, "expired");
  next.powers.turn(1);
  await settled();
  equal(next.log.events.at(-1)?.body["state"], "expired");
});

Deno.test("a full disk keeps no expired question open", async () => {
  const { world, question } = await asked();
  world.log.full = true;
  world.powers.turn(25 * 3_600_000);
  await settled();
  deepEqual(world.questions.open(), []);
  equal(world.questions.get(question.id)?.state, "expired");
});

Deno.test("what an earlier kernel's question came to can be looked up", async () => {
  const { world, question } = await asked();
  await world.answer({ decision: "deny" });
  const next = await makeWorld({ from: world });
  equal(next.questions.get(question.id), undefined, "nobody can answer it");
  equal((await next.questions.find(question.id))?.state, "denied");
  equal(await next.questions.find("q00000000zzzz" as never), undefined);
});

Deno.test("what was asked and answered of a task is erased with it, by the kernel that asked and by a later one", async () => {
  const { world, question } = await asked();
  await world.answer({ say: "as carol wrote to alice" });
  const kept = (): string => JSON.stringify([...world.log.documents.values()]);
  ok(kept().includes("as carol wrote to alice") && kept().includes(question.scope.arguments));
  const next = await makeWorld({ from: world });
  for (const each of [world, next]) {
    await each.questions.erase(question.task);
    equal(await each.questions.find(question.id), undefined);
    equal(each.questions.get(question.id), undefined);
  }
  ok(!kept().includes("as carol wrote") && !kept().includes(question.scope.arguments), kept());
  deepEqual((await makeWorld({ from: world })).questions.open(), []);
});

Deno.test("whoever waits for a question of a task that is erased does not wait for ever", async () => {
  const { world, question } = await asked();
  const { signal } = new AbortController();
  const waiting = world.questions.ask(question, { wait: true, signal });
  await world.questions.erase(question.task);
  deepEqual(await waiting, { kind: "lapsed" });
});

Deno.test("who asks again what expired or was answered in the same moment is not left waiting", async () => {
  const { signal } = new AbortController();
  const late = await asked();
  late.world.powers.leap(25 * 3_600_000);
  const ask = ({ world, question }: typeof late): Promise<unknown> =>
    world.questions.ask(question, { wait: true, signal });
  deepEqual(await ask(late), { kind: "expired" });
  const closed = await asked();
  await closed.world.answer();
  deepEqual(await ask(closed), { kind: "lapsed" });
});
