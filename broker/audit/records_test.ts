import assert from "node:assert/strict";
import type { AuditRecord } from "../../contracts/event.ts";
import { makeMemoryStore } from "./_fixture/memory_store.ts";
import { ALICE, handPowers, TASKS } from "./_fixture/small_log.ts";
import { auditRecords, openLog, type RecordFilter } from "./mod.ts";

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
