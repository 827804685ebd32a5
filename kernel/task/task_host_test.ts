import assert from "node:assert/strict";
import { makeTurns } from "./task_host.ts";

Deno.test("who comes alone passes at once, a crowd one by one and in order", async () => {
  const timers: (() => void)[] = [];
  const turn = makeTurns({
    after(_ms, f): () => void {
      timers.push(f);
      return () => undefined;
    },
  });
  const passed: string[] = [];
  const all = ["alice", "bob", "carol"].map((who) => turn().then(() => passed.push(who)));
  await all[0];
  assert.deepEqual(passed, ["alice"]);
  timers.shift()?.();
  await all[1];
  assert.deepEqual([passed, timers.length], [["alice", "bob"], 1]);
  timers.shift()?.();
  await all[2];
  timers.shift()?.();
  await turn();
  assert.deepEqual([passed, timers.length], [["alice", "bob", "carol"], 1]);
});
