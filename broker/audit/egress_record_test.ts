import assert from "node:assert/strict";
import type { NewEvent } from "../../contracts/event.ts";
import { makeMemoryStore } from "./_fixture/memory_store.ts";
import { ALICE, handPowers, TASKS } from "./_fixture/small_log.ts";
import type { EgressRecord } from "./egress_record.ts";
import { auditRecords, openLog, type RecordFilter } from "./mod.ts";

const [A] = TASKS;

const asked = (nonce: string, more: object = {}): NewEvent => ({
  kind: "modelAsked",
  body: {
    ...{ session: "s000000000000", principal: "alice", conversation: "main", turn: 2, pid: 5 },
    ...{ label: "internal", colour: "RED", use: "inference", host: "api.example.com" },
    ...{ model: "openai:m", backend: "openai", nonce, texts: 3, tools: 2, bytes: 900, tokens: 225 },
    ...more,
  },
});
const inferred = (nonce: string): NewEvent => ({
  kind: "inferred",
  body: { pid: 5, nonce, inputTokens: 230, outputTokens: 20, money: 0.001, redactions: 4 },
  private: { message: { content: "a secret" } },
});

async function query(events: readonly NewEvent[], filter: RecordFilter = {}) {
  const store = makeMemoryStore();
  const log = await openLog({ store, signer: ALICE, ...handPowers() });
  for (const event of events) await log.append(A, [event]);
  return {
    store,
    records: (await Array.fromAsync(auditRecords({ store, filter }))).filter((
      record,
    ): record is EgressRecord => "egress" in record),
  };
}

Deno.test("audit: a request that left for a model is one record, with host, sizes, money and what was taken out", async () => {
  const { records } = await query([asked("n1"), inferred("n1")], { model: "openai:m" });
  assert.equal(records.length, 1);
  const { egress, outcome, scope, effect, principal, nonce, label, colour } = records[0] ?? {};
  assert.deepEqual(egress, {
    ...{ use: "inference", host: "api.example.com", bytes: 900, tokens: 225, redactions: 4 },
    ...{ inputTokens: 230, outputTokens: 20, money: 0.001 },
  });
  assert.deepEqual([outcome, scope, effect], ["ok", ["model:api.example.com"], "inference"]);
  assert.deepEqual([principal, nonce, label, colour], ["alice", "n1", "internal", "RED"]);
  assert.ok(!JSON.stringify(records).includes("a secret"));
});

Deno.test("audit: an attempt that failed is found, with the provider's words until they are erased", async () => {
  const failed: NewEvent = {
    kind: "modelFailed",
    body: { pid: 5, nonce: "n1", code: "upstream", ms: 31 },
    private: { error: "Cannot infer: the provider failed" },
  };
  const { store, records } = await query([asked("n1"), failed]);
  assert.deepEqual(records.map(({ outcome, error, ms }) => [outcome, error, ms]), [
    ["executionError", "Cannot infer: the provider failed", 31],
  ]);
  await store.eraseBlobs(A);
  const [record] = await Array.fromAsync(auditRecords({ store }));
  assert.equal(record?.error, "upstream");
});

Deno.test("audit: a request of which nothing came, because the kernel ended, is unfinished", async () => {
  const { records } = await query([asked("n1"), asked("n2"), inferred("n2")]);
  assert.deepEqual(records.map(({ nonce, outcome }) => [nonce, outcome]), [
    ["n2", "ok"],
    ["n1", "unfinished"],
  ]);
});

Deno.test("audit: inferences of this machine's models are none, and filters take requests as calls", async () => {
  assert.deepEqual((await query([inferred("n1")])).records, []);
  const events = [asked("n1"), inferred("n1"), asked("n2", { model: "anthropic:l" })];
  for (
    const [filter, found] of [
      [{ model: "anthropic:l" }, 1],
      [{ model: "openai:n" }, 0],
      [{ tool: "file_read" }, 0],
      [{ tool: "model_complete" }, 2],
      [{ outcome: "unfinished" }, 1],
      [{ task: A, decision: "auto" }, 2],
    ] as const
  ) {
    assert.equal((await query(events, filter)).records.length, found, JSON.stringify(filter));
  }
});
