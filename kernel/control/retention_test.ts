import assert from "node:assert/strict";
import { Digest, TaskId } from "../../contracts/authority/mod.ts";
import { Fault } from "../../contracts/base/mod.ts";
import type { AgentTask, StoredEvent } from "../../contracts/task/mod.ts";
import { countState, makeEndedList } from "../task/task_history.ts";
import { makeClockDoubt, retain } from "./retention.ts";
import { taskSpans } from "./task_spans.ts";

const id = (n: number): TaskId => TaskId.parse(`t${String(n).padStart(12, "0")}`);
const task = (n: number, more: Partial<AgentTask>): AgentTask =>
  ({
    ...{ id: id(n), status: "done", createdAt: n, updatedAt: 100, archived: false, purged: false },
    ingress: { channel: "webhook" },
    ...more,
  }) as AgentTask;
const exchanges = {
  list: ({ since }: { readonly since?: number | undefined }) =>
    Promise.resolve({ exchanges: [], total: since === undefined ? 3 : 1, next: "" }),
  erase: () => Promise.resolve({ erased: 8 }),
};

Deno.test("what is over and old is archived, then purged; what runs, is new, or has a name stays", async () => {
  const done: string[] = [];
  const tasks = [
    task(1, {}),
    task(2, { status: "open" }),
    task(3, { updatedAt: 500 }),
    task(4, { purged: true }),
    task(5, { archived: true, status: "failed" }),
    task(6, {}),
    task(7, {}),
  ];
  const service = {
    list: () => Promise.resolve(tasks),
    archive: (which: TaskId) => {
      done.push(`archive ${Number(which.slice(1))}`);
      return Promise.resolve(task(1, {}));
    },
    purge: (which: TaskId) => {
      if (which === id(7)) return Promise.reject(new Fault("conflict", "it was taken up"));
      done.push(`purge ${Number(which.slice(1))}`);
      return Promise.resolve(task(1, {}));
    },
  };
  const inbox = { eraseBefore: () => Promise.resolve({ erased: 4 }) };
  const parts = {
    service,
    exchanges,
    inbox,
    ahead: () => 0,
    named: (which: TaskId) => which === id(6),
  };
  assert.deepEqual(await retain(parts, { before: 200, dryRun: true }), { tasks: 3, exchanges: 8 });
  assert.deepEqual(done, []);
  assert.deepEqual(await retain(parts, { before: 200, dryRun: false }), {
    ...{ tasks: 2, exchanges: 8, messages: 4 },
  });
  assert.deepEqual(done, ["archive 1", "purge 1", "purge 5", "archive 7"]);
});

Deno.test("a clock that was wrong for a while erases nothing early: a task is as new as those before it", async () => {
  const purged: TaskId[] = [];
  const tasks = [
    task(1, { createdAt: 50, updatedAt: 60 }),
    task(2, { createdAt: 900, updatedAt: 910 }),
    // The clock was set back before these two, and forward again before the last.
    task(3, { createdAt: 1, updatedAt: 2 }),
    task(4, { createdAt: 70, updatedAt: 80 }),
    task(5, { createdAt: 920, updatedAt: 930 }),
  ];
  const service = {
    list: () => Promise.resolve(tasks),
    archive: () => Promise.resolve(task(1, {})),
    purge: (which: TaskId) => {
      purged.push(which);
      return Promise.resolve(task(1, {}));
    },
  };
  const inbox = { eraseBefore: () => Promise.resolve({ erased: 0 }) };
  const DAY = 86_400_000;
  let clock = 1_000, steady = 0;
  const ahead = makeClockDoubt({ lastEventAt: 930, now: () => clock, steady: () => steady });
  const parts = { service, exchanges, inbox, ahead, named: () => false };
  await retain(parts, { before: 500, dryRun: false });
  assert.deepEqual(purged, [id(1)]);
  // Three years forward in a moment: nothing is old for that.
  purged.length = 0;
  clock += 1_000 * DAY;
  assert.equal((await retain(parts, { before: clock - 30 * DAY, dryRun: true })).tasks, 0);
  // Three years that passed are three years.
  steady += 1_000 * DAY;
  assert.equal((await retain(parts, { before: clock - 30 * DAY, dryRun: true })).tasks, 5);
});

