import { equal, ok } from "node:assert/strict";
import fc from "fast-check";
import type { InferenceRequest } from "../../contracts/mod.ts";
import { affordable } from "./affordable.ts";
import { makeModelCost } from "./cost.ts";

const request = (maxTokens: number, content = "x".repeat(384)): InferenceRequest => ({
  messages: [{
    role: "user",
    content,
    provenance: { origin: "agent", colour: "BLUE", label: "public" },
  }],
  tools: [],
  maxTokens,
  nonce: "n",
});

Deno.test("one last answer cannot pass the limit of money, whatever it costs and however long it may be", () => {
  const price = fc.record({
    input: fc.double({ min: 0, max: 1_000, noNaN: true }),
    output: fc.double({ min: 0.01, max: 1_000, noNaN: true }),
  });
  const money = fc.double({ min: 0, max: 10, noNaN: true });
  fc.assert(
    fc.property(price, money, fc.integer({ min: 1, max: 1_000_000 }), (price, money, most) => {
      const { maxTokens } = affordable(request(most), { price }, money);
      ok(maxTokens >= 1 && maxTokens <= most);
      const cost = makeModelCost(price);
      const whole = cost.of({ inputTokens: 100, outputTokens: maxTokens });
      const least = cost.of({ inputTokens: 100, outputTokens: 1 });
      ok(whole <= Math.max(money, least) + 1e-9, `${whole} of ${money}`);
    }),
  );
});

Deno.test("where nothing is paid an answer is as long as it was asked to be", () => {
  equal(affordable(request(77), {}, 0).maxTokens, 77);
  equal(affordable(request(77), { price: { input: 1, output: 0 } }, 0).maxTokens, 77);
});
