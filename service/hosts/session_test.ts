import assert from "node:assert/strict";
import { CallId, Question, TaskId, ToolName } from "../../contracts/authority/mod.ts";
import { Fault } from "../../contracts/base/mod.ts";
import { ToolDescriptor } from "../../contracts/tool/mod.ts";
import type { ServeCall, ServeResult } from "../../contracts/wire/mod.ts";
import type { Called, CallWords, Lane, LaneEnd } from "./lane.ts";
import { tellingOf } from "./result.ts";
import { type HostSession, openHostSession } from "./session.ts";

const READ = ToolDescriptor.parse({
  name: "file_read",
  description: "Reads.",
  interfaceId: "x",
  methodName: "y",
  paramSchema: "{}",
  permission: "auto",
  category: "read",
});
const WRITE: ToolDescriptor = {
  ...READ,
  name: ToolName.parse("file_write"),
  category: "stage",
};

const calledOf = (id: string, content = "done"): Called => ({
  ...{ callId: CallId.parse(id), outcome: "ok", content },
  ...{ colour: "RED", label: "public" },
});

const questionOf = (id: string, kind: "consent" | "stepUp" = "consent"): Question =>
  Question.parse({
    ...{ id, kind, task: "t000000000001", pid: 2, turn: 1, argumentsText: "{}", summary: "write" },
    scope: {
      ...{ tool: "file_write", descriptor: "0".repeat(64), arguments: "0".repeat(64) },
      ...{ effect: "mutateLocal", colour: "RED", label: "public", session: "s000000000001" },
    },
    ...{ changes: [], executes: [], sources: [], rule: "built-in", asked: 1 },
    ...{ createdAt: 1, expiresAt: 2, state: "open" },
  });

/** A task that a test plays. */
interface FakeLane extends Lane {
  readonly calls: CallWords[];
  end(end: LaneEnd): void;
  interrupts: number;
  dropped: boolean;
  closed: boolean;
}

function fakeLane(n: number): FakeLane {
  let turn = Promise.withResolvers<LaneEnd>();
  const wait = (): Promise<LaneEnd> => {
    turn = Promise.withResolvers();
    return turn.promise;
  };
  const lane: FakeLane = {
    task: TaskId.parse(`t00000000000${n}`),
    calls: [],
    interrupts: 0,
    dropped: false,
    closed: false,
    call(words): Promise<LaneEnd> {
      lane.calls.push(words);
      return wait();
    },
    next: wait,
    end: (end) => turn.resolve(end),
    interrupt(): Promise<void> {
      lane.interrupts += 1;
      return Promise.resolve();
    },
    over: () => undefined,
    close({ drop } = { drop: false }): Promise<void> {
      lane.dropped = drop;
      lane.closed = true;
      return Promise.resolve();
    },
  };
  return lane;
}

async function open(
  more: { readonly selfConsent?: boolean; readonly staged?: boolean } = {},
): Promise<{
  readonly session: HostSession;
  readonly lanes: FakeLane[];
  readonly answers: (readonly [string, boolean])[];
  readonly late: () => void;
}> {
  const lanes: FakeLane[] = [];
  const answers: (readonly [string, boolean])[] = [];
  const pauses = new Set<() => void>();
  const session = await openHostSession({
    openLane(): Promise<Lane> {
      const lane = fakeLane(lanes.length + 1);
      lanes.push(lane);
      return Promise.resolve(lane);
    },
    toolsOf: () => Promise.resolve([READ, WRITE]),
    tell: (end, lane) =>
      tellingOf(end, {
        show: () => {
          throw new Fault("notFound", "Cannot show the content");
        },
        ...{ task: lane?.task ?? "", clearance: "internal", where: (id) => `answer ${id}` },
        selfConsent: more.selfConsent === true,
      }),
    hasStaged: () => Promise.resolve(more.staged === true),
    answerFor(_lane, question, allow): Promise<void> {
      answers.push([question, allow]);
      return Promise.resolve();
    },
    onProgress: () => undefined,
    onTools: () => undefined,
    pause: () => new Promise((resolve) => pauses.add(resolve)),
    now: () => 1,
  });
  return { session, lanes, answers, late: () => pauses.forEach((end) => end()) };
}

const asked = (call: string, tool: string, args: object = {}, waitMs = 0): ServeCall => ({
  ...{ session: "x", call: CallId.parse(call), tool: ToolName.parse(tool) },
  ...{ args: Object.fromEntries(Object.entries(args)), waitMs },
});
const settled = async (): Promise<void> => {
  for (let n = 0; n < 20; n++) await undefined;
};
const done = (id: string, content?: string): LaneEnd => ({
  kind: "done",
  called: calledOf(id, content),
});

Deno.test("calls that stage go one after another through the session's own task", async () => {
  const { session, lanes } = await open();
  const first = session.call(asked("a", "file_write", { n: 1 }));
  const second = session.call(asked("b", "file_write", { n: 2 }));
  await settled();
  assert.deepEqual(lanes.map(({ calls }) => calls.map(({ id }) => id)), [["a"]]);
  lanes[0]?.end(done("a"));
  assert.equal((await first).outcome, "ok");
  await settled();
  assert.deepEqual(lanes[0]?.calls.map(({ id }) => id), ["a", "b"]);
  lanes[0]?.end(done("b", "two"));
  assert.equal((await second).content, "two");
});

