import fc from "fast-check";
import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { type Pid, SessionId, TaskId } from "../../../contracts/authority/mod.ts";
import { Fault } from "../../../contracts/base/mod.ts";
import { DEAREST, type InferenceRequest, type Price } from "../../../contracts/model/mod.ts";
import { DEFAULT_LIMITS } from "../../../contracts/task/mod.ts";
import { makeProcessTable } from "../../core/process/table.ts";
import { planModel } from "./model_plan.ts";
import {
  affordable,
  inputTokens,
  makeModelCost,
  makeModelMoney,
  priceOf,
  USUAL_OUTPUT,
} from "./money.ts";

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

const requestAffordable = (maxTokens: number, content = "x".repeat(384)): InferenceRequest => ({
  messages: [{
    role: "user",
    content,
    provenance: { origin: "agent", colour: "BLUE", label: "public" },
  }],
  tools: [],
  maxTokens,
  nonce: "n",
});

Deno.test("one last answer cannot pass the limit of money, whatever it costs and however long it may be", () => {
  const price = fc.record({
    input: fc.double({ min: 0, max: 1_000, noNaN: true }),
    output: fc.double({ min: 0.01, max: 1_000, noNaN: true }),
  });
  const money = fc.double({ min: 0, max: 10, noNaN: true });
  fc.assert(
    fc.property(price, money, fc.integer({ min: 1, max: 1_000_000 }), (price, money, most) => {
      const { maxTokens } = affordable(requestAffordable(most), { price }, money);
      ok(maxTokens >= 1 && maxTokens <= most);
      const cost = makeModelCost(price);
      const whole = cost.of({ inputTokens: 100, outputTokens: maxTokens });
      const least = cost.of({ inputTokens: 100, outputTokens: 1 });
      ok(whole <= Math.max(money, least) + 1e-9, `${whole} of ${money}`);
    }),
  );
});

Deno.test("where nothing is paid an answer is as long as it was asked to be", () => {
  equal(affordable(requestAffordable(77), {}, 0).maxTokens, 77);
  equal(affordable(requestAffordable(77), { price: { input: 1, output: 0 } }, 0).maxTokens, 77);
});

const PLANS = { weights: "/weights", addon: "/addon", secret: () => undefined };

/** The price of a model as its configuration says it. */
function configured(url: string, more: object = {}, kind = "openai"): Price | undefined {
  const config = JSON.stringify({ model: "m", url, ...more });
  return priceOf(planModel({ ref: `${kind}:m`, config }, PLANS));
}

Deno.test("a provider costs what the operator wrote, and without a price as the dearest", () => {
  const price = { input: 3, output: 15 };
  deepEqual(configured("https://api.example.com/v1", { price }), price);
  deepEqual(configured("https://api.example.com/v1"), DEAREST);
  deepEqual(configured("http://192.168.1.5:11434", {}, "ollama"), DEAREST);
  deepEqual(configured("https://api.example.com/v1", {}, "openai-embed"), DEAREST);
  deepEqual(configured("https://api.example.com", { price: { input: 0, output: 0 } }), {
    input: 0,
    output: 0,
  });
});

Deno.test("what stays on this machine is free: a server on loopback, a replay, local weights", () => {
  for (const url of ["http://127.0.0.1:8080/v1", "http://localhost:11434", "http://[::1]:1/v1"]) {
    equal(configured(url), undefined, url);
  }
  equal(configured("https://api.example.com/v1", { replay: "{}" }), undefined);
  for (
    const url of [
      "http://127.0.0.1.example.com/",
      "http://localhost.example.com/",
      "http://0.0.0.0/",
    ]
  ) {
    deepEqual(configured(url), DEAREST, url);
  }
});

Deno.test("input and output are paid by the million tokens", () => {
  const cost = makeModelCost({ input: 3, output: 15 });
  equal(cost.ofInput(1_000_000), 3);
  equal(cost.of({ inputTokens: 1_000_000, outputTokens: 1_000_000 }), 18);
  equal(cost.likely(0, 100_000), USUAL_OUTPUT * 15 / 1e6);
  equal(cost.likely(0, 10), 10 * 15 / 1e6);
  const free = makeModelCost(undefined);
  equal(free.of({ inputTokens: 1e9, outputTokens: 1e9 }), 0);
  equal(free.mostOutput(1e9, { maxTokens: 77, money: 0 }), 77);
});

