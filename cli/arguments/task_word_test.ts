import assert from "node:assert/strict";
import { fakePowers } from "../_fixture/world.ts";
import { TASK, taskJson } from "../_fixture/samples.ts";
import { runCommandLine } from "../_fixture/world.ts";
import { nearest } from "../../text/nearest.ts";
import { recordOf } from "../command.ts";
import type { Json } from "../../contracts/base/mod.ts";

const OLDER = `${TASK.slice(0, 4)}zzzzzzzzz`;
const older: Json = {
  ...recordOf(taskJson()),
  id: OLDER,
  createdAt: 0,
  status: "failed",
  objective: "Sweep",
};
/** As a kernel answers: oldest first, what the query leaves. */
const tasksOf = (all: readonly Json[]) => (body: Json): Json => {
  const { prefix, limit, statuses, before } = recordOf(body);
  const begin = before === undefined
    ? all
    : all.slice(0, all.findIndex((each) => recordOf(each)["id"] === before));
  const found = begin.map(recordOf).filter(({ id, status }) =>
    String(id).startsWith(typeof prefix === "string" ? prefix : "") &&
    (!Array.isArray(statuses) || statuses.includes(String(status)))
  );
  return found.slice(-Number(limit ?? 1_000));
};
const world = (): ReturnType<typeof fakePowers> =>
  fakePowers({
    ops: { tasks: tasksOf([older, taskJson()]), receipts: () => [], task: () => taskJson() },
  });

Deno.test("carol names a task by its first letters or as last, and hears when that is none or several", async () => {
  const powers = world();
  for (const word of [TASK.slice(0, 6), "last", TASK]) {
    assert.equal(await runCommandLine(["receipt", "show", word], powers), 0, word);
    assert.deepEqual(powers.kernels_.last?.asked.at(-1), ["receipts", { task: TASK }]);
  }
  const wrong: readonly (readonly [string, RegExp])[] = [
    [TASK.slice(0, 4), /2 begin so; "remit task list"/],
    ["tqqqqq", /there is none; "remit task list"/],
    ["my task", /as the id of a task: "remit task list" names them/],
  ];
  for (const [word, said] of wrong) {
    const deaf = world();
    assert.equal(await runCommandLine(["receipt", "show", word], deaf), 2, word);
    assert.match(deaf.screen.lines.join("\n"), said);
  }
});

Deno.test("carol resumes a task by its first letters or as last, and a conversation by the name she gave it", async () => {
  const resumed = async (word: string, names: readonly string[]): Promise<Json | undefined> => {
    const powers = fakePowers({
      ops: {
        tasks: tasksOf([older, taskJson()]),
        conversations: () => names.map((name) => ({ name, task: OLDER })),
        conversation: () => ({ task: OLDER, messages: [] }),
        task: () => taskJson({ status: "done" }),
      },
    });
    await runCommandLine(["resume", word], powers);
    return powers.kernels_.last?.asked.findLast(([op]) => op === "task")?.[1];
  };
  for (const word of [TASK.slice(0, 6), "last", TASK]) {
    assert.deepEqual(await resumed(word, ["plans"]), { task: TASK }, word);
  }
  for (const name of [TASK.slice(0, 6), "last", "plans"]) {
    assert.deepEqual(await resumed(name, [name]), { task: OLDER }, name);
  }
});

Deno.test("what cannot be taken back is done to a named task only: last purges nothing", async () => {
  for (const verb of ["purge", "cancel", "archive"]) {
    const powers = world();
    assert.equal(await runCommandLine(["task", verb, "last"], powers), 2);
    assert.deepEqual(powers.kernels_.last?.asked ?? [], []);
  }
});