Deno.test("plain reads go beside each other, four at most, until something may be staged", async () => {
  const { session, lanes } = await open();
  const reads = ["a", "b", "c", "d", "e"].map((id) => session.call(asked(id, "file_read", { id })));
  await settled();
  assert.deepEqual(lanes.map(({ calls }) => calls.length), [1, 1, 1, 1]);
  for (const lane of lanes) lane.end(done(lane.calls[0]?.id ?? ""));
  await settled();
  const [, , , , fifth] = reads;
  const last = lanes.find(({ calls }) => calls.length === 2);
  last?.end(done("e"));
  assert.equal((await fifth)?.outcome, "ok");
  const write = session.call(asked("w", "file_write"));
  await settled();
  const read = session.call(asked("r", "file_read"));
  await settled();
  assert.deepEqual(lanes[0]?.calls.at(-1)?.id, "w");
  lanes[0]?.end(done("w"));
  await write;
  await settled();
  assert.equal(lanes[0]?.calls.at(-1)?.id, "r", "it reads where the change is");
  lanes[0]?.end(done("r"));
  await read;
});

Deno.test("a call that waits for a person is told at once, keeps its task, and is not made twice", async () => {
  const { session, lanes } = await open();
  const waiting: LaneEnd = { kind: "waiting", question: questionOf("q000000000001") };
  const first = session.call(asked("a", "file_write"));
  await settled();
  lanes[0]?.end(waiting);
  const told: ServeResult = await first;
  assert.equal(told.outcome, "waiting");
  assert.deepEqual([told.waiting?.question, told.waiting?.elicit], ["q000000000001", false]);
  assert.equal((await session.call(asked("b", "file_write"))).outcome, "waiting");
  const other = session.call(asked("c", "file_write", { other: true }));
  await settled();
  assert.deepEqual(
    lanes.map(({ calls }) => calls.length),
    [1, 1],
    "the session goes on in another task",
  );
  lanes[1]?.end(done("c"));
  await other;
  lanes[0]?.end(done("a", "after all"));
  await settled();
  assert.equal((await session.call(asked("d", "file_write"))).content, "after all");
  assert.equal(lanes[0]?.calls.length, 1);
});

Deno.test("a host that shows progress waits for the person, and no longer than it may", async () => {
  const { session, lanes, late } = await open();
  const waiting: LaneEnd = { kind: "waiting", question: questionOf("q000000000001") };
  const patient = session.call(asked("a", "file_write", {}, 1_000));
  await settled();
  lanes[0]?.end(waiting);
  await settled();
  late();
  assert.equal((await patient).outcome, "waiting");
  const again = session.call(asked("b", "file_write", {}, 1_000));
  await settled();
  lanes[0]?.end(done("a"));
  assert.equal((await again).outcome, "ok");
});

const refused = (error: unknown): boolean => error instanceof Fault && error.code === "refused";

Deno.test("a host answers nothing where remit.yaml does not say so, no stepUp, and no other question", async () => {
  const answer = (question: string): Parameters<HostSession["answer"]>[0] => ({
    ...{ session: "x", call: CallId.parse("a"), allow: true },
    question: questionOf(question).id,
  });
  for (
    const [selfConsent, kind, question] of [
      [false, "consent", "q000000000001"],
      [true, "stepUp", "q000000000001"],
      [true, "consent", "q000000000002"],
    ] as const
  ) {
    const { session, lanes, answers } = await open({ selfConsent });
    const call = session.call(asked("a", "file_write"));
    await settled();
    lanes[0]?.end({ kind: "waiting", question: questionOf("q000000000001", kind) });
    await call;
    await assert.rejects(session.answer(answer(question)), refused);
    await assert.rejects(
      session.answer({ ...answer("q000000000001"), call: CallId.parse("z") }),
      refused,
    );
    assert.deepEqual(answers, []);
  }
});

Deno.test("with selfConsent its person's answer counts once, and the call goes on", async () => {
  const { session, lanes, answers } = await open({ selfConsent: true });
  const call = session.call(asked("a", "file_write", {}, 1_000));
  await settled();
  const question = questionOf("q000000000001");
  lanes[0]?.end({ kind: "waiting", question });
  assert.equal((await call).waiting?.elicit, true);
  const said = { session: "x", call: CallId.parse("a"), question: question.id, allow: true };
  await session.answer(said);
  await assert.rejects(session.answer(said), refused);
  const after = session.call(asked("a", "file_write"));
  await settled();
  lanes[0]?.end(done("a"));
  assert.equal((await after).outcome, "ok");
  assert.deepEqual(answers, [["q000000000001", true]]);
});

Deno.test("a cancelled call is interrupted, taken out of the queue, or dropped with its question", async () => {
  const { session, lanes } = await open();
  const first = session.call(asked("a", "file_write", { n: 1 }));
  const queued = session.call(asked("b", "file_write", { n: 2 }));
  await settled();
  await session.cancel("b");
  await assert.rejects(
    queued,
    (error: unknown) => error instanceof Fault && error.code === "cancelled",
  );
  await session.cancel("a");
  assert.equal(lanes[0]?.interrupts, 1);
  lanes[0]?.end({ kind: "waiting", question: questionOf("q000000000001") });
  await first;
  await session.cancel("a");
  assert.deepEqual([lanes[0]?.dropped, lanes[0]?.closed], [true, true]);
  await session.cancel("no such call");
});

Deno.test("a session that ends proposes what it left staged, and takes no more calls", async () => {
  const { session, lanes } = await open({ staged: true });
  const call = session.call(asked("a", "file_write"));
  await settled();
  lanes[0]?.end(done("a"));
  await call;
  const closing = session.close();
  await settled();
  assert.equal(lanes[0]?.calls.at(-1)?.name, "patch_apply");
  lanes[0]?.end({ kind: "waiting", question: questionOf("q000000000001") });
  await closing;
  assert.deepEqual([lanes[0]?.closed, lanes[0]?.dropped], [true, false]);
  await assert.rejects(session.call(asked("b", "file_read")), (error: unknown) => {
    return error instanceof Fault && error.code === "gone";
  });
});
