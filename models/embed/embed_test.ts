import assert from "node:assert/strict";
import fc from "fast-check";
import { Fault } from "../../contracts/base/fault.ts";
import type { TextEmbedder } from "../../contracts/model/model.ts";
import { cosine, embedAll, makeClassifier, makeReranker } from "./mod.ts";

const SUBJECTS = ["money", "garden", "sea"];

/** Knows three words: a text is where its words are. */
function embedder(asked: number[] = []): Pick<TextEmbedder, "embed"> {
  return {
    embed: (texts) => {
      asked.push(texts.length);
      const vectors = texts.map((text) =>
        Float32Array.from(SUBJECTS, (subject) => text.includes(subject) ? 1 : 0)
      );
      return Promise.resolve({ vectors, inputTokens: 0 });
    },
  };
}
const options = { signal: new AbortController().signal };

Deno.test("the cosine of vectors is between -1 and 1, the same both ways, and 0 for nothing", () => {
  const numbers = fc.array(fc.float({ noNaN: true, min: -1000, max: 1000 }), {
    minLength: 4,
    maxLength: 4,
  });
  fc.assert(fc.property(numbers, numbers, (a, b) => {
    const [x, y] = [Float32Array.from(a), Float32Array.from(b)];
    const near = cosine(x, y);
    assert.ok(near >= -1 && near <= 1);
    assert.equal(near, cosine(y, x));
    assert.equal(cosine(x, new Float32Array(4)), 0);
  }));
  assert.equal(cosine(new Float32Array([3, 0]), new Float32Array([2, 0])), 1);
  assert.throws(() => cosine(new Float32Array(3), new Float32Array(4)), RangeError);
});

Deno.test("the reranker scores each text by how near it is to the query", async () => {
  const rank = await makeReranker(embedder()).rank(
    "garden",
    ["the sea", "a garden by the sea", "my garden"],
    options,
  );
  assert.equal(rank.length, 3);
  const [sea = 1, both = 0, garden = 0] = rank;
  assert.ok(garden > both && both > sea);
  assert.deepEqual(await makeReranker(embedder()).rank("garden", [], options), []);
});

Deno.test("more texts than a request holds go in several", async () => {
  const asked: number[] = [];
  const scores = await makeReranker(embedder(asked)).rank(
    "sea",
    Array.from({ length: 600 }, (_, n) => n === 599 ? "sea" : "money"),
    options,
  );
  assert.deepEqual(asked, [256, 256, 89]);
  assert.deepEqual([scores.length, scores[599], scores[0]], [600, 1, 0]);
});

Deno.test("the classifier shares 1 among labels, most to the nearest, alike where nothing is said", async () => {
  const classifier = makeClassifier(embedder());
  const scores = await classifier.classify("buy garden tools", SUBJECTS, options);
  assert.ok(Math.abs(scores.reduce((a, b) => a + b, 0) - 1) < 1e-9);
  assert.ok((scores[1] ?? 0) > 0.9);
  assert.deepEqual(await classifier.classify("hm", ["money", "sea"], options), [0.5, 0.5]);
  for (const labels of [[], ["one"], new Array<string>(65).fill("x")]) {
    await assert.rejects(
      classifier.classify("a", labels, options),
      (error) => error instanceof Fault && error.code === "invalidInput",
    );
  }
});

Deno.test("an embedder that loses a text is not believed", async () => {
  const broken: Pick<TextEmbedder, "embed"> = {
    embed: () => Promise.resolve({ vectors: [new Float32Array(3)], inputTokens: 0 }),
  };
  await assert.rejects(
    embedAll(broken, ["a", "b"], options.signal),
    (error) => error instanceof Fault && error.code === "upstream",
  );
});