Deno.test("counts name every state, also those that nothing is in", async () => {
  const counts = await countState({
    tally: () =>
      Promise.resolve({
        statuses: new Map([["done", 2], ["open", 1]] as const),
        channels: new Map([["webhook", 3]]),
      }),
    inbox: { list: () => [] },
    exchanges,
  });
  assert.equal(counts.tasks["done"], 2);
  assert.equal(counts.tasks["expired"], 0);
  assert.equal(counts.inbox["held"], 0);
  assert.equal(counts.exchanges["inputRequired"], 3);
  assert.deepEqual(counts.channels, { webhook: 3 });
});

Deno.test("who asks what ended hears of each task once, and of nothing before it first asked", () => {
  const list = makeEndedList();
  const saw = (n: number, body: Record<string, string | boolean>): void =>
    list.saw({ task: id(n), kind: "taskStatus", body });
  saw(1, { status: "done" });
  const { tasks, next } = list.since(null);
  assert.deepEqual(tasks, []);
  saw(2, { status: "open" });
  saw(3, { status: "failed" });
  saw(3, { status: "failed", archived: true });
  assert.deepEqual(list.since(next), { tasks: [id(3)], next: 2 });
  assert.deepEqual(list.since(2), { tasks: [], next: 2 });
  // A place of an earlier kernel.
  assert.deepEqual(list.since(900), { tasks: [], next: 2 });
  for (let n = 0; n < 5_000; n++) saw(n, { status: "done" });
  assert.equal(list.since(2).tasks.length, 4_096);
  assert.equal(list.since(2).next, 5_002);
});

Deno.test("spans are made of public bodies: times, names and outcomes, and no content", async () => {
  const events = [
    ["taskCreated", 1_000, { channel: "webhook", profile: "guest", private: "DIGEST" }],
    ["inferred", 1_200, { pid: 2, turn: 1, model: "scripted", inputTokens: 5, nonce: "a" }],
    ["modelAsked", 1_300, { pid: 2, nonce: "b", model: "remote" }],
    ["inferred", 1_700, { pid: 2, nonce: "b", model: "remote" }],
    ["intent", 1_800, { pid: 2, call: "c1", tool: "file_read", lease: "l1" }],
    ["questionAsked", 1_850, { question: "q1", kind: "consent", tool: "file_read" }],
    ["questionAnswered", 1_890, { question: "q1", decision: "allow", by: "alice" }],
    ["outcome", 1_900, { pid: 2, call: "c1", tool: "file_read", outcome: "ok", resultHash: "h" }],
    ["refused", 1_950, { pid: 2, call: "c2", tool: "http_fetch", outcome: "refusedByPolicy" }],
    ["taskStatus", 2_000, { status: "failed", exit: 1 }],
  ] as const;
  const rows = events.map(([kind, at, body], n): StoredEvent => ({
    seq: n + 1,
    task: id(1),
    n,
    kind,
    at,
    body: JSON.stringify(body),
    hash: Digest.parse("0".repeat(64)),
  }));
  const store = {
    events: ({ fromN = 0 }: { readonly fromN?: number }) =>
      Promise.resolve(rows.filter(({ n }) => n >= fromN)),
  };
  const spans = await taskSpans(store, id(1));
  assert.deepEqual(spans.map(({ kind, from, to, ok }) => [kind, from, to, ok]), [
    ["task", 1_000, 2_000, false],
    ["inference", 1_000, 1_200, true],
    ["inference", 1_300, 1_700, true],
    ["question", 1_850, 1_890, true],
    ["call", 1_800, 1_900, true],
    ["call", 1_950, 1_950, false],
  ]);
  const text = JSON.stringify(spans);
  for (const secret of ["DIGEST", "l1", "alice", '"h"']) assert.ok(!text.includes(secret), secret);
  assert.deepEqual(await taskSpans({ events: () => Promise.resolve([]) }, id(2)), []);
});
