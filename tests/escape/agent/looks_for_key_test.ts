/** An agent of others looks for its provider's key: with it, mallory would spend on alice's account from anywhere. */
import assert from "node:assert/strict";
import { addForeign, AGENT_KEY, handOver, startProvider } from "../../fake/foreign_agent.ts";
import { onMachine } from "../../fake/remit.ts";
import { alicesPlans } from "../../fake/scenes.ts";

Deno.test("an agent of others finds its provider's key nowhere: not in its environment, in /proc, nor in an answer that quotes it", async () => {
  await using provider = startProvider((target) =>
    target === "/v1/models"
      ? new Response(`Incorrect API key provided: ${AGENT_KEY}`, { status: 401 })
      : Response.json({ usage: {} })
  );
  await onMachine(async (machine) => {
    await alicesPlans(machine);
    await addForeign(machine, provider);
    const backwards = [...AGENT_KEY].reverse().join("");
    const run = await handOver(machine, ["env", `hunt ${backwards}`, "ask GET /v1/models"]);
    assert.match(run.answer, /hunt: found nothing/, run.output);
    assert.match(run.answer, /ask: 401 Incorrect API key provided: \[key\]/);
    assert.ok(!run.output.includes(AGENT_KEY));
    // The relay had it, and dropped the agent's own.
    assert.equal(provider.asked[0]?.headers.get("authorization"), `Bearer ${AGENT_KEY}`);
  });
});
