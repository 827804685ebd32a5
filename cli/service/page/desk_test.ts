import assert from "node:assert/strict";
import { join } from "node:path";
import { makeAnswerCheck, makeDelegations } from "../../../broker/answer_check.ts";
import { Answer, type Question, QuestionId, TaskId } from "../../../contracts/authority/mod.ts";
import type { Delegation } from "../../../contracts/base/delegation.ts";
import { Fault, toJson } from "../../../contracts/base/mod.ts";
import type { PageAnswer, PageView } from "../../../contracts/wire/mod.ts";
import { question as asked } from "../../_fixture/samples.ts";
import { fakeKernel, type FakeOps, fakePowers } from "../../_fixture/world.ts";
import { change, QUESTION, TASK, taskJson } from "../../_fixture/samples.ts";
import { openKeyRing } from "../../../config/key/ring.ts";
import { placesOf, preparePlaces } from "../../../launch/disk/places.ts";
import { openPageDesk, type PageDesk } from "./desk.ts";

const HOUR = 3_600_000;
const NOW = 1_700_000_000_000;
const ID = QuestionId.parse(QUESTION);
const SPEC = { name: "serve", args: [], flags: [], summary: "", group: "" } as never;

const consent = (more: object = {}): Question =>
  asked({ expiresAt: NOW + 90 * 24 * HOUR, ...more });

/** A desk over a kernel whose questions a test makes, and whose delegations and answers are the broker's own. */
async function opened(questions: Question[], ops: FakeOps = {}): Promise<{
  readonly desk: PageDesk;
  readonly answers: Answer[];
  readonly delegated: Delegation[];
  readonly root: string;
  turn(ms: number): void;
}> {
  const powers = fakePowers();
  const places = placesOf(powers.environment, undefined);
  preparePlaces(powers.disk, places, powers.environment.uid);
  const personKey = openKeyRing(powers.disk, places).provideConsent().key;
  let now = NOW, secrets = 0;
  const delegations = makeDelegations({ personKey, kernelKey: "k", now: () => now });
  const check = makeAnswerCheck({ personKey, delegations });
  const answers: Answer[] = [];
  const delegated: Delegation[] = [];
  const all: FakeOps = {
    // This kernel is all there is: a view is its own answer.
    view(body, kernel) {
      const { op, body: own } = Object(body);
      return all[op]?.(own, kernel) ?? null;
    },
    delegate(body) {
      const given = Object(body);
      delegated.push(given);
      delegations.delegate(given);
      return null;
    },
    undelegate: (body) => (delegations.undelegate(Object(body).key), null),
    tasks:
      () => [taskJson(), taskJson({ id: "t000000000002", createdAt: 9, objective: "<b>\u202e" })],
    task: (body) => taskJson({ id: Object(body).task }),
    questions: () => toJson(questions),
    question(body) {
      const found = questions.find(({ id }) => id === Object(body).question);
      if (found === undefined) throw new Fault("notFound", "Cannot show it");
      return toJson(found);
    },
    staged: () => ({
      patch: null,
      changes: [],
      applied: [],
      content: join(powers.root, "content"),
    }),
    log: () => [],
    inbox: () => [],
    answer(body) {
      const answer = Answer.parse(body);
      const found = questions.find(({ id }) => id === answer.question);
      if (found === undefined) throw new Fault("notFound", "Cannot answer it");
      check.check(found, answer);
      answers.push(answer);
      return toJson(found);
    },
    ...ops,
  };
  const { link } = await fakeKernel(all);
  const desk = await openPageDesk({
    command: { powers, places, json: false, parsed: { command: SPEC, args: [], flags: new Map() } },
    ...{ link, now: () => now, note: () => undefined },
    secret: () => `${++secrets}`.padStart(43, "s"),
  });
  return { desk, answers, delegated, root: powers.root, turn: (ms) => void (now += ms) };
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return "nothing";
  } catch (error) {
    if (error instanceof Fault) return error.code;
    throw error;
  }
}

const see = (desk: PageDesk, session: string): Promise<PageView> =>
  desk.view({ session, view: { kind: "question", question: ID } });
const linesOf = (view: PageView): string => view.sections.flatMap(({ lines }) => lines).join("\n");

