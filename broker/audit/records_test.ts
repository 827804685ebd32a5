import assert from "node:assert/strict";
import type { AuditRecord, NewEvent } from "../../contracts/task/event.ts";
import { makeMemoryStore } from "./_fixture/memory_store.ts";
import { ALICE, handPowers, TASKS } from "./_fixture/small_log.ts";
import { auditRecords, openLog, type RecordFilter } from "./mod.ts";
import type { EgressRecord } from "./records.ts";

const [A, B] = TASKS;

const INTENT = {
  session: "s000000000000",
  principal: "alice",
  conversation: "main",
  turn: 2,
  call: "c1",
  pid: 5,
  model: "scripted",
  backend: "scripted",
  nonce: "n1",
  tool: "file_edit",
  descriptor: "d1",
  mode: "consent",
  argumentsHash: "h1",
  decision: "consented",
  rule: "remit.yaml:3",
  question: "q000000000000",
  actor: "alice terminal",
  colour: "YELLOW",
  label: "internal",
  effect: "mutateLocal",
  lease: "l000000000000",
} as const;

async function recordsOf(
  store: ReturnType<typeof makeMemoryStore>,
  filter: RecordFilter = {},
): Promise<readonly AuditRecord[]> {
  return await Array.fromAsync(auditRecords({ store, filter }));
}

Deno.test("audit: intent, outcome and private parts join into one record with every field", async () => {
  const store = makeMemoryStore();
  const log = await openLog({ store, signer: ALICE, ...handPowers() });
  const content = { arguments: '{"path":"desk/a.md"}', scope: ["mount write desk/a.md"] };
  await log.append(A, [{ kind: "intent", body: INTENT, private: content }]);
  const outcome = { call: "c1", outcome: "ok", resultHash: "r1", resultBytes: 12, ms: 7 };
  await log.append(A, [{
    kind: "outcome",
    body: outcome,
    private: { record: { staged: [] }, observedVersion: "v1", writtenVersion: "v2" },
  }]);
  assert.deepEqual(await recordsOf(store), [{
    ...INTENT,
    task: A,
    runner: "hosted",
    arguments: '{"path":"desk/a.md"}',
    scope: ["mount write desk/a.md"],
    outcome: "ok",
    resultHash: "r1",
    resultBytes: 12,
    observedVersion: "v1",
    writtenVersion: "v2",
    ms: 7,
    at: 1_800_000_000_000,
  }]);
  await store.eraseBlobs(A);
  const [purged] = await recordsOf(store);
  assert.equal(purged?.arguments, undefined);
  assert.equal(purged?.argumentsHash, "h1");
});

Deno.test("audit: equal call ids of two conversations do not mix", async () => {
  const store = makeMemoryStore();
  const log = await openLog({ store, signer: ALICE, ...handPowers() });
  for (const conversation of ["x", "y"]) {
    const body = { ...INTENT, conversation, tool: `tool_${conversation}` };
    await log.append(A, [{ kind: "intent", body }]);
  }
  for (const conversation of ["x", "y"]) {
    await log.append(A, [{ kind: "outcome", body: { call: "c1", conversation, outcome: "ok" } }]);
  }
  const found = (await recordsOf(store)).map((r) => `${r.conversation} ${r.tool} ${r.outcome}`);
  assert.deepEqual(found, ["x tool_x ok", "y tool_y ok"]);
});

Deno.test("audit: a refusal is a record, and an intent that never ended is shown as unfinished", async () => {
  const store = makeMemoryStore();
  const log = await openLog({ store, signer: ALICE, ...handPowers() });
  await log.append(A, [{ kind: "intent", body: INTENT }]);
  const refused = { call: "c2", tool: "http_fetch", outcome: "refusedByPolicy", rule: "built-in" };
  await log.append(B, [{ kind: "refused", body: refused }]);
  const found = (await recordsOf(store)).map((r) => `${r.tool} ${r.decision} ${r.outcome}`);
  assert.deepEqual(found, [
    "http_fetch forbidden refusedByPolicy",
    "file_edit consented unfinished",
  ]);
});

Deno.test("audit: filters narrow by task, time, tool, model, decision and outcome", async () => {
  const store = makeMemoryStore();
  const log = await openLog({ store, signer: ALICE, ...handPowers() });
  for (const [i, task] of [A, B, A].entries()) {
    const body = {
      ...INTENT,
      call: `c${i}`,
      tool: `tool${i}`,
      outcome: i === 1 ? "ok" : "timedOut",
    };
    await log.append(task, [{ kind: "outcome", body }]);
  }
  const calls = async (filter: RecordFilter): Promise<string> =>
    (await recordsOf(store, filter)).map((r) => r.call).join(" ");
  const start = 1_800_000_000_000;
  assert.equal(await calls({}), "c0 c1 c2");
  assert.equal(await calls({ task: A }), "c0 c2");
  assert.equal(await calls({ since: start + 1 }), "c1 c2");
  assert.equal(await calls({ until: start + 1 }), "c0 c1");
  assert.equal(await calls({ tool: "tool2" }), "c2");
  assert.equal(await calls({ outcome: "ok" }), "c1");
  assert.equal(await calls({ decision: "denied" }), "");
  assert.equal(await calls({ model: "scripted", session: INTENT.session }), "c0 c1 c2");
});

Deno.test("audit: more calls than one page holds all come", async () => {
  const store = makeMemoryStore();
  const log = await openLog({ store, signer: ALICE, ...handPowers() });
  const events = Array.from({ length: 700 }, (_, i) => ({
    kind: "outcome",
    body: { call: `c${i}`, outcome: "ok" },
  } as const));
  await log.append(A, events);
  await log.append(A, events);
  assert.equal((await recordsOf(store)).length, 1_400);
  assert.equal((await recordsOf(store, { task: A })).length, 1_400);
});

const [A_EGRESS_RECORD] = TASKS;

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
  for (const event of events) await log.append(A_EGRESS_RECORD, [event]);
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
  await store.eraseBlobs(A_EGRESS_RECORD);
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
      [{ task: A_EGRESS_RECORD, decision: "auto" }, 2],
    ] as const
  ) {
    assert.equal((await query(events, filter)).records.length, found, JSON.stringify(filter));
  }
});
