import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { SessionId, TaskId } from "../../../contracts/authority/mod.ts";
import type { Label } from "../../../contracts/authority/colour.ts";
import { DEFAULT_LIMITS, type NewEvent } from "../../../contracts/task/mod.ts";
import type { ProcessRow } from "../../../contracts/task/process.ts";
import { makeProcessTable } from "../../core/process/table.ts";
import { makeModelMoney } from "../../power/model/money.ts";
import { makeModelRates } from "../../power/model/rates.ts";
import {
  type ForeignInferenceParts,
  type ForeignRun,
  type InferForeign,
  makeForeignInference,
} from "./foreign_inference.ts";

const ASKED = { model: "m", input: 1_000, maxTokens: 500, bytes: 4_000 };
const USED = { input: 1_000, output: 500, cacheRead: 0, cacheWrite: 0 };
/** 0.1 USD for 1,000 tokens in, 0.5 for 500 out. */
const PRICE = { input: 100, output: 1_000 };

interface World {
  readonly infer: InferForeign;
  readonly events: NewEvent[];
  readonly row: ProcessRow;
  readonly limits: string[];
  readonly judged: Label[];
}

function makeWorld(
  provider: Partial<ForeignRun["provider"]>,
  { money = 10, label = "internal", refused }: {
    readonly money?: number;
    readonly label?: Label;
    readonly refused?: string;
  } = {},
): World {
  const events: NewEvent[] = [], limits: string[] = [], judged: Label[] = [];
  let tokens = 0;
  const powers = {
    now: () => 1_000,
    token: () => `nonce${++tokens}`,
    after: () => () => undefined,
  };
  const processes = makeProcessTable(powers);
  const row = processes.add({
    ...{ task: TaskId.parse("t000000000001"), session: SessionId.parse("s000000000001") },
    ...{ conversation: "main", principal: "alice", profile: "operator", spec: "agent" },
    ...{ mounts: [], limits: { ...DEFAULT_LIMITS, money }, onQuestion: "queue", phase: "work" },
    ...{ colour: "BLUE", label: "public" },
  });
  const parts: ForeignInferenceParts = {
    ...{ processes, powers, rates: makeModelRates(powers) },
    log: {
      append: (_task, more) => {
        events.push(...more);
        return Promise.resolve([]);
      },
    },
    brake: () => Promise.resolve(() => undefined),
    money: makeModelMoney(processes),
    paid: () => undefined,
    exhausted: (_row, limit) => void limits.push(limit),
    modelRefused(seen) {
      judged.push(seen.label);
      return refused;
    },
  };
  const infer = makeForeignInference(parts, {
    ...{ row, agent: { name: "fake" }, label: () => label },
    provider: {
      ...{ wire: "openai", origin: "https://provider.example", secret: "mine", model: "m" },
      ...{ price: PRICE, ...provider },
    },
  });
  return { infer, events, row, limits, judged };
}

const alive = (): AbortSignal => new AbortController().signal;
const kinds = ({ events }: World): readonly string[] => events.map(({ kind }) => kind);

Deno.test("an inference of an agent of others is on record before it leaves, and paid as its provider told", async () => {
  const world = makeWorld({});
  const through = await world.infer(ASKED, alive());
  equal(through.maxTokens, 500);
  deepEqual(kinds(world), ["modelAsked"]);
  match(JSON.stringify(world.events), /"host":"provider.example"/);
  through.ended(USED);
  await through.booked;
  deepEqual(kinds(world), ["modelAsked", "inferred"]);
  ok(Math.abs(world.row.usage.money - 0.6) < 1e-9);
  equal(world.row.usage.iterations, 0);
  match(JSON.stringify(world.events[1]?.body), /"model":"fake:m".*"foreign":"fake"/);
  equal(world.events[1]?.private, undefined);
});

Deno.test("what it was shown decides with its process's label whether its words may leave", async () => {
  const world = makeWorld({}, { label: "secret", refused: "the conversation is secret" });
  await rejects(world.infer(ASKED, alive()), /Cannot infer: the conversation is secret/);
  deepEqual(world.judged, ["secret"]);
  deepEqual(kinds(world), []);
});

Deno.test("an answer is bounded by the money left, one without room is refused and named, and several hold together", async () => {
  const world = makeWorld({}, { money: 0.3 });
  const through = await world.infer(ASKED, alive());
  // 0.1 for the input; 0.2 pays for 200 tokens, rounded down.
  ok(through.maxTokens >= 199 && through.maxTokens <= 200);
  through.ended({ ...USED, output: 200 });
  await through.booked;
  await rejects(world.infer(ASKED, alive()), /the task's limit "money" is used up/);
  deepEqual(world.limits, ["money"]);
});

Deno.test("what was lost costs its input and an answer that is no stream, what had no answer nothing, and both are on record", async () => {
  const world = makeWorld({});
  const lost = await world.infer(ASKED, alive());
  lost.ended("lost");
  await lost.booked;
  ok(Math.abs(world.row.usage.money - 0.1) < 1e-9);
  // No stream: its answer is computed to its end.
  const whole = await world.infer({ ...ASKED, whole: true }, alive());
  whole.ended("lost");
  await whole.booked;
  ok(Math.abs(world.row.usage.money - 0.7) < 1e-9);
  const none = await world.infer(ASKED, alive());
  none.ended(undefined);
  await none.booked;
  ok(Math.abs(world.row.usage.money - 0.7) < 1e-9);
  const paid = ["modelAsked", "inferred"];
  deepEqual(kinds(world), [...paid, ...paid, "modelAsked", "modelFailed"]);
});

Deno.test("a price is for its model; another counts as the dearest, none on this machine as free, and a name draws nothing", async () => {
  const costs = async (provider: Partial<ForeignRun["provider"]>, model: string) => {
    const world = makeWorld(provider, { money: 1_000 });
    const through = await world.infer({ ...ASKED, model }, alive());
    through.ended(USED);
    await through.booked;
    const name = world.events.at(-1)?.body["model"];
    return [Math.round(world.row.usage.money * 1e4) / 1e4, name];
  };
  deepEqual(await costs({}, "m-20260101"), [0.6, "fake:m-20260101"]);
  // 30 and 150 USD a million.
  deepEqual(await costs({}, "n"), [0.105, "fake:n"]);
  deepEqual(await costs({ price: undefined }, "m"), [0.105, "fake:m"]);
  const here = { origin: "http://127.0.0.1:8080" };
  deepEqual(await costs({ ...here, price: undefined }, "m"), [0, "fake:m"]);
  deepEqual(await costs(here, "m"), [0.6, "fake:m"]);
  deepEqual(await costs({}, "x\u001b[2J"), [0.105, "fake:unnamed"]);
});
