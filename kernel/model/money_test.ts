import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import fc from "fast-check";
import {
  DEFAULT_LIMITS,
  Fault,
  type InferenceRequest,
  type Pid,
  SessionId,
  TaskId,
} from "../../contracts/mod.ts";
import { inputTokens } from "./affordable.ts";
import { makeModelCost } from "./cost.ts";
import { makeModelMoney } from "./money.ts";
import { makeProcessTable } from "../process/table.ts";

const PRICE = { input: 3, output: 15 };
const { signal } = new AbortController();

/** alice's agent with two children and this much money. */
function family(money: number) {
  const table = makeProcessTable({ now: () => 0 });
  const parent = table.add({
    task: TaskId.parse("t000000000000"),
    session: SessionId.parse("s000000000000"),
    ...{ conversation: "c", principal: "alice", profile: "operator", spec: "agent", mounts: [] },
    ...{ onQuestion: "ask", phase: "work", colour: "BLUE", label: "public" },
    limits: { ...DEFAULT_LIMITS, money },
  });
  const child = (): Pid =>
    table.deriveChild(parent.pid, {
      ...{ spec: "child", conversation: "c/1", tools: new Set([]), capabilities: [], limits: {} },
    }).pid;
  return { table, parent, money: makeModelMoney(table), first: child(), second: child() };
}

const request = (maxTokens: number): InferenceRequest => ({
  messages: [{
    role: "user",
    content: "x".repeat(384),
    provenance: { origin: "agent", colour: "BLUE", label: "public" },
  }],
  ...{ tools: [], maxTokens, nonce: "n" },
});
const options = { info: { price: PRICE }, signal, recheck: () => undefined };

/** Whether it waits: nothing but promises is between a hold and its end. */
async function waits(hold: Promise<unknown>): Promise<boolean> {
  let over = false;
  const end = (): void => void (over = true);
  hold.then(end, end);
  for (let turn = 0; turn < 20; turn++) await undefined;
  return !over;
}

Deno.test("two children that ask at once do not both get what is left: the second waits, and pays of the rest", async () => {
  const { table, parent, money, first, second } = family(0.02);
  const one = await money.hold(first, request(1_200), options);
  equal(one.request.maxTokens, 1_200);
  const other = money.hold(second, request(1_200), options);
  ok(await waits(other));
  table.settle(first, { money: 0.005 });
  one.release();
  const two = await other;
  equal(two.request.maxTokens, 980);
  table.settle(second, { money: makeModelCost(PRICE).of({ inputTokens: 100, outputTokens: 980 }) });
  two.release();
  ok(parent.usage.money <= 0.02, `${parent.usage.money}`);
});

Deno.test("where there is enough for all nobody waits, and what costs nothing holds nothing", async () => {
  const { money, first, second } = family(1);
  const both = await Promise.all([
    money.hold(first, request(4_000), options),
    money.hold(second, request(4_000), options),
  ]);
  deepEqual(both.map((held) => held.request.maxTokens), [4_000, 4_000]);
  const broke = family(0);
  const free = { ...options, info: {} };
  equal((await broke.money.hold(broke.first, request(77), free)).request.maxTokens, 77);
});

Deno.test("alone with too little it is cut to what is left, as nobody will give anything back", async () => {
  const { money, first } = family(0.0018);
  equal((await money.hold(first, request(4_000), options)).request.maxTokens, 100);
});

Deno.test("an input that the model counts as more leaves less for the answer", async () => {
  const { table, parent, money } = family(0.03);
  const estimated = await money.hold(parent.pid, request(4_000), options);
  estimated.release();
  const counted = await money.hold(parent.pid, request(4_000), { ...options, input: 5_000 });
  equal(counted.request.maxTokens, 1_000);
  ok(estimated.request.maxTokens > 1_900);
  equal(table.get(parent.pid)?.usage.money, 0);
});

Deno.test("a wait ends with its request, and after it the limits are looked at again", async () => {
  const { money, first, second } = family(0.02);
  const abort = new AbortController();
  const one = await money.hold(first, request(1_200), options);
  const left = money.hold(second, request(1_200), { ...options, signal: abort.signal });
  const refused = money.hold(second, request(1_200), {
    ...options,
    recheck: () => {
      throw new Fault("budgetExhausted", "Cannot infer: money");
    },
  });
  ok(await waits(Promise.any([left, refused])));
  abort.abort();
  await rejects(left, (error: Fault) => error.code === "cancelled");
  one.release();
  one.release();
  await rejects(refused, (error: Fault) => error.code === "budgetExhausted");
  equal((await money.hold(second, request(1_200), options)).request.maxTokens, 1_200);
});

Deno.test("however many ask at once and whatever their answers cost, the limit is kept and everyone is served", async () => {
  const asks = fc.array(
    fc.record({
      most: fc.integer({ min: 1, max: 5_000 }),
      used: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
    { minLength: 1, maxLength: 12 },
  );
  await fc.assert(fc.asyncProperty(asks, async (asks) => {
    const { table, parent, money, first, second } = family(0.1);
    await Promise.all(asks.map(async ({ most, used }, at) => {
      const pid = at % 2 === 0 ? first : second;
      const least = makeModelCost(PRICE).ofInput(inputTokens(request(most)));
      const recheck = (): void => {
        if (table.wouldExceed(pid, { money: least }) !== undefined) {
          throw new Fault("budgetExhausted", "");
        }
      };
      try {
        recheck();
        const held = await money.hold(pid, request(most), { ...options, recheck });
        await undefined;
        const outputTokens = Math.ceil(used * held.request.maxTokens);
        table.settle(pid, { money: makeModelCost(PRICE).of({ inputTokens: 100, outputTokens }) });
        held.release();
      } catch (error) {
        ok(error instanceof Fault && error.code === "budgetExhausted", String(error));
      }
    }));
    // One token is the least that an answer is made of.
    ok(parent.usage.money <= 0.1 + 15 / 1e6, `${parent.usage.money}`);
  }));
});
