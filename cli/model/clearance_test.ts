import assert from "node:assert/strict";
import { modelClearance } from "./clearance.ts";

const provider = (host: string, ref = "openai:m") => ({
  ref,
  host,
  model: "m",
  encrypted: true,
  price: undefined,
});

Deno.test("a local model's task is shown all that its profile may see", () => {
  assert.equal(modelClearance({ providers: [] }, { clearance: {} }), "secret");
});

Deno.test("a remote model's task is shown what the provider is cleared for, and no more", () => {
  const one = { providers: [provider("api.example")] };
  assert.equal(modelClearance(one, { clearance: {} }), "internal");
  assert.equal(modelClearance(one, { clearance: { "model:API.example": "secret" } }), "secret");
  assert.equal(modelClearance(one, { clearance: { "model:openai:m": "public" } }), "public");
});

Deno.test("a model that it may escalate to counts, too", () => {
  const two = { providers: [provider("api.example"), provider("other.example", "openai:n")] };
  const clearance = { "model:openai:m": "secret", "model:other.example": "public" } as const;
  assert.equal(modelClearance(two, { clearance }), "public");
});
