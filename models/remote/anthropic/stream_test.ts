import assert from "node:assert/strict";
import { ASKED, openBody, quickPowers } from "../_fixture/bench.ts";
import { Fault } from "../../../contracts/base/fault.ts";
import { hear, requestOf, said } from "../../_fixture/contract_suite.ts";
import { ANTHROPIC_KEY, serveAnthropic } from "../../_fixture/providers/mod.ts";
import { openAnthropic } from "./open.ts";
import { makeAnthropicReader } from "./stream.ts";
import type { Delta } from "../assemble.ts";

function read(events: readonly unknown[], answerTool?: string): Delta[] {
  const deltas: Delta[] = [];
  const reader = makeAnthropicReader({
    asked: ASKED,
    take: (delta) => void deltas.push(delta),
    answerTool,
  });
  for (const event of events) reader.event(JSON.stringify(event));
  return deltas;
}

const start = {
  type: "message_start",
  message: { usage: { input_tokens: 4, cache_read_input_tokens: 6 } },
};
const block = (index: number, content_block: object) => ({
  type: "content_block_start",
  index,
  content_block,
});
const piece = (index: number, delta: object) => ({ type: "content_block_delta", index, delta });
const stop = (index: number) => ({ type: "content_block_stop", index });
const end = (stop_reason: string) => [
  { type: "message_delta", delta: { stop_reason }, usage: { output_tokens: 9 } },
  { type: "message_stop" },
];

Deno.test("thinking, text and calls come as what they are; what is newer is passed over", () => {
  const deltas = read([
    { type: "weather_report", sunny: true },
    start,
    { type: "ping" },
    block(0, { type: "thinking", thinking: "" }),
    piece(0, { type: "thinking_delta", thinking: "hm" }),
    piece(0, { type: "signature_delta", signature: "s" }),
    stop(0),
    block(1, { type: "hologram", data: 1 }),
    piece(1, { type: "hologram_delta", data: 2 }),
    piece(1, { type: "text_delta", text: "of a hologram" }),
    stop(1),
    block(2, { type: "text", text: "" }),
    piece(2, { type: "text_delta", text: "Hi" }),
    piece(2, { type: "citations_delta", citation: {} }),
    stop(2),
    block(3, { type: "tool_use", id: "toolu_1", name: "one", input: {} }),
    piece(3, { type: "input_json_delta", partial_json: "" }),
    piece(3, { type: "input_json_delta", partial_json: '{"a"' }),
    piece(3, { type: "input_json_delta", partial_json: ":1}" }),
    stop(3),
    block(4, { type: "tool_use", id: "toolu_1", name: "two", input: { whole: true } }),
    stop(4),
    ...end("tool_use"),
  ]);
  assert.deepEqual(deltas, [
    { kind: "usage", inputTokens: 10, cacheReadTokens: 6 },
    { kind: "rationale", text: "hm" },
    { kind: "text", text: "Hi" },
    { kind: "callStart", key: "0", id: "toolu_1", name: "one" },
    { kind: "callDelta", key: "0", text: '{"a"' },
    { kind: "callDelta", key: "0", text: ":1}" },
    { kind: "callStart", key: "1", id: "toolu_1", name: "two" },
    { kind: "callDelta", key: "1", text: '{"whole":true}' },
    { kind: "usage", outputTokens: 9 },
    { kind: "finish", reason: "toolCalls" },
  ]);
});

Deno.test("an end within a call's arguments is no end", () => {
  const events = [
    start,
    block(0, { type: "tool_use", id: "a", name: "one", input: {} }),
    piece(0, { type: "input_json_delta", partial_json: '{"path": "a' }),
    ...end("tool_use"),
  ];
  assert.throws(() => read(events), (error) => error instanceof Fault && error.code === "upstream");
  assert.ok(!read(events.slice(0, 3)).some(({ kind }) => kind === "finish"));
});

Deno.test("reasons to stop are the contract's", () => {
  const reasonOf = (reason: string): unknown => read([start, ...end(reason)]).at(-1);
  const table = {
    end_turn: "stop",
    stop_sequence: "stop",
    max_tokens: "length",
    model_context_window_exceeded: "length",
    refusal: "contentFilter",
    something_new: "stop",
  };
  for (const [theirs, ours] of Object.entries(table)) {
    assert.deepEqual(reasonOf(theirs), { kind: "finish", reason: ours });
  }
});

Deno.test("a model without structured output answers by a tool, whose arguments are the text", () => {
  const answer = [
    start,
    block(0, { type: "text", text: "Here you are:" }),
    stop(0),
    block(1, { type: "tool_use", id: "a", name: "json", input: {} }),
    piece(1, { type: "input_json_delta", partial_json: '{"a":1}' }),
    stop(1),
    ...end("tool_use"),
  ];
  assert.deepEqual(read(answer, "json").slice(1), [
    { kind: "text", text: '{"a":1}' },
    { kind: "usage", outputTokens: 9 },
    { kind: "finish", reason: "stop" },
  ]);
});

Deno.test("what is sent is what the model takes: no seed, and no temperature for a model without it", async () => {
  for (
    const [model, heeds] of [["claude-3-5-haiku-latest", true], ["claude-opus-4-7", false]] as const
  ) {
    await using server = serveAnthropic({
      answers: [{ text: ["."] }],
      ...(heeds ? {} : { noSampling: true }),
    });
    const open = openBody("anthropic", server.url, {
      key: ANTHROPIC_KEY,
      model,
      temperature: 0.25,
      seed: 1,
    });
    const opened = await openAnthropic(open, quickPowers());
    assert.equal((await opened.info()).knobs?.includes("temperature"), heeds);
    await hear(opened, requestOf([said("Hello.")]));
    const [body] = server.asked;
    assert.equal(body?.["temperature"], heeds ? 0.25 : undefined);
    assert.ok(!Object.hasOwn(body ?? {}, "seed"));
    assert.doesNotMatch(JSON.stringify(body), /provenance|BLUE/);
  }
});

Deno.test("a turn that pauses is to go on; the words of a refusal are part of the answer", () => {
  const paused = read([
    start,
    block(0, { type: "text", text: "I" }),
    stop(0),
    ...end("pause_turn"),
  ]);
  assert.deepEqual(paused.at(-1), { kind: "finish", reason: "paused" });
  const refused = read([
    start,
    {
      type: "message_delta",
      delta: {
        stop_reason: "refusal",
        stop_details: { type: "refusal", explanation: "Not this." },
      },
    },
    { type: "message_stop" },
  ]);
  assert.deepEqual(refused.slice(-2), [
    { kind: "text", text: "Not this." },
    { kind: "finish", reason: "contentFilter" },
  ]);
});
