/** An agent of others wants to spend without being counted: mallory's injection would use up alice's account. */
import assert from "node:assert/strict";
import { addForeign, handOver, startProvider } from "../../fake/foreign_agent.ts";
import { onMachine } from "../../fake/remit.ts";
import { readRun } from "../../fake/run_document.ts";
import { alicesPlans } from "../../fake/scenes.ts";

Deno.test("an answer that is not heard to its end is counted, so is one that tells no tokens, and another model is the dearest", async () => {
  let tells = 0;
  await using provider = startProvider((target) => {
    tells += 1;
    if (target.includes("completions")) return Response.json({ choices: ["x".repeat(400)] });
    // The rest of this stream never comes.
    const body = new ReadableStream<Uint8Array>({
      start: (to) =>
        to.enqueue(
          new TextEncoder().encode('data: {"response":{"usage":{"input_tokens":100000}}}\n\n'),
        ),
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  });
  await onMachine(async (machine) => {
    await alicesPlans(machine);
    await machine.write("remit.yaml", "version: 1\nlimits: { money: 90, moneyPerMinute: 1000 }\n");
    await machine.remit(["trust"]);
    await addForeign(machine, provider, ["--price", "1/1", "--use", "small"]);
    const run = await handOver(machine, [
      'early /v1/responses {"model":"small","max_output_tokens":9,"input":[]}',
      'early /v1/responses {"model":"large","max_output_tokens":9,"input":[]}',
      'ask POST /v1/chat/completions {"model":"small","messages":[]}',
    ]);
    assert.equal(tells, 3, run.output);
    const { spent } = readRun(run.document);
    assert.ok(spent.inputTokens >= 200_000, run.output);
    assert.ok(spent.outputTokens >= 100, "what nobody told is estimated");
    // 100,000 tokens of the model that has a price, and as many of one that counts as the dearest.
    assert.ok(spent.money > 3 && spent.money < 4, String(spent.money));
    const { rows } = await machine.json(["cost", "--by", "model"]) as {
      rows: readonly { model: string }[];
    };
    const models = rows.map(({ model }) => model).filter((model) => model.startsWith("fake:"));
    assert.deepEqual(models.toSorted(), ["fake:large", "fake:small"]);
  });
});
