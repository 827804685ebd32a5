import assert from "node:assert/strict";
import { Fault } from "../../contracts/base/fault.ts";
import type { StreamChunk } from "../../contracts/model/model.ts";
import { type AnsweredText, makeAnswerText } from "./answer_text.ts";

function read(
  pieces: readonly string[],
  { tools = ["file_read"], thoughts = false }: { tools?: string[]; thoughts?: boolean } = {},
  limit?: number,
): { readonly answer: AnsweredText; readonly chunks: readonly StreamChunk[] } {
  const chunks: StreamChunk[] = [];
  const text = makeAnswerText({
    onChunk: (chunk) => chunks.push(chunk),
    tools: new Set(tools),
    knownIds: ["call_1"],
    thoughts,
  });
  for (const piece of pieces) text.push(piece);
  return { answer: text.end(limit), chunks };
}
const texts = (chunks: readonly StreamChunk[]): string =>
  chunks.map(({ textDelta = "" }) => textDelta).join("");

const CALL = '<tool_call>{"name":"file_read","arguments":{"path":"<tool_call>"}}</tool_call>';

Deno.test("words go on at once, a call when it is whole, however the answer is cut into pieces", () => {
  const whole = `Let me look. ${CALL}`;
  for (let size = 1; size <= whole.length; size += 3) {
    const pieces: string[] = [];
    for (let at = 0; at < whole.length; at += size) pieces.push(whole.slice(at, at + size));
    const { answer, chunks } = read(pieces);
    assert.equal(answer.content, "Let me look. ");
    assert.equal(texts(chunks), answer.content);
    assert.deepEqual(answer.toolCalls, [
      { id: "call_2", name: "file_read", arguments: '{"path":"<tool_call>"}' },
    ]);
    assert.deepEqual(chunks.at(-1), { toolCallDelta: answer.toolCalls[0] });
  }
  assert.deepEqual(read(["Let me", " look"]).chunks[0], { textDelta: "Let me" });
});

Deno.test("what only begins like a call is text in the end, and without tools all of it is", () => {
  assert.equal(read(["a <tool", "_c"]).answer.content, "a <tool_c");
  const { answer } = read([CALL], { tools: [] });
  assert.equal(answer.content, CALL);
  assert.deepEqual(answer.toolCalls, []);
});

Deno.test("a call that was cut is dropped, and the answer says so", () => {
  const { answer } = read(["ok ", '<tool_call>{"name":"file_read","argu']);
  assert.equal(answer.content, "ok ");
  assert.equal(answer.cut, true);
  assert.deepEqual(answer.toolCalls, []);
});

Deno.test("a call that the answer's limit cut is told as not made, however little of it is there", () => {
  const whole = '<tool_call>{"name":"file_read","arguments":{"path":"notes';
  for (let end = "<tool_call>".length; end <= whole.length; end++) {
    const { answer, chunks } = read(["Yes. ", whole.slice(0, end)], {}, 64);
    const [call, ...more] = answer.toolCalls;
    assert.deepEqual([answer.content, more.length, call?.unmade?.kind], ["Yes. ", 0, "cut"]);
    assert.match(call?.unmade?.why ?? "", /limit of 64 tokens.*smaller pieces/s);
    assert.ok("file_read".startsWith(call?.name ?? "?"));
    assert.deepEqual(chunks.at(-1), { toolCallDelta: call });
  }
  const { answer } = read([CALL, whole], {}, 64);
  assert.deepEqual(answer.toolCalls.map(({ unmade }) => unmade?.kind), [undefined, "cut"]);
  assert.equal(answer.toolCalls[1]?.arguments, '{"path":"notes');
});

Deno.test("a model that goes round in circles is stopped, and what only has a rhythm is not", () => {
  for (
    const unit of [
      "file_read_",
      "I am sorry. I can't. ",
      "x",
      `${"The plan is this. ".repeat(9)}\n`,
    ]
  ) {
    assert.throws(
      () => read(["First. ", ...Array.from({ length: 4_000 }, () => unit)]),
      (error) => {
        assert.ok(error instanceof Fault && error.code === "upstream");
        assert.match(error.message, /the model repeats itself \(".+", again and again\)/);
        return error.detail?.["tried"] === true && error.detail["repeats"] === true;
      },
    );
  }
  const counted = Array.from({ length: 400 }, (_, n) => `${n},${n * n}\n`);
  const table = `|${"---|".repeat(40)}\n`;
  assert.ok(read([...counted, table, "=".repeat(120), ...counted]).answer.content.length > 4_000);
});

Deno.test("a call of a tool that was not offered never leaves the service", () => {
  assert.throws(
    () => read([CALL], { tools: ["other"] }),
    (error) => error instanceof Fault && error.code === "upstream",
  );
});

Deno.test("thoughts go to the trace and into no answer", () => {
  const { answer, chunks } = read(["<think>hm", "m</think>Yes."], { thoughts: true });
  assert.equal(answer.content, "Yes.");
  assert.equal(chunks.map(({ rationale = "" }) => rationale).join(""), "hmm");
});
