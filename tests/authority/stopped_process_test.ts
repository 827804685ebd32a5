import assert from "node:assert/strict";
import { besiege } from "../fake/siege.ts";
import { CALL } from "./_desk.ts";

/** Reads a file when it is told to, and then is done. */
const PROGRAM = `({ async turn(ports) { ${CALL}
  await new Promise((resolve) => ports.listen({ signal: resolve }));
  return { stop: "answered", text: (await call("r", "file_read", { path: "desk/notes/plan.md" })).content };
} })`;

Deno.test("mallory's process would have gone on calling after it was stopped, and never come back", async () => {
  await besiege(async (siege) => {
    const task = await siege.run({ program: PROGRAM });
    let rows: { pid: number; state: string; os: number[] }[] = [];
    while ((rows[0]?.os.length ?? 0) === 0) rows = await siege.ask("ps", null) as typeof rows;
    const pid = rows[0]?.pid;
    await siege.ask("kill", { pid, signal: "SIGSTOP" });
    await siege.ask("kill", { pid, signal: "SIGCTXPRESSURE" });
    for (let i = 0; i < 100; i++) rows = await siege.ask("ps", null) as typeof rows;
    assert.equal(rows[0]?.state, "stopped");
    assert.equal(task.events.some(({ event }) => event === "intent"), false);
    await siege.ask("kill", { pid, signal: "SIGCONT" });
    assert.equal((await task.end).exit, 0);
    assert.equal((await task.task())["answer"], "call the supplier\n");
  });
});
