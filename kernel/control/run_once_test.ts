import assert from "node:assert/strict";
import type { AgentTask, TaskRequest } from "../../contracts/task/mod.ts";
import { makeOnce } from "./run_once.ts";

const request = (
  channel: string,
  session = "s000000000001",
  principal = "webhook:ci",
): TaskRequest => ({ ingress: { channel, principal }, session }) as unknown as TaskRequest;

/** A service that keeps what was created, as the kernel's log does over a restart. */
function service(): {
  readonly tasks: AgentTask[];
  list(): Promise<readonly AgentTask[]>;
  create(request: TaskRequest): Promise<AgentTask>;
  fail(next: boolean): void;
} {
  const tasks: AgentTask[] = [];
  let failing = false;
  return {
    tasks,
    list: () => Promise.resolve([...tasks]),
    async create(asked): Promise<AgentTask> {
      await Promise.resolve();
      if (failing) throw new Error("no room");
      const task = { ...asked, id: `t${tasks.length}` } as unknown as AgentTask;
      tasks.push(task);
      return task;
    },
    fail: (next) => void (failing = next),
  };
}

Deno.test("the same firing is one task: one after another, at once, and over another kernel", async () => {
  const s = service();
  const run = makeOnce(s);
  assert.deepEqual(await run(request("webhook")), { task: "t0" });
  assert.deepEqual(await run(request("webhook")), { task: "t0", already: true });
  const two = await Promise.all([
    run(request("schedule", "s000000000002")),
    run(request("schedule", "s000000000002")),
  ]);
  assert.deepEqual(two, [{ task: "t1" }, { task: "t1", already: true }]);
  assert.deepEqual(await makeOnce(s)(request("webhook")), { task: "t0", already: true });
  assert.deepEqual(await run(request("webhook", "s000000000001", "webhook:cd")), { task: "t2" });
});

Deno.test("a firing that failed may be asked again, and other channels make a task each time", async () => {
  const s = service();
  const run = makeOnce(s);
  s.fail(true);
  await assert.rejects(run(request("webhook")), /no room/);
  s.fail(false);
  assert.deepEqual(await run(request("webhook")), { task: "t0" });
  for (const channel of ["terminal", "a2a", "mcp", "mail"]) await run(request(channel));
  assert.equal(s.tasks.length, 5);
});