Deno.test("mallory's server, which says nothing of usage, would have been free for ever", () => {
  const estimate = { inputTokens: 1_000, outputTokens: 50 };
  const silent = { inputTokens: 0, outputTokens: 0 };
  const cost = makeModelCost(DEAREST);
  deepEqual(cost.counted(silent, estimate), estimate);
  ok(cost.of(cost.counted(silent, estimate)) > 0);
  deepEqual(cost.counted({ inputTokens: 7, outputTokens: 0 }, estimate), {
    inputTokens: 7,
    outputTokens: 50,
  });
  deepEqual(makeModelCost(undefined).counted(silent, estimate), silent);
});

Deno.test("an answer as long as was allowed never costs more than the money that was left", () => {
  const dollars = fc.double({ min: 0, max: 1_000, noNaN: true });
  fc.assert(
    fc.property(
      fc.record({ input: dollars, output: dollars }),
      fc.nat(1_000_000),
      fc.integer({ min: 1, max: 1_000_000 }),
      dollars,
      (price, input, maxTokens, money) => {
        const cost = makeModelCost(price);
        const output = cost.mostOutput(input, { maxTokens, money });
        ok(output >= 1 && output <= maxTokens && Number.isInteger(output));
        const paid = cost.of({ inputTokens: input, outputTokens: output });
        // What the input alone costs is refused elsewhere; an answer adds nothing that is not there.
        const most = Math.max(money, cost.ofInput(input));
        ok(paid <= most * (1 + 1e-9) + 2e-9 || output === 1);
        if (output < maxTokens && output > 1) {
          const more = cost.of({ inputTokens: input, outputTokens: output + 1 });
          ok(more >= money * (1 - 1e-9) - 1e-9, "no more is withheld than must be");
        }
        ok(cost.ofInput(input) <= cost.likely(input, maxTokens));
      },
    ),
  );
});

Deno.test("Anthropic's prompt cache costs what Anthropic takes, another provider's what the operator wrote", () => {
  const price = { input: 3, output: 15 };
  const usage = {
    inputTokens: 1_000_000,
    outputTokens: 0,
    cacheReadTokens: 600_000,
    cacheWriteTokens: 200_000,
  };
  const of = (price: Price | undefined): number =>
    Math.round(makeModelCost(price).of(usage) * 1e6) / 1e6;
  const anthropic = configured("https://api.example.com", { price }, "anthropic");
  equal(of(anthropic), 0.2 * 3 + 0.6 * 0.3 + 0.2 * 3.75);
  equal(of(configured("https://api.example.com", { price })), 3);
  const told = { ...price, cacheRead: 1.5 };
  equal(of(configured("https://api.example.com", { price: told })), 0.4 * 3 + 0.6 * 1.5);
  equal(of(configured("https://api.example.com", { price: told }, "anthropic")), 0.6 + 0.9 + 0.75);
  equal(of(configured("https://api.example.com", {}, "anthropic")), 6 + 1.8 + 7.5);
  equal(of(configured("http://127.0.0.1:1/", { price }, "anthropic")), 0);
  // Before it is asked all of it may be kept anew.
  equal(makeModelCost(anthropic).ofInput(1_000_000), 3.75);
  equal(makeModelCost({ ...price, cacheRead: 0.3 }).ofInput(1_000_000), 3);
});

Deno.test("mallory's server counts more from the cache than there was at all: it costs no less than all of it from there", () => {
  const tokens = fc.integer({ min: 0, max: 1e9 });
  const usages = fc.record({
    ...{ inputTokens: tokens, outputTokens: tokens },
    ...{ cacheReadTokens: tokens, cacheWriteTokens: tokens },
  });
  const price = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };
  fc.assert(fc.property(usages, (usage) => {
    const { inputTokens, outputTokens } = usage;
    const cost = makeModelCost(price).of(usage);
    const rest = outputTokens * price.output;
    ok(cost >= (inputTokens * price.cacheRead + rest) / 1e6 - 1e-6);
    ok(cost <= (inputTokens * price.cacheWrite + rest) / 1e6 + 1e-6);
  }));
});
