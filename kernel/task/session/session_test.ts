import assert from "node:assert/strict";
import { type Gate, SessionId, TaskId } from "../../../contracts/authority/mod.ts";
import { Fault, type Json, type PortHandler } from "../../../contracts/base/mod.ts";
import { LAL_PROGRAM } from "../../../contracts/exchange/mod.ts";
import type { ChatMessage } from "../../../contracts/model/mod.ts";
import {
  DEFAULT_LIMITS,
  type EventLog,
  type NewEvent,
  type Powers,
} from "../../../contracts/task/mod.ts";
import { asJson } from "../../../port/as_json.ts";
import type { Child } from "../../core/child/child.ts";
import type { InferOptions } from "../../power/model/service.ts";
import type { ProcessModel } from "./process_model.ts";
import { makeProcessTable } from "../../core/process/table.ts";
import { makeSession } from "./session.ts";

const TASK = TaskId.parse("t000000000001");
const ASKED: ChatMessage = {
  role: "user",
  content: "go",
  provenance: { origin: "operator", colour: "BLUE", label: "public" },
};
const SOURCE = "({ turn: () => ({ stop: 'answered', text: '' }) })";
const LATE = new Fault("cancelled", "Cannot finish the inference: cancelled");
const FULL = new Fault("storeFull", "Cannot write to the log: the disk is full");

type Said = { readonly op: string; readonly body: { readonly [key: string]: Json } };

