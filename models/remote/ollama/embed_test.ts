import assert from "node:assert/strict";
import { faultOf } from "../../_fixture/contract_suite.ts";
import { embedderContract } from "../../_fixture/embedder_suite.ts";
import { serveOllama } from "../../_fixture/providers/mod.ts";
import { openEmbedAt } from "./_fixture/bench.ts";

const signal = new AbortController().signal;

embedderContract("ollama", async () => {
  const server = serveOllama({ models: [{ name: "tiny:latest", vector: 16 }] });
  const dispose = async (): Promise<void> => await server[Symbol.asyncDispose]();
  return { embedder: await openEmbedAt(server.url), [Symbol.asyncDispose]: dispose };
}, { meaning: false, tolerance: 1e-6 });

Deno.test("alice's texts become vectors of length 1, in their order, near ones alike", async () => {
  await using server = serveOllama({ models: [{ name: "tiny:latest", vector: 16 }] });
  const embedder = await openEmbedAt(server.url);
  const info = await embedder.info();
  assert.equal(info.outputTokens, 16);
  assert.equal(info.backend, "ollama-embed");
  assert.equal(info.supportsTools, false);
  const { vectors, inputTokens } = await embedder.embed(["wine", "wine", "a ship"], { signal });
  assert.deepEqual(vectors[0], vectors[1]);
  assert.notDeepEqual(vectors[0], vectors[2]);
  for (const vector of vectors) {
    assert.equal(vector.length, 16);
    assert.ok(Math.abs(Math.hypot(...vector) - 1) < 1e-5);
  }
  assert.ok(inputTokens > 0);
});

Deno.test("a text without content is all zero, and is not sent", async () => {
  await using server = serveOllama();
  const embedder = await openEmbedAt(server.url);
  const { vectors } = await embedder.embed(["", "x", " \n"], { signal });
  assert.deepEqual([...vectors[0] ?? []], new Array(8).fill(0));
  assert.deepEqual([...vectors[2] ?? []], new Array(8).fill(0));
  assert.notDeepEqual(vectors[1], vectors[0]);
  const sent = server.received.filter(({ path }) => path === "/api/embed");
  assert.deepEqual(sent.map(({ body }) => JSON.parse(body).input), [["x"]]);
  assert.deepEqual(await embedder.embed([], { signal }), { vectors: [], inputTokens: 0 });
});

Deno.test("256 texts go in several requests, and come back in one order", async () => {
  await using server = serveOllama();
  const embedder = await openEmbedAt(server.url);
  const texts = Array.from({ length: 256 }, (_, at) => `text ${at % 100}`);
  const { vectors } = await embedder.embed(texts, { signal });
  assert.equal(vectors.length, 256);
  for (const [at, vector] of vectors.entries()) assert.deepEqual(vector, vectors[at % 100]);
  assert.equal(server.received.filter(({ path }) => path === "/api/embed").length, 4);
});

Deno.test("where the server does not say how long a vector is, it is asked for one", async () => {
  const show = { status: 200, body: { model_info: {}, capabilities: ["embedding"] } };
  await using server = serveOllama({ others: [show] });
  assert.equal((await (await openEmbedAt(server.url)).info()).outputTokens, 8);
});

Deno.test("bob's words are taken out before a text leaves", async () => {
  await using server = serveOllama();
  const embedder = await openEmbedAt(server.url, { redact: [{ word: "Zeppelin" }] });
  await embedder.embed(["Project Zeppelin is late"], { signal });
  const [sent] = server.received.filter(({ path }) => path === "/api/embed");
  assert.doesNotMatch(sent?.body ?? "Zeppelin", /Zeppelin/i);
});

const WRONG: readonly (readonly [string, unknown])[] = [
  ["too few vectors", { embeddings: [] }],
  ["vectors of another length", { embeddings: [[1, 2]] }],
  ["a vector of words", { embeddings: [["a"]] }],
  ["a vector of nulls", { embeddings: [[null]] }],
  ["numbers beyond bounds", { embeddings: [new Array(8).fill(1e308)] }],
];

for (const [what, body] of WRONG) {
  Deno.test(`mallory's server sends ${what}: upstream`, async () => {
    await using server = serveOllama({
      others: [SHOWN, { status: 200, body }],
    });
    const embedder = await openEmbedAt(server.url);
    assert.equal((await faultOf(embedder.embed(["x"], { signal }))).code, "upstream");
  });
}

const SHOWN = {
  status: 200,
  body: { model_info: { "general.architecture": "a", "a.embedding_length": 8 } },
};

Deno.test("a model that is not pulled is not found, and a cancel ends the work", async () => {
  await using server = serveOllama();
  assert.equal((await faultOf(openEmbedAt(server.url, { model: "none" }))).code, "notFound");
  const embedder = await openEmbedAt(server.url);
  const fault = await faultOf(embedder.embed(["x"], { signal: AbortSignal.abort() }));
  assert.equal(fault.code, "cancelled");
});
