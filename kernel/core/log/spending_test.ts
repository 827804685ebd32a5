import { deepEqual, equal } from "node:assert/strict";
import type { JsonObject } from "../../../contracts/base/mod.ts";
import { Digest } from "../../../contracts/authority/mod.ts";
import type { Store, StoredEvent } from "../../../contracts/task/mod.ts";
import { costsOf, payerOf, spentSince } from "./spending.ts";

const DAY = 86_400_000;
const NOON = Date.UTC(2026, 10, 27, 12);
const HASH = Digest.parse("0".repeat(64));

/** A log that holds these events, in this order. */
function logOf(
  ...all: readonly (readonly [task: string, kind: string, at: number, body: JsonObject])[]
): Pick<Store, "events"> {
  const events = all.map(([task, kind, at, body], n): StoredEvent => ({
    ...{ task, kind, at, n, seq: n + 1, hash: HASH },
    body: JSON.stringify(body),
  }));
  return {
    events: ({ task, kinds, newest = false, untilSeq = Infinity, limit = 1_000 }) => {
      const found = events.filter((event) =>
        event.seq <= untilSeq && (task === undefined || event.task === task) &&
        (kinds === undefined || kinds.includes(event.kind))
      );
      return Promise.resolve((newest ? found.toReversed() : found).slice(0, limit));
    },
  };
}

const asked = (nonce: string): JsonObject => ({
  ...{ pid: 2, model: "m", nonce, tokens: 10, money: 0.1, most: 0.7 },
});
const paid = (nonce: string, money: number, pid = 2): JsonObject => ({
  ...{ pid, model: "m", nonce, money, inputTokens: 10, outputTokens: 5 },
});

Deno.test("what a kill left without an end counts at most, what ended what it cost, what failed nothing", async () => {
  const store = logOf(
    ["t1", "modelAsked", NOON - DAY, asked("old")],
    ["t1", "modelAsked", NOON, asked("a")],
    ["t1", "inferred", NOON, paid("a", 0.2)],
    ["t1", "modelAsked", NOON, asked("b")],
    ["t1", "modelFailed", NOON, { pid: 2, nonce: "b", code: "upstream", ms: 1 }],
    ["t2", "modelAsked", NOON, asked("a")],
  );
  const found = await Array.fromAsync(spentSince(store, NOON));
  deepEqual(found.map(({ task, money, open }) => [task, money, open]), [
    ["t2", 0.7, true],
    ["t1", 0.2, false],
  ]);
});

Deno.test("pages of a long log lose nothing and count nothing twice", async () => {
  const store = logOf(
    ...Array.from(
      { length: 2_345 },
      (_, n) => ["t1", "inferred", NOON + n, paid(`n${n}`, 1)] as const,
    ),
  );
  const [row, ...more] = await costsOf(store, { since: 0, find: () => undefined });
  deepEqual([row?.inferences, row?.money, more.length], [2_345, 2_345, 0]);
});

Deno.test("a child agent's cost stands under its own name, and a trigger's under the trigger", async () => {
  const store = logOf(
    ["t1", "processStarted", NOON, { pid: 2 }],
    ["t1", "inferred", NOON, paid("a", 1)],
    ["t1", "processStarted", NOON, { pid: 3, ppid: 2, agent: "reader" }],
    ["t1", "inferred", NOON, paid("b", 2, 3)],
  );
  const ingress = {
    channel: "schedule",
    principal: "schedule:often",
    colour: "BLUE",
    label: "internal",
  } as const;
  const task = { agent: "lead", ingress };
  const rows = await costsOf(store, { since: 0, find: () => task });
  deepEqual(rows.map(({ agent, money, trigger }) => [agent, money, trigger]).toSorted(), [
    ["lead", 1, "schedule"],
    ["reader", 2, "schedule"],
  ]);
  equal(payerOf(undefined).principal, "operator");
});

Deno.test("nothing of the log that is no number is money, and nothing below zero", async () => {
  const store = logOf(
    ["t1", "inferred", NOON, { ...paid("a", -5), inputTokens: "9" }],
    ["t1", "inferred", NOON, { pid: 2, nonce: "b" }],
  );
  const [row] = await costsOf(store, { since: 0, find: () => undefined });
  deepEqual([row?.money, row?.inputTokens], [0, 0]);
});
