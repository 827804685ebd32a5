import assert from "node:assert/strict";
import { makeTinyGguf } from "../_fixture/tiny_gguf.ts";
import { startEngine } from "./engine_powers.ts";
import { readGgufHeader } from "../../contracts/model/gguf_header.ts";
import { makeWeightsFile } from "./open.ts";

const file = makeWeightsFile([makeTinyGguf({ seed: 7 })]);
const { end } = readGgufHeader(file);
const never = new AbortController().signal;

Deno.test("the engine counts tokens exactly, without reading what it counts", async () => {
  const engine = await startEngine(file, {
    contextTokens: 512,
    embedding: false,
    thoughts: false,
    end,
  });
  assert.equal(await engine.count(""), 0);
  assert.equal(await engine.count("<|im_end|>"), 1);
  const text = "read the file ".repeat(300);
  const tokens = await engine.count(text);
  assert.ok(tokens > 900 && tokens < text.length, `${tokens}`);
  assert.equal(await engine.count("é"), 2);
  // What came before is still there to be reused: counting has not touched it.
  const ask = {
    messages: [{ role: "user" as const, content: "read the file" }],
    maxTokens: 4,
    temperature: 0,
    seed: 1,
    stop: [],
  };
  const one = await engine.complete(ask, { onText: () => {}, signal: never });
  await engine.count(text);
  const two = await engine.complete(ask, { onText: () => {}, signal: never });
  assert.equal(two.reusedTokens, one.inputTokens - 1);
  const cold = await engine.complete({ ...ask, reuse: false }, { onText: () => {}, signal: never });
  assert.equal(cold.reusedTokens, 0);
});

Deno.test("the globals that were lent are taken back when the engine has started", () => {
  assert.equal(Object.hasOwn(globalThis, "document"), false);
  assert.match(URL.createObjectURL.toString(), /native code|createObjectURL/);
});