Deno.test("carol logs in with a code, sees the question in the terminal's words, and allows it", async () => {
  const { desk, answers, delegated } = await opened([consent()]);
  const { session, expiresAt } = await desk.open(desk.code());
  assert.equal(expiresAt, NOW + 12 * HOUR);
  const view = await see(desk, session);
  assert.match(linesOf(view), /┏━ Remit asks for your consent/);
  assert.match(linesOf(view), /┃ tool {8}patch_apply {2}\(mutateLocal\)/);
  const shown = view.answer?.shown;
  assert.ok(shown !== undefined);
  await desk.answer({ session, question: ID, shown, decision: "allow", say: "go on" });
  const [answer] = answers;
  assert.deepEqual(
    [answer?.by, answer?.channel, answer?.for, answer?.decision, answer?.say],
    ["page", "page", "once", "allow", "go on"],
  );
  assert.equal(answer?.key, delegated[0]?.key);
});

Deno.test("a code is good once, for five minutes, and eight of them at a time", async () => {
  const { desk, turn } = await opened([]);
  const code = desk.code();
  await desk.open(code);
  assert.equal(await codeOf(desk.open(code)), "denied");
  assert.equal(await codeOf(desk.open("")), "denied");
  const late = desk.code();
  turn(5 * 60_000);
  assert.equal(await codeOf(desk.open(late)), "denied");
  const codes = Array.from({ length: 9 }, () => desk.code());
  assert.equal(await codeOf(desk.open(codes[0] ?? "")), "denied", "the oldest gave way");
  assert.equal(await codeOf(desk.open(codes[1] ?? "")), "nothing");
});

Deno.test("a session ends after an hour of silence, after half a day, and when carol leaves", async () => {
  const { desk, turn } = await opened([]);
  const look = (session: string): Promise<string> =>
    codeOf(desk.view({ session, view: { kind: "home" } }));
  const silent = (await desk.open(desk.code())).session;
  turn(HOUR - 1);
  assert.equal(await look(silent), "nothing");
  turn(HOUR);
  assert.equal(await look(silent), "denied");
  const busy = (await desk.open(desk.code())).session;
  for (let n = 0; n < 12; n++) {
    assert.equal(await look(busy), "nothing", `${n}`);
    turn(HOUR - 1);
  }
  turn(12);
  assert.equal(await look(busy), "denied");
  const left = (await desk.open(desk.code())).session;
  desk.leave(left);
  assert.equal(await look(left), "denied");
});

Deno.test("a hostile gateway without a session sees and answers nothing", async () => {
  const { desk, answers } = await opened([consent()]);
  const { session } = await desk.open(desk.code());
  const shown = (await see(desk, session)).answer?.shown;
  assert.ok(shown !== undefined);
  for (const other of ["", "s".repeat(43), `${session}x`]) {
    assert.equal(await codeOf(see(desk, other)), "denied");
    const said: PageAnswer = { session: other, question: ID, shown, decision: "allow" };
    assert.equal(await codeOf(desk.answer(said)), "denied");
  }
  assert.deepEqual(answers, []);
});

Deno.test("an answer is to exactly what was shown: a changed, closed or expired question is not answered", async () => {
  const questions = [consent()];
  const { desk, answers, turn } = await opened(questions);
  const { session } = await desk.open(desk.code());
  const shown = (await see(desk, session)).answer?.shown;
  assert.ok(shown !== undefined);
  const allow = (): Promise<string> =>
    codeOf(desk.answer({ session, question: ID, shown, decision: "allow" }));
  for (
    const changed of [
      consent({ argumentsText: '{"a":1}' }),
      consent({ summary: "Apply 2 changes to desk" }),
      consent({ state: "denied" }),
      consent({ expiresAt: NOW }),
      consent({ sources: [] }),
    ]
  ) {
    questions[0] = changed;
    assert.equal(await allow(), "conflict");
  }
  questions[0] = consent();
  turn(1);
  assert.equal(await allow(), "nothing");
  assert.equal(answers.length, 1);
});

Deno.test("what needs more than a consent is shown with the command to type, and refused here", async () => {
  for (const kind of ["stepUp", "recovery", "budget", "brake", "elicit"] as const) {
    const argumentsText = kind === "elicit"
      ? JSON.stringify({ server: "x", message: "?", fields: [] })
      : "{}";
    const { desk, answers } = await opened([consent({ kind, argumentsText })]);
    const { session } = await desk.open(desk.code());
    const view = await see(desk, session);
    assert.equal(view.answer, undefined, kind);
    assert.match(view.elsewhere ?? "", /At your terminal: remit answer q000000000001 allow/);
    const shown = "0".repeat(64) as never;
    for (const decision of ["allow", "deny"] as const) {
      assert.equal(
        await codeOf(desk.answer({ session, question: ID, shown, decision })),
        "refused",
      );
    }
    assert.deepEqual(answers, []);
  }
});

