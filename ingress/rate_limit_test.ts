import assert from "node:assert/strict";
import { makeRates } from "./rate_limit.ts";

Deno.test("a bucket empties, fills with time, and is each one's own", () => {
  let now = 0;
  const rates = makeRates(60, () => now);
  for (let n = 0; n < 60; n++) assert.equal(rates.take("mallory"), true);
  assert.equal(rates.take("mallory"), false);
  assert.equal(rates.take("alice"), true);
  now = 999;
  assert.equal(rates.take("mallory"), false, "asking again does not help");
  now = 2_000;
  assert.equal(rates.take("mallory"), true);
});

Deno.test("ten thousand names later the oldest are forgotten, and no more are kept", () => {
  const rates = makeRates(1, () => 0);
  assert.equal(rates.take("first"), true);
  assert.equal(rates.take("first"), false);
  for (let n = 0; n < 10_000; n++) rates.take(`n${n}`);
  assert.equal(rates.take("first"), true);
});
