import assert from "node:assert/strict";
import type { StoredEvent } from "../../contracts/task/mod.ts";
import { type CostRow, costsOf, makeLedger } from "./costs.ts";

const DAY = Date.parse("2026-11-27");
const ALICE = { agent: "agent", principal: "alice", trigger: "terminal" };

const event = (seq: number, kind: string, body: object, at = DAY): StoredEvent =>
  // TRUST: what of a stored event the sums read.
  ({ seq, task: "t1", n: seq, kind, at, body: JSON.stringify(body) }) as unknown as StoredEvent;

Deno.test("sums are by day, model and agent, a child's its own; events before the time are left out", async () => {
  const events = [
    event(
      1,
      "inferred",
      { pid: 2, model: "m", inputTokens: 9, outputTokens: 1, money: 5 },
      DAY - 1,
    ),
    event(2, "processStarted", { pid: 3, ppid: 2, agent: "reader" }),
    event(3, "inferred", { pid: 2, model: "m", inputTokens: 10, outputTokens: 2, money: 0.5 }),
    event(4, "inferred", { pid: 3, model: "m", inputTokens: 1, outputTokens: 1, money: 0.25 }),
    event(5, "inferred", { pid: 2, model: "m", inputTokens: 10, outputTokens: 2, money: 0.5 }),
  ];
  const rows = await costsOf({
    events: ({ afterSeq = 0 }) => Promise.resolve(events.filter(({ seq }) => seq > afterSeq)),
  }, {
    since: DAY,
    until: Infinity,
    taskOf: () => ({
      agent: "lead",
      ingress: { channel: "schedule", principal: "alice", colour: "BLUE", label: "internal" },
    }),
  });
  const common = { day: "2026-11-27", model: "m", principal: "alice", trigger: "schedule" };
  assert.deepEqual(rows, [
    { ...common, agent: "lead", inferences: 2, inputTokens: 20, outputTokens: 4, money: 1 },
    { ...common, agent: "reader", inferences: 1, inputTokens: 1, outputTokens: 1, money: 0.25 },
  ]);
});

const past = (money: number, day = "2026-11-27"): CostRow => ({
  ...{ ...ALICE, day, model: "m", inferences: 1, inputTokens: 1, outputTokens: 1, money },
});

Deno.test("a day's budget counts what earlier kernels paid and what is under way; the next day begins anew", async () => {
  let now = DAY;
  const near: string[] = [];
  const ledger = makeLedger({
    budgets: [{ per: "day", money: 1 }, { per: "month", money: 10 }],
    now: () => now,
    costs: () => Promise.resolve([past(0.5), past(2, "2026-11-20")]),
  });
  const tell = (words: string): void => void near.push(words);
  // Both begin at once: together they do not fit.
  const [first, second] = await Promise.allSettled([
    ledger.reserve(ALICE, 0.3, tell),
    ledger.reserve(ALICE, 0.3, tell),
  ]);
  assert.equal(first.status, "fulfilled");
  assert.ok(second.status === "rejected");
  assert.match(
    String(second.reason),
    /budget of 1 USD a day is used up \(0\.5 USD spent, 0\.6 USD under way\)/,
  );
  assert.deepEqual(near, [
    "the budget of 1 USD a day: 0.8 USD spent or under way",
    "the budget of 1 USD a day is used up (0.5 USD spent, 0.6 USD under way)",
  ]);
  if (first.status === "fulfilled") first.value();
  ledger.paid(ALICE, 0.45);
  await assert.rejects(ledger.reserve(ALICE, 0.1, tell), /used up/);
  now += 24 * 60 * 60_000;
  (await ledger.reserve(ALICE, 0.9, tell))();
  await assert.rejects(ledger.reserve(ALICE, 8, tell), /a day is used up/);
});

Deno.test("a budget of one agent, principal or trigger is nobody else's", async () => {
  const ledger = makeLedger({
    budgets: [{ per: "day", money: 0, trigger: "schedule" }, {
      per: "day",
      money: 0,
      agent: "reader",
    }],
    now: () => DAY,
    costs: () => Promise.resolve([]),
  });
  const tell = (): void => undefined;
  (await ledger.reserve(ALICE, 5, tell))();
  await assert.rejects(
    ledger.reserve({ ...ALICE, trigger: "schedule" }, 0.01, tell),
    /budget of 0 USD a day for trigger schedule is used up/,
  );
  await assert.rejects(
    ledger.reserve({ ...ALICE, agent: "reader" }, 0.01, tell),
    /for agent reader/,
  );
});
