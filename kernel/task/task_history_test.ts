import assert from "node:assert/strict";
import { Digest, Pid, type Scope, TaskId } from "../../contracts/authority/mod.ts";
import type { JsonObject } from "../../contracts/base/mod.ts";
import type { EventLog, NewEvent, Store, StoredEvent } from "../../contracts/task/mod.ts";
import { makeEarlierCalls, readLeases } from "./task_history.ts";
import { makeLeases } from "../core/lease/leases.ts";

const TASKS = ["t000000000001", "t000000000002"].map((id) => TaskId.parse(id));
const HASH = Digest.parse("0".repeat(64));
const read = (path: string): Scope => ({ resource: "mount", right: "read", path });

/** Logs of tasks, and the lease tables of one kernel after another over them. */
function world() {
  const rows: StoredEvent[] = [];
  const secrets = new Map<StoredEvent, JsonObject>();
  let [now, ids] = [0, 0];
  const append: EventLog["append"] = (task, events: readonly NewEvent[]) => {
    for (const { kind, body, private: secret } of events) {
      const n = rows.length;
      const row = { seq: n + 1, task, n, kind, at: now, hash: HASH, body: JSON.stringify(body) };
      rows.push(row);
      if (secret !== undefined) secrets.set(row, secret);
    }
    return Promise.resolve([]);
  };
  const store: Pick<Store, "events"> = {
    events: ({ task, kinds, newest, afterSeq = 0, limit = 1_000 }) => {
      const found = rows.filter((row) =>
        (task === undefined || row.task === task) && row.seq > afterSeq &&
        (kinds === undefined || kinds.includes(row.kind))
      );
      return Promise.resolve((newest === true ? found.reverse() : found).slice(0, limit));
    },
  };
  const readPrivate = (row: StoredEvent) => Promise.resolve(secrets.get(row));
  return {
    append,
    secrets,
    turn: (ms: number) => now += ms,
    kernel: () =>
      makeLeases({
        log: { append },
        powers: {
          now: () => now,
          id: (prefix) => prefix + (++ids).toString(36).padStart(12, "0"),
          after: () => () => undefined,
        },
      }),
    earlier: makeEarlierCalls(store, readPrivate),
    ever: (live: Parameters<typeof readLeases>[2]) =>
      readLeases({ store, readPrivate }, TASKS.toReversed().map((id) => ({ id })), live),
  };
}

Deno.test("leases of an earlier kernel are listed, have ended, and give nothing to a process of the same number", async () => {
  const at = world();
  const [one, two] = TASKS as [TaskId, TaskId];
  const pid = Pid.parse(2);
  const to = { task: one, pid, expiresAt: 1_000, reason: "the task's request" };
  const first = at.kernel();
  const [desk, notes] = await first.grantAll([
    { ...to, scope: read("desk") },
    { ...to, scope: read("notes") },
  ]);
  const page = await first.grant({ ...to, task: two, scope: read("page"), reason: "an answer" });
  at.turn(5);
  await first.renew([notes?.id ?? page.id], 2_000);
  await first.revoke(page.id, "taken back");
  at.turn(5);
  await at.append(one, [{ kind: "taskStatus", body: { status: "done" } }]);

  const second = at.kernel();
  assert.ok(desk !== undefined && !second.alive(desk.id));
  assert.equal(second.covering(pid, read("desk")), undefined);
  const [own] = await second.grantAll([{ ...to, task: two, scope: read("page") }]);
  const all = await at.ever(second.list());
  assert.deepEqual(
    all.map((
      { scope, reason, grantedAt, expiresAt, revokedAt },
    ) => [scope.path, reason, grantedAt, expiresAt, revokedAt]),
    [
      ["desk", "the task's request", 0, 1_000, 10],
      ["notes", "the task's request", 0, 2_000, 10],
      ["page", "an answer", 0, 1_000, 5],
      ["page", "the task's request", 10, 1_000, undefined],
    ],
  );
  assert.deepEqual(all.at(-1), own);
});

Deno.test("what a purged task's leases were for is not told", async () => {
  const at = world();
  const [task] = TASKS as [TaskId];
  const to = { task, pid: Pid.parse(2), expiresAt: 1_000, reason: "the task's request" };
  await at.kernel().grantAll([{ ...to, scope: read("secret-plan") }]);
  at.secrets.clear();
  assert.deepEqual(await at.ever([]), []);
});

Deno.test("the last call of a tool is that of the task, else of another one of the same principal whose words are kept", async () => {
  const at = world();
  const [one, two] = TASKS as [TaskId, TaskId];
  const went = (task: TaskId, key: string, more: JsonObject = {}): Promise<unknown> =>
    at.append(task, [{
      kind: "intent",
      body: { tool: "mcp_bank_pay", principal: "alice", ...more },
      private: { key, arguments: `{"of":"${key}"}` },
    }]);
  const found = async (task: TaskId, key = "now"): Promise<string | undefined> =>
    (await at.earlier({ task, principal: "alice" }, { tool: "mcp_bank_pay", key }))?.argumentsText;
  assert.equal(await found(two), undefined);
  await went(one, "a");
  await went(one, "b", { principal: "mallory" });
  await went(one, "c", { tool: "mcp_bank_read" });
  assert.equal(await found(two), '{"of":"a"}');
  await went(two, "d");
  await went(one, "e");
  assert.equal(await found(two), '{"of":"d"}', "its own");
  assert.equal(await found(two, "d"), '{"of":"e"}', "a call that is made anew is not its own past");
  at.secrets.clear();
  assert.equal(await found(two), undefined, "what was erased tells nothing");
});
