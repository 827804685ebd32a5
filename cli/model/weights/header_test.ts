import assert from "node:assert/strict";
import { fakeWeights } from "../../_fixture/gguf.ts";
import { isWeights, readFacts } from "./header.ts";

Deno.test("what a file of weights says of itself is read from its first bytes", () => {
  assert.deepEqual(readFacts(fakeWeights({ name: "Tiny", licence: "apache-2.0" })), {
    name: "Tiny",
    architecture: "llama",
    licence: "apache-2.0",
    contextTokens: 2_048,
  });
});

Deno.test("a file that ends anywhere in its header gives what came before, and never fails", () => {
  const whole = fakeWeights();
  for (let end = 0; end <= whole.length; end++) readFacts(whole.subarray(0, end));
  assert.equal(readFacts(whole.subarray(0, whole.length - 60)).architecture, "llama");
});

Deno.test("mallory's lengths that reach beyond the file, or count to the sky, end the reading", () => {
  const whole = fakeWeights();
  for (let at = 16; at < whole.length - 8; at += 1) {
    const bent = whole.slice();
    bent.fill(0xff, at, at + 8);
    const { contextTokens } = readFacts(bent);
    assert.ok(contextTokens === undefined || contextTokens <= 100_000_000);
  }
});

Deno.test("what is no GGUF file, or one of an old version, is told apart", () => {
  assert.equal(isWeights(fakeWeights()), true);
  assert.equal(isWeights(new TextEncoder().encode("PK zip file, and more of it")), false);
  const old = fakeWeights();
  old[4] = 1;
  assert.equal(isWeights(old), false);
  assert.equal(isWeights(new Uint8Array(3)), false);
});
