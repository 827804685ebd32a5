import assert from "node:assert/strict";
import type { TaskId } from "../../contracts/authority/mod.ts";
import type { AgentTask, Phase } from "../../contracts/task/mod.ts";
import { makePhaseMove, type PhaseParts } from "./operator_change.ts";

/** A task whose record is written when a test says so. */
function desk(phase: Phase) {
  const task = { id: "t1", status: "open", phase };
  const rows = [{ pid: 1, task: "t1", phase }];
  const writes: (() => void)[] = [];
  const parts = {
    processes: {
      list: () => rows,
      setPhase: (pid: number, to: Phase) => {
        for (const row of rows) if (row.pid === pid) row.phase = to;
      },
    },
    tasks: { family: () => undefined },
    service: { get: () => ({ ...task }) },
    keeper: {
      record: (_task: string, [event]: readonly { body: { phase: Phase } }[]) =>
        new Promise((resolve) => {
          writes.push(() => {
            task.phase = event?.body.phase ?? task.phase;
            resolve({ ...task });
          });
        }),
    },
    isFinal: () => false,
  };
  // A part of each of these parts is all that a move needs.
  const move = makePhaseMove(parts as unknown as PhaseParts);
  const to = (next: Phase): Promise<AgentTask> => move("t1" as TaskId, next);
  const write = async (): Promise<void> => {
    for (let n = 0; n < 20 && writes.length === 0; n++) await Promise.resolve();
    writes.shift()?.();
  };
  return { task, rows, to, write };
}

Deno.test("carol takes her word back before it was written: the last one holds, not the first", async () => {
  const { task, rows, to, write } = desk("plan");
  const moves = [to("work"), to("plan")];
  await write();
  await write();
  await Promise.all(moves);
  assert.deepEqual([task.phase, rows[0]?.phase], ["plan", "plan"]);
});

Deno.test("a process that begins while a narrower phase is being written is in it, too", async () => {
  const { rows, to, write } = desk("work");
  const move = to("plan");
  await Promise.resolve();
  await Promise.resolve();
  rows.push({ pid: 2, task: "t1", phase: "work" });
  await write();
  await move;
  assert.deepEqual(rows.map(({ phase }) => phase), ["plan", "plan"]);
});
