/** An agent of others reaches for more than inference: another host, the machine, its provider's file store and search. */
import assert from "node:assert/strict";
import { addForeign, handOver, startProvider } from "../../fake/foreign_agent.ts";
import { onMachine } from "../../fake/remit.ts";
import { alicesPlans } from "../../fake/scenes.ts";

Deno.test("an agent of others reaches no host, no port of the machine, and of its provider only inference", async () => {
  await using provider = startProvider();
  await onMachine(async (machine) => {
    await alicesPlans(machine);
    await addForeign(machine, provider);
    const { port } = new URL(provider.origin);
    const run = await handOver(machine, [
      `connect 127.0.0.1 ${port}`,
      "connect 1.1.1.1 443",
      "connect 169.254.169.254 80",
      "ask POST /v1/files {}",
      "ask GET /v1/files",
      'ask POST /v1/responses {"tools":[{"type":"web_search"}]}',
      'ask POST /v1/responses {"tools":[{"type":"mcp","server_url":"https://mallory.example"}]}',
      'ask POST /v1/responses {"store":true}',
      'ask POST /v1/responses {"input":[{"content":[{"image_url":"https://mallory.example/?q=1"}]}]}',
    ]);
    assert.equal((run.answer.match(/connect: failed/g) ?? []).length, 3, run.output);
    assert.equal((run.answer.match(/ask: 403/g) ?? []).length, 6, run.answer);
    assert.match(run.answer, /refused at the provider's relay: POST \/v1\/files/);
    assert.deepEqual(provider.asked, []);
  });
});
