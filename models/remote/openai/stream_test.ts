import assert from "node:assert/strict";
import { ASKED } from "../_fixture/bench.ts";
import fc from "fast-check";
import { Fault } from "../../../contracts/base/fault.ts";
import type { Delta } from "../assemble.ts";
import { makeOpenaiReader } from "./stream.ts";

function read(...events: readonly unknown[]): Delta[] {
  const deltas: Delta[] = [];
  const reader = makeOpenaiReader({ asked: ASKED, take: (delta) => void deltas.push(delta) });
  for (const event of events) {
    reader.event(typeof event === "string" ? event : JSON.stringify(event));
  }
  return deltas;
}

const delta = (fields: object, more: object = {}): unknown => ({
  choices: [{ index: 0, delta: fields, ...more }],
});
const call = (fields: object): unknown => delta({ tool_calls: [fields] });

/** Calls as [id, name, arguments]. */
function callsOf(deltas: readonly Delta[]): (string | undefined)[][] {
  const calls = new Map<string, [string | undefined, string, string]>();
  for (const each of deltas) {
    if (each.kind === "callStart") calls.set(each.key, [each.id, each.name, ""]);
    const known = each.kind === "callDelta" ? calls.get(each.key) : undefined;
    if (known !== undefined && each.kind === "callDelta") known[2] += each.text;
  }
  return [...calls.values()];
}

Deno.test("parallel calls whose pieces are mixed are told apart by their index", () => {
  const deltas = read(
    call({ index: 0, id: "a", function: { name: "one", arguments: "" } }),
    call({ index: 1, id: "b", function: { name: "two", arguments: "{" } }),
    call({ index: 0, function: { arguments: '{"x"' } }),
    call({ index: 1, function: { arguments: "}" } }),
    call({ index: 0, function: { arguments: ":1}" } }),
    delta({}, { finish_reason: "tool_calls" }),
    "[DONE]",
  );
  assert.deepEqual(callsOf(deltas), [["a", "one", '{"x":1}'], ["b", "two", "{}"]]);
  assert.deepEqual(deltas.at(-1), { kind: "finish", reason: "toolCalls" });
});

Deno.test("servers that repeat id and name in each piece, give index 0 to all, or no index, are understood", () => {
  const repeated = read(
    call({ index: 0, id: "a", function: { name: "one", arguments: "{" } }),
    call({ index: 0, id: "a", function: { name: "one", arguments: "}" } }),
  );
  assert.deepEqual(callsOf(repeated), [["a", "one", "{}"]]);
  const zero = read(
    call({ index: 0, id: "a", function: { name: "one", arguments: '{"n":1}' } }),
    call({ index: 0, id: "b", function: { name: "one", arguments: '{"n":2}' } }),
    call({ index: 0, function: { name: "one", arguments: "{}" } }),
  );
  assert.equal(callsOf(zero).length, 3);
  const none = read(
    call({ id: "a", function: { name: "one", arguments: '{"n":' } }),
    call({ function: { arguments: "1}" } }),
    call({ id: "b", function: { name: "two", arguments: { n: 2 } } }),
  );
  assert.deepEqual(callsOf(none), [["a", "one", '{"n":1}'], ["b", "two", '{"n":2}']]);
});

Deno.test("a name that comes late, or never, loses nothing of the call", () => {
  const late = read(
    call({ index: 0, id: "a", function: { arguments: '{"n"' } }),
    call({ index: 0, function: { name: "one", arguments: ":1}" } }),
  );
  assert.deepEqual(callsOf(late), [["a", "one", '{"n":1}']]);
  const never = read(
    call({ index: 0, id: "a", function: { arguments: "{}" } }),
    delta({}, { finish_reason: "tool_calls" }),
  );
  assert.deepEqual(callsOf(never), [["a", "", "{}"]]);
});

Deno.test("thoughts, parts, refusals and usage are what they are", () => {
  const deltas = read(
    delta({ reasoning_content: "hm" }),
    delta({ reasoning: "so" }),
    delta({
      content: [{ type: "text", text: "part" }, { type: "thinking", thinking: [{ text: "t" }] }],
    }),
    delta({ refusal: "No." }),
    delta({}, { finish_reason: "stop" }),
    { choices: [], usage: { prompt_tokens: 5, completion_tokens: 2 } },
    "[DONE]",
  );
  assert.deepEqual(deltas, [
    { kind: "rationale", text: "hm" },
    { kind: "rationale", text: "so" },
    { kind: "text", text: "part" },
    { kind: "rationale", text: "t" },
    { kind: "text", text: "No." },
    { kind: "finish", reason: "contentFilter" },
    { kind: "usage", inputTokens: 5, outputTokens: 2 },
  ]);
});

Deno.test("a reason that is empty is none, and of several the last one counts", () => {
  const open = read(delta({ content: "half" }, { finish_reason: "" }));
  assert.deepEqual(open, [{ kind: "text", text: "half" }]);
  for (const early of ["", "stop"]) {
    const deltas = read(
      delta({ content: "a" }, { finish_reason: early }),
      delta({ content: "b" }, { finish_reason: early }),
      delta({}, { finish_reason: "length" }),
      "[DONE]",
    );
    assert.deepEqual(deltas.at(-1), { kind: "finish", reason: "length" }, early);
  }
  const ofMistral = read(delta({ content: "a" }, { finish_reason: "model_length" }));
  assert.deepEqual(ofMistral.at(-1), { kind: "finish", reason: "length" });
});

