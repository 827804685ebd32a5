import assert from "node:assert/strict";
import { toldProgress } from "./told_progress.ts";

Deno.test("a host is told what a call says of itself only as far as it is told results", () => {
  const told = (label: unknown, clearance: "public" | "internal" | "secret"): string =>
    toldProgress("plum-orchard", { label, clearance, instead: "withheld" });
  assert.equal(told("public", "internal"), "plum-orchard");
  assert.equal(told("internal", "internal"), "plum-orchard");
  assert.equal(told("secret", "secret"), "plum-orchard");
  assert.equal(told("secret", "internal"), "withheld");
  assert.equal(told("internal", "public"), "withheld");
  for (const label of [undefined, "", "PUBLIC", 1, null]) {
    assert.equal(told(label, "secret"), "withheld");
  }
});
