import assert from "node:assert/strict";
import { makeForwardClock } from "./limits.ts";

Deno.test("mallory sets the clock back by a day: what was lent for a minute ends after a minute", () => {
  const time = { wall: 1_000_000, steady: 5 };
  const now = makeForwardClock({ wall: () => time.wall, steady: () => time.steady });
  const ends = now() + 60_000;
  time.wall -= 86_400_000;
  time.steady += 59_999;
  assert.equal(now() < ends, true, "and not before");
  time.wall -= 86_400_000;
  time.steady += 1;
  assert.equal(now(), ends);
});

Deno.test("a clock that is set forward, or a machine that slept, is followed and goes on from there", () => {
  const time = { wall: 1_000_000, steady: 0 };
  const now = makeForwardClock({ wall: () => time.wall, steady: () => time.steady });
  time.wall += 3_600_000;
  assert.equal(now(), 4_600_000);
  [time.wall, time.steady] = [1_000_000, 250.5];
  assert.equal(now(), 4_600_250, "whole milliseconds");
  time.steady += 0.5;
  assert.equal(now(), 4_600_251, "and no part of one is lost");
});
