import assert from "node:assert/strict";
import { Fault } from "../../contracts/base/fault.ts";
import type { InferenceRequest } from "../../contracts/model/model.ts";
import { faultOf, hear, requestOf, said, tool } from "../_fixture/contract_suite.ts";
import { makeTinyGguf } from "../_fixture/tiny_gguf.ts";
import { ownTools } from "../grammar/_fixture/own_tools.ts";
import { openLocal } from "../local/_fixture/local_process.ts";
import { openNativeProcess } from "./_fixture/native_process.ts";

const tiny = makeTinyGguf({ seed: 7 });
const eager = makeTinyGguf({ seed: 11, eager: true });
const never = new AbortController().signal;

/** About `words` tokens, which begin alike. */
const long = (words: number, end: string): InferenceRequest =>
  requestOf([said(`${"the path of the file ".repeat(words / 5)}${end}`)], {
    maxTokens: 48,
    temperature: 1,
    seed: 9,
  });

Deno.test("vectors are those of the engine without rights, also of a text that is cut", async () => {
  const weights = makeTinyGguf({ seed: 7, embedding: true });
  const settings = { kind: "gguf-embed", contextTokens: 512 };
  await using native = await openNativeProcess(weights, settings);
  await using wasm = await openLocal(weights, settings);
  const texts = ["read the file", "%%%% 0000 ~~~~", "x".repeat(20_000)];
  const embed = { id: 1, texts };
  const [ours, theirs] = await Promise.all(
    [native, wasm].map(async ({ port }) => {
      const { vectors } = await port.ask("embed", embed) as { readonly vectors: string[] };
      return vectors.map((text) => new Float32Array(Uint8Array.fromBase64(text).buffer));
    }),
  );
  texts.forEach((text, n) => {
    const cosine = ours?.[n]?.reduce((sum, each, at) => sum + each * (theirs?.[n]?.[at] ?? 0), 0);
    assert.ok(cosine !== undefined && cosine > 0.999, `${text.slice(0, 20)}: ${cosine}`);
  });
});

Deno.test("an answer from a held beginning is that of a fresh process, in whatever order they come", async () => {
  await using local = await openNativeProcess(tiny);
  const requests = [
    long(300, "a"),
    long(300, "b"),
    long(600, "c"),
    long(100, "d"),
    requestOf([said("alone")], { maxTokens: 30, temperature: 1, seed: 2 }),
    long(700, "e"),
    long(128, ""),
  ];
  const fresh: string[] = [];
  for (const request of requests) {
    await using other = await openNativeProcess(tiny);
    fresh.push((await hear(other.model, request)).text);
  }
  assert.equal(new Set(fresh).size, requests.length);
  let state = 5;
  for (let n = 0; n < 60; n++) {
    state = state * 48_271 % 2_147_483_647;
    const which = state % requests.length;
    const { text } = await hear(local.model, requests[which] ?? long(5, ""));
    assert.equal(text, fresh[which], `request ${which} in round ${n}`);
  }
});

Deno.test("conversations go on from their own beginnings as a fresh process does", async () => {
  await using local = await openNativeProcess(tiny);
  let messages: InferenceRequest["messages"] = [said("the tool of the user ".repeat(60))];
  for (let turn = 0; turn < 4; turn++) {
    const request = requestOf(messages, { maxTokens: 40, temperature: 1, seed: turn });
    const warm = await local.model.infer(request, { signal: never });
    await using other = await openNativeProcess(tiny);
    assert.deepEqual(await other.model.infer(request, { signal: never }), warm);
    messages = [...messages, warm.message, said(`and then ${turn}?`)];
  }
});

Deno.test("a second turn reads its new words, and at most the answer before them", async () => {
  await using local = await openNativeProcess(makeTinyGguf({ seed: 7, endless: true }));
  const words = "the tool of the user ".repeat(60);
  const first = await local.model.infer(requestOf([said(words)], { maxTokens: 100 }), {
    signal: never,
  });
  const { inputTokens, outputTokens } = first.usage;
  const readings: number[] = [];
  const second = await local.model.infer(
    requestOf([said(words), first.message, said("and then?")], { maxTokens: 1 }),
    {
      signal: never,
      onChunk: ({ reading }) =>
        reading === undefined ? undefined : void readings.push(reading.done),
    },
  );
  const [begun = 0] = readings;
  assert.ok(begun > inputTokens + outputTokens, `it reads on from there: ${readings.join()}`);
  assert.equal(readings.at(-1), second.usage.inputTokens);
});

