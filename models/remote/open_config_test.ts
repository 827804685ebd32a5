import assert from "node:assert/strict";
import { knownModel } from "./open_config.ts";

Deno.test("the longest beginning decides, with or without a maker; an unknown name is no guess", () => {
  assert.equal(knownModel("gpt-4").contextTokens, 8_192);
  assert.equal(knownModel("openai/gpt-4o-mini").outputTokens, 16_384);
  assert.equal(knownModel("Claude-Opus-4-5-20251101").outputTokens, 64_000);
  assert.deepEqual(knownModel("my-model"), {
    arch: "unknown",
    contextTokens: 32_768,
    outputTokens: 4_096,
  });
});
