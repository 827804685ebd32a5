import assert from "node:assert/strict";
import { TaskId, toJson } from "../../contracts/mod.ts";
import { historyOf, memoryLog, requestOf, storeOf } from "../_fixture/fakes.ts";
import { rememberTask } from "./history.ts";
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
