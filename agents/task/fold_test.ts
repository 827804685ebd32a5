import assert from "node:assert/strict";
import fc from "fast-check";
import { TaskId } from "../../contracts/authority/mod.ts";
import { toJson } from "../../contracts/base/mod.ts";
import { TASK_TRANSITIONS, TaskStatus } from "../../contracts/task/mod.ts";
import { checkTransition, foldTask, isFinal } from "./fold.ts";
import { endingOf } from "./ending.ts";
import { requestOf } from "../_fixture/fakes.ts";

const TASK = TaskId.parse("t000000000000");
const status = fc.constantFrom(...TaskStatus.options);

Deno.test("no walk through the task's states ever leaves a final one", () => {
  fc.assert(fc.property(fc.array(status, { maxLength: 30 }), (walk) => {
    let at: TaskStatus = "open";
    for (const next of walk) {
      try {
        checkTransition(TASK, at, next);
      } catch {
        continue;
      }
      if (isFinal(at)) assert.equal(next, at);
      at = next;
    }
  }));
});

Deno.test("each allowed step folds to the status that the event names, each other is a conflict", () => {
  for (const from of TaskStatus.options) {
    for (const to of TaskStatus.options) {
      const allowed = from === to || TASK_TRANSITIONS[from].includes(to);
      if (allowed) assert.doesNotThrow(() => checkTransition(TASK, from, to));
      else assert.throws(() => checkTransition(TASK, from, to), { code: "conflict" });
    }
  }
});

Deno.test("a log that begins with anything but taskCreated is corrupt", () => {
  assert.throws(
    () => foldTask(TASK, undefined, { kind: "taskStatus", at: 1, body: { status: "done" } }),
    { code: "storeCorrupt" },
  );
  assert.throws(
    () =>
      foldTask(TASK, undefined, { kind: "taskCreated", at: 1, body: {}, private: { request: {} } }),
    { code: "storeCorrupt" },
  );
});

Deno.test("a purge folds to a task without request, answer or mounts", () => {
  const created = foldTask(TASK, undefined, {
    kind: "taskCreated",
    at: 1,
    body: {},
    private: { request: toJson(requestOf()) },
  });
  const done = foldTask(TASK, created, {
    kind: "taskStatus",
    at: 2,
    body: { status: "done" },
    private: { answer: "tidied my notes" },
  });
  const purged = foldTask(TASK, done, { kind: "purged", at: 3, body: {} });
  assert.equal(JSON.stringify(purged).includes("notes"), false);
  assert.equal(purged.status, "done");
});

Deno.test("an unfinished turn never ends a task as done", () => {
  const stops = [
    "iterations",
    "cancelled",
    "terminated",
    "contextOverflow",
    "length",
    "budget",
    "upstream",
    "brake",
  ] as const;
  for (const stop of stops) {
    const ending = endingOf({ stop, text: "" }, { kind: "nothing" }, {
      interactive: false,
      contaminated: false,
    });
    assert.notEqual(ending.status, "done");
    assert.notEqual(ending.exit, 0);
  }
});

Deno.test("what mallory's page made of a task stays, whatever better is read after it", () => {
  const created = foldTask(TASK, undefined, {
    kind: "taskCreated",
    at: 1,
    body: {},
    private: { request: toJson(requestOf()) },
  });
  const results = [["RED", "secret"], ["YELLOW", "internal"], ["BLUE", "public"]] as const;
  const read = results.reduce(
    (task, [colour, label]) =>
      foldTask(TASK, task, { kind: "outcome", at: 2, body: { colour, label } }),
    created,
  );
  assert.deepEqual([read.colour, read.label], ["RED", "secret"]);
});
