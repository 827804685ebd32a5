/** An agent's health check: one that computes for ever is ended, and it is said why. */
import assert from "node:assert/strict";
import type { AgentSpec } from "../../contracts/policy/mod.ts";
import { besiege, runs } from "../fake/siege.ts";

const SPINS = `({ turn: async () => { for (;;); } })`;
/** The standard agent waits in a read for its slow model, and answers from there. */
const SLOW = "\n  - { stream: { firstMs: 4500 }, say: still here }";

const AGENT: AgentSpec = {
  name: "checked",
  labels: {},
  persona: "",
  limits: {},
  env: {},
  healthcheck: { intervalMs: 1_000, timeoutMs: 2_500, retries: 1 },
};

Deno.test("an agent that computes for ever would have kept its task until its wall clock", async () => {
  await besiege(async (siege) => {
    // Beside it one that takes as long and answers its checks.
    const well = await siege.run({ turns: SLOW, agent: AGENT });
    const task = await siege.run({ program: SPINS, agent: AGENT });
    assert.equal((await task.end).status, "failed");
    assert.match(
      String((await task.task())["reason"]),
      /did not answer its health check within 2500 ms/,
    );
    const rows = await siege.ask("ps", null) as { task: string; os: number[] }[];
    assert.deepEqual(
      rows.filter((row) => row.task === task.id).flatMap(({ os }) => os).filter(runs),
      [],
    );
    assert.equal((await well.end).status, "done");
    assert.equal((await well.task())["answer"], "still here");
  });
});
