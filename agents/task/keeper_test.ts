import assert from "node:assert/strict";
import { TaskId } from "../../contracts/authority/mod.ts";
import { toJson } from "../../contracts/base/mod.ts";
import { historyOf, memoryLog, requestOf, storeOf } from "../_fixture/fakes.ts";
import { rememberTask } from "./fold.ts";
import { makeTaskKeeper } from "./keeper.ts";

Deno.test("a record has the times of its events, however often the clock is read", async () => {
  const log = memoryLog();
  let clock = 1_000;
  const keeper = makeTaskKeeper({
    log,
    store: storeOf(log),
    history: historyOf(log),
    now: () => clock++,
  });
  const id = TaskId.parse("t000000000001");
  const request = requestOf();
  await keeper.record(id, [{
    kind: "taskCreated",
    body: { harness: "test" },
    private: { request: toJson(request) },
  }]);
  const kept = await keeper.record(id, [
    { kind: "phase", body: { phase: "plan" } },
    { kind: "taskStatus", body: { status: "done", exit: 0 } },
  ]);
  const remembered = await rememberTask(historyOf(log), id);
  assert.deepEqual(remembered?.task, kept);
});

Deno.test("tasks that are over are in the store alone, in the order of the log, and read as ever", async () => {
  const log = memoryLog();
  const asked: string[] = [];
  let clock = 1_000_000;
  const open = () =>
    makeTaskKeeper({
      log,
      store: {
        ...storeOf(log),
        documents(query) {
          if (query.kind === "task") asked.push(String(query.limit));
          return storeOf(log).documents(query);
        },
      },
      history: {
        ...historyOf(log),
        events(task) {
          asked.push(`events of ${task}`);
          return historyOf(log).events(task);
        },
      },
      now: () => clock,
    });
  const first = open();
  await first.load();
  const ids = Array.from(
    { length: 600 },
    (_, n) => TaskId.parse(`t${String(600 - n).padStart(12, "0")}`),
  );
  for (const [n, id] of ids.entries()) {
    // The clock is set back again and again: the order is the log's.
    clock -= 1_000;
    await first.record(id, [{
      kind: "taskCreated",
      body: { harness: "test" },
      private: { request: toJson(requestOf()) },
    }]);
    if (n === 300) continue;
    const body = { status: n % 2 === 0 ? "done" : "failed", exit: 0 };
    await first.record(id, [{ kind: "taskStatus", body, private: {} }]);
  }
  const second = open();
  asked.length = 0;
  assert.deepEqual((await second.load()).map(({ id }) => id), [ids[300]]);
  assert.deepEqual(asked.filter((each) => each.startsWith("events")), [`events of ${ids[300]}`]);
  assert.deepEqual((await second.list({ limit: 3 })).map(({ id }) => id), ids.slice(-3));
  const before = await second.list({ limit: 2, before: ids[100], statuses: ["done"] });
  assert.deepEqual(before.map(({ id }) => id), [ids[96], ids[98]]);
  assert.deepEqual((await second.list()).length, 600);
  assert.equal(second.need(ids[7] ?? ids[0] as TaskId).status, "failed");
  assert.deepEqual(second.get(ids[7] ?? ids[0] as TaskId), first.get(ids[7] ?? ids[0] as TaskId));
  assert.equal(second.get(TaskId.parse("tnobody000000")), undefined);
  const [archived] = ids;
  assert.ok(archived !== undefined);
  await second.record(archived, [{ kind: "taskStatus", body: { status: "done", archived: true } }]);
  assert.equal((await second.list({ oldest: true, limit: 1 }))[0]?.id, ids[1]);
  assert.equal((await second.list({ oldest: true, limit: 1, archived: true }))[0]?.id, archived);
  const tally = await second.tally();
  assert.deepEqual([...tally.statuses].sort(), [["done", 299], ["failed", 300], ["open", 1]]);
  assert.deepEqual([...tally.channels], [["terminal", 600]]);
});

Deno.test("a state whose log has tasks without documents is given them once", async () => {
  const log = memoryLog();
  const id = TaskId.parse("t000000000001");
  const keeper = () =>
    makeTaskKeeper({ log, store: storeOf(log), history: historyOf(log), now: () => 1_000 });
  await keeper().record(id, [
    { kind: "taskCreated", body: {}, private: { request: toJson(requestOf()) } },
    { kind: "taskStatus", body: { status: "done", exit: 0 }, private: {} },
  ]);
  // As after a repair, which makes projections anew.
  log.documents.delete(`task ${id}`);
  const next = keeper();
  assert.deepEqual(await next.load(), []);
  assert.equal(next.need(id).status, "done");
  assert.equal(keeper().need(id).status, "done");
});
