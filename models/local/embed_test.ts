import assert from "node:assert/strict";
import type { Json } from "../../contracts/json.ts";
import { makeTinyGguf } from "../_fixture/tiny_gguf.ts";
import { openLocal, refusal } from "./_fixture/local_process.ts";

const weights = makeTinyGguf({ seed: 7, embedding: true });

async function embed(
  port: { ask(op: string, body: Json): Promise<Json> },
  id: number,
  texts: readonly string[],
): Promise<{ readonly vectors: readonly Float32Array[]; readonly inputTokens: number }> {
  const answer = await port.ask("embed", { id, texts: [...texts] });
  const { vectors, inputTokens } = answer as unknown as { vectors: string[]; inputTokens: number };
  return {
    vectors: vectors.map((text) => new Float32Array(Uint8Array.fromBase64(text).buffer)),
    inputTokens,
  };
}

const dot = (a: Float32Array, b: Float32Array): number =>
  a.reduce((sum, value, n) => sum + value * (b[n] ?? 0), 0);

Deno.test("a GGUF embedder makes vectors of length 1, the same for the same text, nearer for near ones", async () => {
  await using local = await openLocal(weights, { kind: "gguf-embed", contextTokens: 256 });
  const info = await local.model.info();
  assert.equal(info.outputTokens, 64);
  assert.equal(info.supportsTools, false);
  const { vectors, inputTokens } = await embed(local.port, 1, [
    "read the file",
    "read the path",
    "%%%% 0000 ~~~~",
    "read the file",
    " ",
  ]);
  const [one, near, far, same, empty] = vectors;
  assert.ok(one && near && far && same && empty);
  assert.ok(inputTokens > 10);
  for (const vector of [one, near, far]) {
    assert.equal(vector.length, 64);
    assert.ok(Math.abs(dot(vector, vector) - 1) < 1e-5);
  }
  assert.deepEqual(same, one);
  assert.ok(dot(one, near) > dot(one, far));
  assert.equal(dot(empty, empty), 0);
});

Deno.test("a text that is longer than the context is cut, and a conversation is refused", async () => {
  await using local = await openLocal(weights, { kind: "gguf-embed", contextTokens: 256 });
  const { vectors, inputTokens } = await embed(local.port, 1, ["x".repeat(20_000)]);
  assert.equal(vectors.length, 1);
  assert.ok(inputTokens <= 256, `${inputTokens}`);
  const asked = local.port.ask("infer", { id: 2, request: {} });
  assert.equal((await refusal(asked)).code, "invalidInput");
});
