import assert from "node:assert/strict";
import { Fault } from "../../contracts/fault.ts";
import { ChatMessage } from "../../contracts/chat.ts";
import { StreamChunk } from "../../contracts/model.ts";
import { type Assembler, makeAssembler, MOST_CALLS } from "./assemble.ts";
import type { Delta } from "./answer/delta.ts";
import { makeDialect } from "./dialect/mod.ts";
import { makeStreamText } from "./answer/stream_text.ts";
import { makeToolNames } from "./tool_names.ts";

function assembler(more: Partial<Parameters<typeof makeAssembler>[0]> = {}) {
  const chunks: StreamChunk[] = [];
  const made: Assembler = makeAssembler({
    onChunk: (chunk) => void chunks.push(StreamChunk.parse(chunk)),
    names: makeToolNames(["file_read"]),
    knownIds: [],
    streamText: makeStreamText,
    ...more,
  });
  return { ...made, chunks };
}
const finish: Delta = { kind: "finish", reason: "stop" };
const upstream = (error: unknown): boolean => error instanceof Fault && error.code === "upstream";

Deno.test("ids are the provider's where they fit and are new; others are made", () => {
  const { take, end } = assembler({ knownIds: ["old", "call_1"] });
  const ids = ["new", "new", "old", "", "with space", "x".repeat(129), undefined];
  for (const [n, id] of ids.entries()) take({ kind: "callStart", key: String(n), id, name: "t" });
  take(finish);
  const calls = end().toolCalls;
  assert.equal(calls[0]?.id, "new");
  assert.deepEqual(calls.slice(1).map(({ id }) => id), [
    "call_2",
    "call_3",
    "call_4",
    "call_5",
    "call_6",
    "call_7",
  ]);
});

Deno.test("a call without arguments has an empty object, one whose arguments are no JSON has them as they came", () => {
  const { take, end, chunks } = assembler();
  take({ kind: "callStart", key: "a", id: "a", name: "file_read" });
  take({ kind: "callStart", key: "b", id: "b", name: "rm -rf \ud800" });
  take({ kind: "callDelta", key: "b", text: '{"broken' });
  take(finish);
  const { toolCalls, finishReason } = end();
  assert.deepEqual(toolCalls.map((call) => call.arguments), ["{}", '{"broken']);
  assert.equal(toolCalls[1]?.name, "rm -rf \ufffd");
  assert.equal(finishReason, "toolCalls");
  assert.deepEqual(chunks.at(-1), { toolCallDelta: { id: "a", arguments: "{}" } });
});

Deno.test("a call that was cut before its arguments came is not made with none", () => {
  const { take, end } = assembler();
  for (const id of ["a", "b"]) take({ kind: "callStart", key: id, id, name: "file_read" });
  take({ kind: "finish", reason: "length" });
  assert.deepEqual(end().toolCalls.map((call) => call.arguments), ["{}", ""]);
});

Deno.test("chunks are at most 65,536 characters, and join to the message", () => {
  const { take, end, chunks } = assembler();
  take({ kind: "text", text: "😀".repeat(100_000) });
  take({ kind: "rationale", text: "y".repeat(70_000) });
  take(finish);
  assert.equal(chunks.map(({ textDelta = "" }) => textDelta).join(""), end().content);
  assert.equal(chunks.length, 4 + 2);
});

Deno.test("past a limit it is over: text, thoughts, arguments, calls", () => {
  const mega = "x".repeat(1_000_000);
  const { take } = assembler();
  take({ kind: "text", text: mega });
  assert.throws(() => take({ kind: "text", text: "x" }), upstream);
  const thinking = assembler();
  thinking.take({ kind: "rationale", text: mega });
  assert.throws(() => thinking.take({ kind: "rationale", text: "x" }), upstream);
  const calling = assembler();
  calling.take({ kind: "callStart", key: "a", name: "t" });
  calling.take({ kind: "callDelta", key: "a", text: mega });
  assert.throws(() => calling.take({ kind: "callDelta", key: "a", text: "x" }), upstream);
  const many = assembler();
  for (let n = 0; n < MOST_CALLS; n++) many.take({ kind: "callStart", key: String(n), name: "t" });
  assert.throws(() => many.take({ kind: "callStart", key: "more", name: "t" }), upstream);
  many.take(finish);
  const message = { role: "assistant", content: "", toolCalls: many.end().toolCalls };
  assert.ok(
    ChatMessage.pick({ role: true, content: true, toolCalls: true }).safeParse(message).success,
  );
});

Deno.test("a stream without a finish is half a stream; one that goes on with what it did not begin is broken", () => {
  const { take, end } = assembler();
  take({ kind: "text", text: "half" });
  assert.throws(end, upstream);
  assert.throws(() => take({ kind: "callDelta", key: "a", text: "{}" }), upstream);
});

Deno.test("a dialect's calls and thoughts come out of the text only where one is set", () => {
  const text =
    '<think>hm</think>So: <tool_call>{"name":"file_read","arguments":{"path":"a"}}</tool_call>';
  const run = (dialect: boolean) => {
    const names = new Set(["file_read"]);
    const made = assembler(dialect ? { dialect: makeDialect(["think", "hermes"], names) } : {});
    for (const unit of text) made.take({ kind: "text", text: unit });
    made.take(finish);
    return { ...made.end(), thought: made.chunks.map(({ rationale = "" }) => rationale).join("") };
  };
  const plain = run(false);
  assert.equal(plain.content, text);
  assert.deepEqual(plain.toolCalls, []);
  const read = run(true);
  assert.equal(read.content.trim(), "So:");
  assert.equal(read.thought, "hm");
  assert.deepEqual(read.toolCalls.map(({ name, arguments: args }) => [name, JSON.parse(args)]), [
    ["file_read", { path: "a" }],
  ]);
  assert.equal(read.finishReason, "toolCalls");
});