Deno.test("random weights make 60 answers of calls, every call valid (long)", async () => {
  await using local = await openNativeProcess(eager);
  const tools = ["file_read", "file_write", "wiki_search"].map(tool);
  let calls = 0;
  for (let seed = 0; seed < 60; seed++) {
    const { message, finishReason } = await local.model.infer(
      requestOf([said(`Task ${seed}`)], { tools, maxTokens: 200, temperature: 1, seed }),
      { signal: never },
    );
    // An answer that ends at its limit shows its last call as far as it came; nobody runs that one.
    const made = (message.toolCalls ?? []).slice(0, finishReason === "length" ? -1 : undefined);
    for (const { name, arguments: text } of made) {
      const { path } = JSON.parse(text);
      assert.ok(tools.some((each) => each.name === name) && [...path].length <= 40, text);
      calls++;
    }
  }
  assert.ok(calls >= 40, `${calls} calls`);
});

Deno.test("the grammar of every tool of this repository is one that llama.cpp takes", async () => {
  await using local = await openNativeProcess(tiny, { contextTokens: 4_096 });
  // The descriptors themselves would not fit into so small a model.
  const tools = ownTools().map((each) => ({ ...each, description: "x" }));
  for (let at = 0; at < tools.length; at += 2) {
    const few = tools.slice(at, at + 2);
    const request = requestOf([said("x")], { tools: few, maxTokens: 2 });
    const outcome = await local.model.infer(request, { signal: never }).then(
      () => undefined,
      (error: unknown) => error,
    );
    // An overflow is found before the grammar is: it would say nothing.
    assert.equal(outcome, undefined, `${few.map(({ name }) => name).join()}: ${outcome}`);
  }
});

Deno.test("a cancel bites between two tokens, and the next request is answered", async () => {
  await using local = await openNativeProcess(tiny);
  const abort = new AbortController();
  let heard = 0;
  const fault = await faultOf(
    local.model.infer(requestOf([said("a story")], { maxTokens: 3_900 }), {
      signal: abort.signal,
      onChunk: () => {
        if (++heard === 5) abort.abort();
      },
    }),
  );
  assert.equal(fault.code, "cancelled");
  assert.ok((await hear(local.model, requestOf([said("b")]))).response.usage.outputTokens > 0);
});

Deno.test("more than the context holds is refused before anything is computed", async () => {
  await using local = await openNativeProcess(tiny, { contextTokens: 512 });
  const fault = await faultOf(
    local.model.infer(requestOf([said("x".repeat(5_000))]), { signal: never }),
  );
  assert.equal(fault.code, "contextOverflow");
  assert.match(fault.message, /^Cannot infer: \d{4} tokens are more than fit into 512$/);
  await hear(local.model, requestOf([said("short")]));
});

Deno.test("an answer ends before a stop sequence, and seeds choose it", async () => {
  await using local = await openNativeProcess(tiny);
  const request = requestOf([said("read the file")], { maxTokens: 60, temperature: 1, seed: 3 });
  const { text } = await hear(local.model, request);
  const stop = text.slice(12, 16);
  const cut = await hear(local.model, { ...request, stopSequences: [stop] });
  assert.equal(cut.text, text.slice(0, text.indexOf(stop)));
  assert.notEqual((await hear(local.model, { ...request, seed: 4 })).text, text);
});

const broken: readonly (readonly [string, Uint8Array, string])[] = [
  ["that is cut off", tiny.slice(0, tiny.length / 2), "invalidInput"],
  ["that is no GGUF", new Uint8Array(4_096), "invalidInput"],
  [
    "of an architecture unknown to llama.cpp",
    makeTinyGguf({ seed: 7, architecture: "remit" }),
    "invalidInput",
  ],
];
for (const [what, weights, code] of broken) {
  Deno.test(`a file ${what} is refused with a reason`, async () => {
    const error: unknown = await openNativeProcess(weights).then(
      () => undefined,
      (e: unknown) => e,
    );
    assert.ok(error instanceof Fault, String(error));
    assert.equal(error.code, code, error.message);
    assert.match(error.message, /^Cannot /);
  });
}
