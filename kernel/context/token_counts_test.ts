import assert from "node:assert/strict";
import { Fault, type InferenceRequest, type InferenceResponse } from "../../contracts/mod.ts";
import { makeTokenCounts } from "./token_counts.ts";

const provenance = { origin: "person", colour: "BLUE", label: "internal" } as const;
/** About 1,000 tokens by four characters a token. */
const REQUEST: InferenceRequest = {
  messages: [{ role: "user", content: "茶".repeat(3_984), provenance }],
  tools: [],
  maxTokens: 100,
  nonce: "n",
};
const answered = (inputTokens: number): Promise<InferenceResponse> =>
  Promise.resolve({
    message: { role: "assistant", content: "ok", provenance },
    usage: { inputTokens, outputTokens: 1 },
    finishReason: "stop",
  });

Deno.test("each model's answers tell how it counts, and another one begins anew", async () => {
  const model = { info: { id: "openai:one" } };
  const { ratio, learning } = makeTokenCounts(model);
  await learning(REQUEST, 8_000, () => answered(4_000));
  assert.equal(ratio().now(), 4);
  model.info = { id: "openai:two" };
  assert.equal(ratio().now(), 1);
  await learning(REQUEST, 8_000, () => answered(1_500));
  model.info = { id: "openai:one" };
  assert.equal(ratio().now(), 4);
});

Deno.test("a refusal for its length tells it too: the exact count, or more than the window", async () => {
  const refusing = (detail: { readonly tokens?: number } = {}) => () =>
    Promise.reject(new Fault("contextOverflow", "Cannot infer: too long", { detail }));
  const exact = makeTokenCounts({ info: { id: "gguf" } });
  await assert.rejects(exact.learning(REQUEST, 2_048, refusing({ tokens: 3_000 })), /too long/);
  assert.equal(exact.ratio().of(1_000), 3_000);
  const vague = makeTokenCounts({ info: { id: "openai" } });
  await assert.rejects(vague.learning(REQUEST, 2_048, refusing()), /too long/);
  assert.equal(vague.ratio().of(1_000), 2_049);
  const other = makeTokenCounts({ info: { id: "openai" } });
  const away = () => Promise.reject(new Fault("upstream", "Cannot infer: away"));
  await assert.rejects(other.learning(REQUEST, 2_048, away), /away/);
  assert.equal(other.ratio().now(), 1);
});