/** A session whose worker is played by the test, with a model that speaks and then does `ends`. */
function bench({ program, ends, log: append, after = () => () => undefined }: {
  readonly program?: string;
  readonly ends?: () => Promise<never>;
  readonly log?: EventLog["appendWithNext"];
  readonly after?: Powers["after"];
}) {
  const processes = makeProcessTable({ now: () => 0 });
  const row = processes.add({
    ...{ task: TASK, session: SessionId.parse("s000000000001"), conversation: TASK },
    ...{ principal: "alice", profile: "operator", spec: "agent", mounts: [] },
    ...{ limits: DEFAULT_LIMITS, onQuestion: "ask", phase: "work" },
    ...{ colour: "BLUE", label: "public" },
  });
  const said: Said[] = [];
  const asked: { op: string; resolve(value: Json): void; reject(fault: Fault): void }[] = [];
  const patient: NewEvent[] = [];
  let hear: InferOptions | undefined;
  let handler: PortHandler | undefined;
  let [killed, tokens] = [false, 0];
  const child: Pick<Child, "port" | "kill" | "osPid"> = {
    osPid: 1,
    kill: () => Promise.resolve(void (killed = true)),
    port: {
      closed: new Promise(() => {}),
      feed() {},
      close() {},
      tell: (op, body) => void said.push({ op, body } as Said),
      ask(op, body) {
        said.push({ op, body } as Said);
        return new Promise((resolve, reject) => asked.push({ op, resolve, reject }));
      },
    },
  };
  const model = {
    model: {
      info: {
        ...{ id: "m", displayName: "m", arch: "x", contextTokens: 10_000, outputTokens: 1_000 },
        ...{ backend: "scripted", supportsTools: true, remote: false },
      },
      plan: { noWait: false },
      infer(_request: unknown, options: InferOptions) {
        hear = options;
        options.onChunk({ textDelta: "I " });
        options.onChunk({ textDelta: "look." });
        if (ends !== undefined) return ends();
        const message = { ...ASKED, role: "assistant", content: "I look." };
        return Promise.resolve({
          ...{ message, finishReason: "stop", usage: { inputTokens: 1, outputTokens: 1 } },
        });
      },
    },
    ...{ refused: () => undefined, switchIfDue: () => Promise.resolve(false) },
    ...{ proposed() {}, failed() {}, called() {}, release() {} },
  } as unknown as ProcessModel;
  const placed = () => Promise.resolve([]);
  const log: EventLog = {
    head: () => "" as never,
    append: placed,
    appendWithNext: append ?? ((_task, events) => {
      patient.push(...events);
      return placed();
    }),
  };
  const powers: Powers = {
    ...{
      now: () => 0,
      id: (prefix) => `${prefix}000000000000`,
      token: () => `${++tokens}`.padStart(5, "0").padEnd(32, "0"),
    },
    ...{ after, reach: () => undefined },
  };
  const session = makeSession({
    ...{ row, processes, log, powers, model, conversation: [] },
    ...(program === undefined ? {} : { program }),
    children: {
      worker: (given) => {
        handler = given;
        return Promise.resolve(child as Child);
      },
    },
    gate: {
      advertise: () => ({ id: "snapshot", tools: [] }),
      withhold: (_pid: unknown, message: unknown) => message,
    } as unknown as Gate,
    offspring: undefined as never,
    brake: () => Promise.resolve(() => undefined),
    money: { hold: (_pid, request) => Promise.resolve({ request, release() {} }) },
    ...{ paid() {}, exhausted() {}, onText() {}, onReading() {}, onWire() {} },
  });
  return {
    ...{ session, said, asked, patient },
    options: () => hear,
    killed: () => killed,
    /** The worker asks for an inference with the handle that it was handed. */
    infer(): Promise<Json> {
      const { model: cap } = said[0]?.body["caps"] as { model: number };
      const body = asJson({ cap, base: 0, append: [ASKED], maxTokens: 100 });
      return Promise.resolve(handler?.ask("infer", body) ?? null);
    },
  };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

Deno.test("a worker has its first turn, and its tools, before it has answered anything", async () => {
  for (const program of [undefined, LAL_PROGRAM]) {
    const { session, said, asked } = bench(program === undefined ? {} : { program });
    const turn = session.turn(ASKED);
    await settled();
    assert.deepEqual(said.map(({ op }) => op), ["start", "turn"]);
    assert.deepEqual(said[1]?.body, {
      message: asJson(ASKED),
      tools: { id: "snapshot", tools: [] },
    });
    asked[0]?.resolve(null);
    asked[1]?.resolve({ stop: "answered", text: "Done." });
    assert.deepEqual(await turn, { stop: "answered", text: "Done." });
  }
});

Deno.test("a program that does not load ends its turn with that, and is handed no tools unasked", async () => {
  const { session, said, asked } = bench({ program: SOURCE });
  const turn = session.turn(ASKED);
  await settled();
  assert.deepEqual(Object.keys(said[1]?.body ?? {}), ["message"]);
  asked[0]?.reject(new Fault("invalidInput", "Cannot load agent program"));
  asked[1]?.reject(new Fault("invalidInput", "Cannot run a turn: not started"));
  await assert.rejects(turn, { message: "Cannot load agent program" });
});

Deno.test("a program of ours hears what its model said only where the answer did not come", async () => {
  const chunks = (said: readonly Said[]) =>
    said.filter(({ op }) => op === "chunk").map(({ body }) => body["textDelta"]);
  const whole = bench({});
  void whole.session.turn(ASKED);
  await settled();
  await whole.infer();
  assert.deepEqual([chunks(whole.said), whole.options()?.textOnly], [[], true]);

  const cut = bench({ ends: () => Promise.reject(new Fault("cancelled", "Cannot finish")) });
  void cut.session.turn(ASKED);
  await settled();
  await assert.rejects(cut.infer(), { code: "cancelled" });
  assert.deepEqual(chunks(cut.said), ["I ", "look."]);

  const foreign = bench({ program: SOURCE });
  void foreign.session.turn(ASKED);
  await settled();
  await foreign.infer();
  assert.deepEqual([chunks(foreign.said), foreign.options()?.textOnly], [["I ", "look."], false]);
});

Deno.test("an inference goes with the commit of what follows, and a log that cannot be written ends the process", async () => {
  const kept = bench({});
  void kept.session.turn(ASKED);
  await settled();
  await kept.infer();
  assert.deepEqual(kept.patient.map(({ kind }) => kind), ["inferred"]);

  const full = bench({ log: () => Promise.reject(FULL) });
  const turn = full.session.turn(ASKED);
  await settled();
  await full.infer();
  await settled();
  assert.ok(full.killed());
  full.asked[1]?.reject(new Fault("gone", "Cannot reach the peer: it ended"));
  await assert.rejects(turn, FULL);
});

Deno.test("a model of this machine has its time from its first token on, and what it used is booked", async () => {
  /** The limits that run; each is turned by hand. */
  const limits = new Set<() => void>();
  const slow = bench({
    ends: () => new Promise((_, reject) => setImmediate(() => reject(LATE))),
    after: (_ms, due) => {
      limits.add(due);
      return () => void limits.delete(due);
    },
  });
  void slow.session.turn(ASKED);
  await settled();
  const inference = slow.infer();
  // Rejected where a limit has passed: handled below.
  inference.catch(() => undefined);
  for (let turns = 0; slow.options() === undefined && turns < 20; turns++) await Promise.resolve();
  const { onChunk } = slow.options() ?? {};
  assert.ok(onChunk);
  const first = [...limits];
  onChunk({ reading: { done: 64, total: 200 } });
  const second = [...limits];
  assert.notEqual(second[0], first[0], "what goes forward gives more time");
  // Mallory's service would hold a task for ever with the same report, or one that goes back.
  for (const done of [64, 10, 64, 1_000_000]) onChunk({ reading: { done, total: 200 } });
  assert.deepEqual([...limits], second);
  second[0]?.();
  await assert.rejects(inference, (error) => {
    assert.ok(error instanceof Fault && error.code === "timedOut");
    assert.equal(error.detail?.["tried"], true, "the same request would take as long again");
    assert.match(error.message, /ms passed since it had read 64 tokens; "generationTimeoutMs"/);
    return true;
  });
  const { body } = slow.patient[0] ?? {};
  assert.deepEqual([body?.["inputTokens"], body?.["outputTokens"], body?.["broke"]], [64, 2, true]);
});
