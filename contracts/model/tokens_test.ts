import assert from "node:assert/strict";
import fc from "fast-check";
import { makeTokenRatio } from "./tokens.ts";

Deno.test("an estimate becomes what the model counts, from its own answers", () => {
  const ratio = makeTokenRatio();
  assert.equal(ratio.of(1_000), 1_000);
  ratio.learn(1_000, 3_500);
  assert.equal(ratio.of(2_000), 7_000);
  ratio.learn(4_000, 5_000);
  assert.equal(ratio.now(), 1.25, "the newest answer counts");
  ratio.learn(100, 900);
  assert.equal(ratio.now(), 1.25, "of a short input most is the template");
});

Deno.test("what a model refused is more than it can hold, and never less than was known", () => {
  const ratio = makeTokenRatio();
  ratio.refused(2_000, 8_000);
  assert.equal(ratio.of(2_000), 8_001);
  ratio.refused(4_000, 8_000);
  assert.equal(ratio.of(2_000), 8_001, "16,000 are more than 8,000, and that was known");
});

Deno.test("a provider that lies about its counts cannot move it out of its bounds", () => {
  const count = fc.oneof(fc.nat(), fc.constantFrom(0, Number.MAX_SAFE_INTEGER));
  fc.assert(fc.property(fc.array(fc.tuple(count, count, fc.boolean())), (all) => {
    const ratio = makeTokenRatio();
    for (const [estimate, counted, refused] of all) {
      if (refused) ratio.refused(estimate, counted);
      else ratio.learn(estimate, counted);
      assert.ok(ratio.now() >= 1 && ratio.now() <= 16, `${ratio.now()}`);
    }
  }));
});
