import assert from "node:assert/strict";
import { makeReport } from "./limits.ts";

Deno.test("at most twenty violations a second are told, and how many were not", () => {
  const told: string[] = [];
  let now = 0;
  const report = makeReport((what) => told.push(what), { now: () => now });
  for (let count = 0; count < 100; count++) report("It is odd");
  assert.equal(told.length, 20);
  now = 1_000;
  report("It is odd again");
  assert.equal(told.at(-1), "It is odd again (after 80 more)");
  report("And again");
  assert.equal(told.at(-1), "And again");
});

Deno.test("a violation is told in one short sentence", () => {
  const told: string[] = [];
  makeReport((what) => told.push(what), { now: () => 0 })("x".repeat(10_000));
  assert.equal(told[0]?.length, 240);
});
