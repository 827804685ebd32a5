import assert from "node:assert/strict";
import { besiege } from "../fake/siege.ts";
import { waitUntil } from "../fake/wait_until.ts";
import { CALL } from "./_desk.ts";

/** Looks at a folder, so that one sees that it listens, reads a file when it is told to, and then is done. */
const PROGRAM = `({ async turn(ports) { ${CALL}
  const told = new Promise((resolve) => ports.listen({ signal: resolve }));
  await call("l", "file_list", { path: "desk" });
  await told;
  return { stop: "answered", text: (await call("r", "file_read", { path: "desk/notes/plan.md" })).content };
} })`;

Deno.test("mallory's process would have gone on calling after it was stopped, and never come back", async () => {
  await besiege(async (siege) => {
    const task = await siege.run({ program: PROGRAM });
    const intents = (): number => task.events.filter(({ event }) => event === "intent").length;
    await waitUntil(
      "a program that listens",
      () => task.events.some(({ event }) => event === "outcome") ? true : undefined,
    );
    let rows = await siege.ask("ps", null) as { pid: number; state: string; os: number[] }[];
    const pid = rows[0]?.pid;
    const before = intents();
    await siege.ask("kill", { pid, signal: "SIGSTOP" });
    await siege.ask("kill", { pid, signal: "SIGCTXPRESSURE" });
    for (let i = 0; i < 100; i++) rows = await siege.ask("ps", null) as typeof rows;
    assert.equal(rows[0]?.state, "stopped");
    assert.equal(intents(), before);
    await siege.ask("kill", { pid, signal: "SIGCONT" });
    assert.equal((await task.end).exit, 0);
    assert.equal((await task.task())["answer"], "call the supplier\n");
  });
});
