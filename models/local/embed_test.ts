import assert from "node:assert/strict";
import { embedderContract } from "../_fixture/embedder_suite.ts";
import { makeTinyGguf } from "../_fixture/tiny_gguf.ts";
import { openLocal, refusal } from "./_fixture/local_process.ts";

const weights = makeTinyGguf({ seed: 7, embedding: true });
const open = () => openLocal(weights, { kind: "gguf-embed", contextTokens: 512 });
const signal = new AbortController().signal;

embedderContract("gguf", open, { meaning: false });

const dot = (a: Float32Array, b: Float32Array): number =>
  a.reduce((sum, value, n) => sum + value * (b[n] ?? 0), 0);

Deno.test("texts that share words are nearer than those that share nothing", async () => {
  await using local = await open();
  const texts = ["read the file", "read the path", "%%%% 0000 ~~~~"];
  const { vectors: [one, near, far], inputTokens } = await local.embedder.embed(texts, { signal });
  assert.ok(one && near && far && inputTokens > 10);
  assert.ok(dot(one, near) > dot(one, far));
});

Deno.test("a text that is longer than the context is cut, and a conversation is refused", async () => {
  await using local = await open();
  const { vectors, inputTokens } = await local.embedder.embed(["x".repeat(20_000)], { signal });
  assert.equal(vectors.length, 1);
  assert.ok(inputTokens <= 512, `${inputTokens}`);
  const asked = local.port.ask("infer", { id: 2, request: {} });
  assert.equal((await refusal(asked)).code, "invalidInput");
});