Deno.test("an answer that the server gave up is no answer, and may be asked for again", () => {
  for (const reason of ["error", "insufficient_system_resource", "abort"]) {
    assert.throws(
      () => read(delta({ content: "half" }, { finish_reason: reason }), "[DONE]"),
      (error) =>
        error instanceof Fault && error.code === "upstream" && error.detail?.["again"] === true &&
        error.message.includes(reason),
    );
  }
});

Deno.test("an error within the stream is a fault of its kind", () => {
  const faultOf = (event: unknown): string => {
    try {
      read(event);
    } catch (error) {
      assert.ok(error instanceof Fault);
      return error.code;
    }
    return "none";
  };
  assert.equal(faultOf({ error: { message: "x", type: "server_error" } }), "upstream");
  assert.equal(
    faultOf({ error: "the context length was exceeded: maximum context length" }),
    "contextOverflow",
  );
  assert.equal(faultOf("{"), "upstream");
  assert.equal(faultOf("[]"), "upstream");
});

Deno.test("whatever JSON a server sends, the reader gives deltas or a fault", () => {
  const keys = fc.constantFrom(
    "choices",
    "delta",
    "tool_calls",
    "function",
    "content",
    "usage",
    "index",
    "id",
    "name",
    "arguments",
    "finish_reason",
    "error",
  );
  const shape = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 6 },
      fc.constantFrom(null, 0, -1, 1e9, "", "x", true),
      tie("list"),
      tie("object"),
    ),
    list: fc.array(tie("value"), { maxLength: 3 }),
    object: fc.dictionary(keys, tie("value"), { maxKeys: 4 }),
  }));
  fc.assert(
    fc.property(fc.array(shape.object, { maxLength: 6 }), (events) => {
      try {
        read(...events);
      } catch (error) {
        assert.ok(error instanceof Fault, String(error));
      }
    }),
    { numRuns: 500 },
  );
});

/** What each server says of 1,000 tokens in, and how they come out: in, out, of the input from a cache. */
const USAGES: readonly (readonly [server: string, event: object, counted: readonly number[]])[] = [
  ["OpenAI: thoughts are within", {
    usage: {
      prompt_tokens: 1_000,
      completion_tokens: 60,
      total_tokens: 1_060,
      prompt_tokens_details: { cached_tokens: 900 },
      completion_tokens_details: { reasoning_tokens: 50 },
    },
  }, [1_000, 60, 900]],
  ["xAI: thoughts stand beside", {
    usage: {
      prompt_tokens: 1_000,
      completion_tokens: 10,
      total_tokens: 1_060,
      completion_tokens_details: { reasoning_tokens: 50 },
    },
  }, [1_000, 60]],
  [
    "Gemini: thoughts are in the total alone",
    { usage: { prompt_tokens: 1_000, completion_tokens: 10, total_tokens: 1_060 } },
    [1_000, 60],
  ],
  ["DeepSeek: its own words for its cache", {
    usage: {
      prompt_tokens: 1_000,
      completion_tokens: 60,
      total_tokens: 1_060,
      prompt_cache_hit_tokens: 900,
      prompt_cache_miss_tokens: 100,
      completion_tokens_details: { reasoning_tokens: 50 },
    },
  }, [1_000, 60, 900]],
  ["OpenRouter: with its price, and what was written to a cache", {
    usage: {
      prompt_tokens: 1_000,
      completion_tokens: 60,
      total_tokens: 1_060,
      cost: 0.01,
      prompt_tokens_details: { cached_tokens: 500, cache_write_tokens: 400 },
    },
  }, [1_000, 60, 500, 400]],
  [
    "Mistral: with audio",
    {
      usage: {
        prompt_audio_seconds: null,
        prompt_tokens: 1_000,
        completion_tokens: 60,
        total_tokens: 1_060,
      },
    },
    [1_000, 60],
  ],
  ["vLLM: details that are null", {
    usage: {
      prompt_tokens: 1_000,
      total_tokens: 1_060,
      completion_tokens: 60,
      prompt_tokens_details: null,
    },
  }, [1_000, 60]],
  ["llama.cpp: times alone", { timings: { cache_n: 900, prompt_n: 100, predicted_n: 60 } }, [
    1_000,
    60,
    900,
  ]],
  ["Groq: in a field of its own", {
    x_groq: { usage: { prompt_tokens: 1_000, completion_tokens: 60, total_tokens: 1_060 } },
  }, [1_000, 60]],
  ["Moonshot: in the choice", {
    choices: [{
      index: 0,
      delta: {},
      usage: { prompt_tokens: 1_000, completion_tokens: 60, total_tokens: 1_060, cached_tokens: 9 },
    }],
  }, [1_000, 60, 9]],
  ["names of another protocol", { usage: { input_tokens: 1_000, output_tokens: 60 } }, [1_000, 60]],
  ["thoughts that are more than all, without a total", {
    usage: { prompt_tokens: 1_000, completion_tokens: 10, reasoning_tokens: 50 },
  }, [1_000, 60]],
  ["a total and one part", { usage: { prompt_tokens: 1_000, total_tokens: 1_060 } }, [1_000, 60]],
];

for (
  const [server, event, [inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens]] of USAGES
) {
  Deno.test(`usage is counted as the server means it: ${server}`, () => {
    const found = read(event).find(({ kind }) => kind === "usage");
    assert.deepEqual(found, {
      kind: "usage",
      inputTokens,
      outputTokens,
      ...(cacheReadTokens === undefined ? {} : { cacheReadTokens }),
      ...(cacheWriteTokens === undefined ? {} : { cacheWriteTokens }),
    });
  });
}