Deno.test("tasks lists them by state and time, whole in a pipe; --json gives the same choice", async () => {
  const powers = world();
  assert.equal(await runCommandLine(["tasks"], powers), 0);
  assert.match(powers.screen.outs.join(""), /^TASK +STATUS +AGE +REQUEST\n/);
  const failed = world();
  assert.equal(
    await runCommandLine(["task", "list", "--status", "failed", "--json"], failed),
    0,
  );
  assert.deepEqual(JSON.parse(failed.screen.outs.join("")), [older]);
  const since = world();
  assert.equal(
    await runCommandLine(["tasks", "--since", "1d", "--status", "failed", "--all"], since),
    0,
  );
  assert.deepEqual(since.screen.outs, ["no task is so\n"]);
  assert.deepEqual(since.kernels_.last?.asked, [
    ["tasks", { archived: true, statuses: ["failed"], limit: 200 }],
  ]);
  assert.equal(await runCommandLine(["tasks", "--status", "gone"], world()), 2);
});

Deno.test("last is the task that the log has last, also after the clock was set back", async () => {
  const powers = fakePowers({
    ops: {
      // Made first, an hour later by the clock of then.
      tasks: tasksOf([{ ...recordOf(older), createdAt: 9e15 }, taskJson()]),
      receipts: () => [],
    },
  });
  assert.equal(await runCommandLine(["receipt", "show", "last"], powers), 0);
  assert.deepEqual(powers.kernels_.last?.asked.at(-1), ["receipts", { task: TASK }]);
});

Deno.test("tasks lists a page of the newest and says how to see more", async () => {
  const many = Array.from({ length: 130 }, (_, n): Json => ({
    ...recordOf(taskJson()),
    id: `t${String(n).padStart(12, "0")}`,
  }));
  const listed = async (...words: string[]): Promise<{ ids: string[]; said: string }> => {
    const powers = fakePowers({ ops: { tasks: tasksOf(many) } });
    assert.equal(await runCommandLine(["tasks", "--json", ...words], powers), 0);
    const rows = JSON.parse(powers.screen.outs.join("")) as { id: string }[];
    return { ids: rows.map(({ id }) => id), said: powers.screen.lines.join("\n") };
  };
  const ids = many.map((each) => String(recordOf(each)["id"]));
  const page = await listed();
  assert.deepEqual(page.ids, ids.slice(-50));
  assert.match(page.said, new RegExp(`the newest 50; ".* task list --before ${ids[80]}"`));
  assert.deepEqual((await listed("--before", ids[80] ?? "")).ids, ids.slice(30, 80));
  assert.deepEqual((await listed("--limit", "3")).ids, ids.slice(-3));
  const all = await listed("--all");
  assert.deepEqual(all, { ids, said: "" });
  const powers = fakePowers({ ops: { tasks: tasksOf(many) } });
  assert.equal(await runCommandLine(["tasks", "--limit", "none"], powers), 2);
});

Deno.test("a query that nothing fits says so beside the output, and which words are on record", async () => {
  const powers = fakePowers({
    ops: {
      auditQuery: (body) =>
        Object.hasOwn(recordOf(body), "model") ? [] : [{ model: "qwen3", tool: "file_read" }],
      more: () => [],
    },
  });
  assert.equal(await runCommandLine(["audit", "query", "--model", "ollama:qwen3"], powers), 0);
  assert.deepEqual(powers.screen.outs, []);
  assert.deepEqual(powers.screen.lines, ['no call fits, of 1; --model may be "qwen3"']);
});

Deno.test("a slip of a word is understood, another word is not", async () => {
  assert.equal(nearest("questoins", ["ps", "questions", "answer"]), "questions");
  assert.equal(nearest("xy", ["ps", "undo"]), undefined);
  assert.equal(nearest("foo", ["log", "can"]), undefined);
  const powers = world();
  assert.equal(await runCommandLine(["undoo"], powers), 2);
  assert.match(powers.screen.lines[0] ?? "", /did you mean undo\? there is run,/);
  assert.equal(await runCommandLine(["log", TASK, "--folow"], powers), 2);
  assert.match(powers.screen.lines[1] ?? "", /did you mean --follow\?/);
});
