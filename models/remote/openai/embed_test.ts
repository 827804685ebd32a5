import assert from "node:assert/strict";
import { faultOf } from "../../_fixture/contract_suite.ts";
import { embedderContract } from "../../_fixture/embedder_suite.ts";
import { OPENAI_KEY, serveOpenai } from "../../_fixture/providers/mod.ts";
import { openBody, quickPowers } from "../_fixture/bench.ts";
import { openOpenaiEmbed } from "./embed.ts";

const { signal } = new AbortController();
const open = (url: string, more: object = {}) =>
  openOpenaiEmbed(openBody("openai-embed", url, { key: OPENAI_KEY, ...more }), quickPowers());
const list = (rows: readonly (readonly number[])[]) => ({
  status: 200,
  body: {
    data: rows.map((embedding, index) => ({ index, embedding })),
    usage: { prompt_tokens: 3 },
  },
});

embedderContract("openai", async () => {
  const server = serveOpenai({ vector: 16 });
  const dispose = async (): Promise<void> => await server[Symbol.asyncDispose]();
  return { embedder: await open(server.url), [Symbol.asyncDispose]: dispose };
}, { meaning: false, tolerance: 1e-6 });

Deno.test("vectors come in the order of their texts, of length 1; a text without content has none", async () => {
  await using server = serveOpenai({ vector: 16 });
  const embedder = await open(server.url);
  assert.equal((await embedder.info()).outputTokens, 16);
  const texts = ["one", "two", " ", "three", "x".repeat(200_000)];
  const { vectors, inputTokens } = await embedder.embed(texts, { signal });
  assert.ok(inputTokens > 0);
  assert.equal(vectors.length, 5);
  for (const [n, vector] of vectors.entries()) {
    assert.equal(vector.length, 16);
    const norm = Math.hypot(...vector);
    assert.ok(Math.abs(norm - (n === 2 ? 0 : 1)) < 1e-6, `${n}: ${norm}`);
  }
  const [alone] = (await embedder.embed(["two"], { signal })).vectors;
  assert.deepEqual(alone, vectors[1]);
  assert.deepEqual(await embedder.embed([], { signal }), { vectors: [], inputTokens: 0 });
});

Deno.test("what rules name does not leave the machine", async () => {
  await using server = serveOpenai();
  const embedder = await open(server.url, { redact: [{ kind: "email" }] });
  await embedder.embed(["from carol@example.org"], { signal });
  assert.doesNotMatch(server.received.at(-1)?.body ?? "", /carol/);
});

Deno.test("vectors of another length, too few, or no numbers are refused", async () => {
  const wrong = [
    list([[1, 2, 3]]),
    list([]),
    list([[], []]),
    list([[1e300, 0], [0, 1]]),
    {
      status: 200,
      body: { data: [{ index: 5, embedding: [1, 2] }, { index: 0, embedding: [1, 2] }] },
    },
    { status: 200, body: "no JSON" },
  ];
  await using server = serveOpenai({ others: [list([[1, 0]]), ...wrong] });
  const embedder = await open(server.url);
  for (const _ of wrong) {
    assert.equal((await faultOf(embedder.embed(["a", "b"], { signal }))).code, "upstream");
  }
});