Deno.test("what is too long to be shown whole is not answered here", async () => {
  const text = JSON.stringify({ text: "line\n".repeat(6_000) });
  const { desk } = await opened([consent({ argumentsText: text })]);
  const { session } = await desk.open(desk.code());
  const view = await see(desk, session);
  assert.equal(view.answer, undefined);
  assert.match(view.elsewhere ?? "", /At your terminal/);
});

Deno.test("changes are read and hashed before they are shown; content that does not fit is refused", async () => {
  const questions = [consent()];
  const { desk, root } = await opened(questions, {});
  const folder = join(root, "content");
  Deno.mkdirSync(folder);
  const staged = change(folder, "desk/plan.md", { base: "one\n", next: "two\n" });
  questions[0] = consent({ changes: [staged] });
  const { session } = await desk.open(desk.code());
  const view = await see(desk, session);
  assert.match(linesOf(view), /┃ {3}│ -one\n┃ {3}│ \+two/);
  Deno.writeTextFileSync(join(folder, String(staged.next)), "three\n");
  assert.equal(await codeOf(see(desk, session)), "refused");
});

Deno.test("the key is delegated anew before its day is over, and taken back at the end", async () => {
  const { desk, answers, delegated, turn } = await opened([consent()]);
  const allow = async (): Promise<string> => {
    const { session } = await desk.open(desk.code());
    const shown = (await see(desk, session)).answer?.shown;
    assert.ok(shown !== undefined);
    return await codeOf(desk.answer({ session, question: ID, shown, decision: "allow" }));
  };
  assert.equal(await allow(), "nothing");
  assert.equal(delegated.length, 1);
  turn(30 * 24 * HOUR);
  assert.equal(await allow(), "nothing");
  assert.deepEqual([delegated.length, answers.length], [2, 2]);
  assert.equal(delegated[0]?.key, delegated[1]?.key);
  await desk.close();
  assert.equal(await allow(), "refused", "a kernel that has forgotten the key takes nothing of it");
});

Deno.test("home and task list what there is, every text made safe to show", async () => {
  const { desk } = await opened([consent({ summary: "a\u202eb\x1b[2J" })]);
  const { session } = await desk.open(desk.code());
  const home = await desk.view({ session, view: { kind: "home" } });
  const [waits, tasks] = home.sections;
  assert.deepEqual(waits?.rows.map(({ to }) => to), [QUESTION]);
  assert.deepEqual(tasks?.rows.map(({ to }) => to), ["t000000000002", TASK], "the newest first");
  const task = await desk.view({ session, view: { kind: "task", task: TaskId.parse(TASK) } });
  assert.match(linesOf(task), /objective {3}tidy/);
  assert.match(linesOf(task), /All done\./);
  // deno-lint-ignore no-control-regex -- it looks for them
  assert.doesNotMatch(JSON.stringify([home, task]), /[\u202e\x1b]|\\u001b/);
});

Deno.test("the page tells what has expired, and which tasks wait because the rules have changed", async () => {
  const [left, waits] = ["t000000000003", "t000000000004"];
  const late = consent({ task: waits, state: "expired", expiresAt: NOW });
  const reason = `it began under other rules: "remit resume ${left}" goes on with it`;
  const { desk } = await opened([late], {
    questions: () => [],
    tasks: () => [
      taskJson({ id: left, status: "open", reason, exit: undefined }),
      taskJson({ id: waits, status: "needsApproval", exit: 75, questions: [QUESTION] }),
    ],
  });
  const { session } = await desk.open(desk.code());
  const { sections } = await desk.view({ session, view: { kind: "home" } });
  const rows = (heading: string): string =>
    sections.filter((each) => each.heading === heading)
      .flatMap((each) => each.rows.map(({ cells, to }) => [to, ...cells].join(" "))).join("\n");
  assert.match(rows("waiting for you"), /^q000000000001 .* expired: Apply 1 change to desk$/);
  assert.match(
    rows("unfinished, under other rules"),
    /^t000000000003 .*"remit resume t000000000003"/,
  );
  const view = await see(desk, session);
  assert.equal(view.answer, undefined);
  assert.match(JSON.stringify(view), /it is expired; ."remit resume t000000000004." asks it again/);
});
