import assert from "node:assert/strict";
import { Fault } from "../../contracts/base/fault.ts";
import { ChatMessage } from "../../contracts/model/chat.ts";
import { StreamChunk } from "../../contracts/model/model.ts";
import { type Assembler, type Delta, makeAssembler } from "./assemble.ts";
import { makeDialect } from "./dialect/mod.ts";
import { makeStreamText } from "./redact/scrub.ts";
import { makeToolNames } from "./advertised.ts";

function assembler(more: Partial<Parameters<typeof makeAssembler>[0]> = {}) {
  const chunks: StreamChunk[] = [];
  const made: Assembler = makeAssembler({
    onChunk: (chunk) => void chunks.push(StreamChunk.parse(chunk)),
    names: makeToolNames(["file_read"]),
    knownIds: [],
    streamText: makeStreamText,
    maxTokens: 64,
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

Deno.test("a text longer than a message ends there, as one that was cut; thoughts are cut without a word", () => {
  const mega = "x".repeat(1_000_000);
  const { take, end } = assembler();
  take({ kind: "rationale", text: `${mega}more` });
  take({ kind: "text", text: `${mega}more` });
  take(finish);
  const answer = end();
  assert.equal(answer.content, mega);
  assert.equal(answer.finishReason, "length");
});

Deno.test("arguments longer than a message are a call that is not made, and told", () => {
  const { take, end } = assembler();
  take({ kind: "callStart", key: "a", name: "t" });
  for (let n = 0; n < 3; n++) take({ kind: "callDelta", key: "a", text: "x".repeat(600_000) });
  take(finish);
  const [call] = end().toolCalls;
  assert.match(call?.unmade?.why ?? "", /more than 1000000 characters; write in smaller pieces/);
  assert.equal(call?.arguments.length, 2_000);
});

Deno.test("of more calls than one answer may make the first are made, and the others told that they were not", () => {
  for (const count of [65, 128, 1_000]) {
    const { take, end } = assembler();
    for (let n = 0; n < count; n++) {
      take({ kind: "callStart", key: String(n), name: "t" });
      take({ kind: "callDelta", key: String(n), text: `{"n":${n}}` });
    }
    take(finish);
    const { toolCalls, finishReason } = end();
    assert.equal(finishReason, "toolCalls");
    assert.equal(toolCalls.length, Math.min(count, 128));
    assert.ok(toolCalls.slice(0, 64).every(({ unmade }) => unmade === undefined));
    assert.ok(toolCalls.slice(64).every(({ unmade }) => unmade?.kind === "surplus"));
    const last = toolCalls.at(-1)?.unmade?.why ?? "";
    assert.match(last, /too many at once/);
    assert.equal(/nor were 872 more/.test(last), count === 1_000);
    const message = { role: "assistant", content: "", toolCalls };
    assert.ok(
      ChatMessage.pick({ role: true, content: true, toolCalls: true }).safeParse(message).success,
    );
  }
});

Deno.test("the last call of an answer that was cut is not made, though its JSON was closed; earlier ones are", () => {
  const { take, end } = assembler();
  for (const key of ["a", "b"]) {
    take({ kind: "callStart", key, name: "file_write" });
    take({ kind: "callDelta", key, text: '{"path":"w/x","content":"half a"}' });
  }
  take({ kind: "finish", reason: "length" });
  const { toolCalls, finishReason } = end();
  assert.equal(finishReason, "length");
  assert.equal(toolCalls[0]?.unmade, undefined);
  assert.equal(toolCalls[1]?.unmade?.kind, "cut");
  assert.match(toolCalls[1]?.unmade?.why ?? "", /limit of 64 tokens.*smaller pieces/s);
});

Deno.test("of calls in text that were cut only one without its closing mark is not made", () => {
  const text = '<tool_call>{"name":"t","arguments":{}}</tool_call>';
  const cutAfter = (said: string) => {
    const { take, end } = assembler({ dialect: makeDialect(["hermes"], new Set(["t"])) });
    take({ kind: "text", text: said });
    take({ kind: "finish", reason: "length" });
    return end().toolCalls.map(({ unmade }) => unmade?.kind);
  };
  assert.deepEqual(cutAfter(text), [undefined]);
  assert.deepEqual(cutAfter(`${text} and then`), [undefined]);
  assert.deepEqual(cutAfter(text.slice(0, -12)), ["cut"]);
  assert.deepEqual(cutAfter(`${text}${text.slice(0, 30)}`), [undefined, "cut"]);
});

Deno.test("arguments that say null are none", () => {
  for (const none of ["null", ' "null" ', ""]) {
    const { take, end } = assembler();
    take({ kind: "callStart", key: "a", name: "t" });
    take({ kind: "callDelta", key: "a", text: none });
    take(finish);
    assert.equal(end().toolCalls[0]?.arguments, "{}");
  }
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
