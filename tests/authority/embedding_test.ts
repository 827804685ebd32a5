/** Whose texts may go to which embedder, and what is on record of those that left. */
import assert from "node:assert/strict";
import { withProvider } from "./_models.ts";

const TEXTS = ["the supplier's price", "a puppy"];
interface Vectors {
  readonly vectors: readonly (readonly number[])[];
  readonly money: number;
}

Deno.test("texts above a provider's clearance would have left with an embedding, as would those of a forbidden model", async () => {
  await withProvider(async ({ provider, choice, ask, sink }) => {
    const { config } = choice("e", { price: { input: 2, output: 0 } });
    const model = { ref: "openai-embed:e", config };
    const embed = (label: string): Promise<unknown> => ask("embed", { model, texts: TEXTS, label });
    await assert.rejects(embed("secret"), /conversation is secret.*cleared for internal/);
    assert.ok(provider.received.every(({ body }) => !body.includes("supplier")));

    const { vectors, money } = await embed("internal") as Vectors;
    assert.equal(vectors.length, 2);
    for (const vector of vectors) {
      const length = Math.hypot(...vector);
      assert.ok(Math.abs(length - 1) < 1e-5, `${length}`);
    }
    assert.ok(money > 0 && money < 0.001);
    assert.equal(provider.received.filter(({ body }) => body.includes("supplier")).length, 1);

    const records = await ask("auditQuery", {}) as readonly Record<string, unknown>[];
    const [record] = records;
    assert.equal(records.length, 1);
    assert.deepEqual(record?.["scope"], [sink]);
    assert.equal((record?.["egress"] as { use: string }).use, "embedding");
    assert.equal((record?.["egress"] as { money: number }).money, money);
    assert.equal(record?.["label"], "internal");
    assert.ok(!JSON.stringify(records).includes("supplier"));
  });
});

Deno.test("the operator's own embeddings wait for the provider's rate like everybody's", async () => {
  await withProvider(async ({ provider, choice, ask }) => {
    const { config } = choice("e", { rates: { requestsPerMinute: 1 }, noWait: true });
    const model = { ref: "openai-embed:e", config };
    const embed = (): Promise<unknown> => ask("embed", { model, texts: TEXTS, label: "public" });
    await embed();
    await assert.rejects(embed(), /would exceed 1 requests a minute/);
    assert.equal(provider.received.filter(({ body }) => body.includes("supplier")).length, 1);
  });
});

Deno.test("a model that writes text is no embedder, and an operator without remote models has no remote vectors", async () => {
  await withProvider(async ({ provider, choice, ask }) => {
    const { config } = choice("e");
    const embed = (ref: string): Promise<unknown> =>
      ask("embed", { model: { ref, config }, texts: TEXTS, label: "public" });
    await assert.rejects(embed("openai:e"), /Cannot embed with "openai:e"/);
    await assert.rejects(embed("openai-embed:e"), /modelsFor\.operator is local/);
    assert.ok(provider.received.every(({ body }) => !body.includes("supplier")));
  }, () => ({ modelsFor: { operator: "local" } }));
});
