import assert from "node:assert/strict";
import { ChatMessage, ECHO_LIMIT } from "../../contracts/model/chat.ts";
import { hear, provenance, requestOf, said, tool } from "../_fixture/asking.ts";
import { type Answer, OPENAI_KEY, openaiEvent, serveOpenai } from "../_fixture/providers/mod.ts";
import { openBody, quickPowers } from "./_fixture/bench.ts";
import { openOpenai } from "./openai/open.ts";
import { echoText, parseEcho } from "./sdk_prompt.ts";
import { fieldsOf, listOf } from "./wire_json.ts";

const tools = [tool("file_read")];

/** An answer of two calls, thought over first and signed as Gemini signs. */
function thinking(thought: string): Answer {
  const call = (index: number, signature: string) => ({
    index,
    id: `call_${index}`,
    type: "function",
    function: { name: "file_read", arguments: '{"path":"a"}' },
    ...(signature === "" ? {} : { extra_content: { google: { thought_signature: signature } } }),
  });
  const delta = (delta: object, finish_reason: string | null = null): string =>
    openaiEvent({ choices: [{ index: 0, delta, finish_reason }] });
  return {
    raw: [
      delta({ reasoning_content: thought.slice(0, 3) }),
      delta({ reasoning_content: thought.slice(3) }),
      delta({ tool_calls: [call(0, "c2lnbmVk"), call(1, "")] }),
      delta({}, "tool_calls"),
      "data: [DONE]\n\n",
    ],
  };
}

/** The same conversation asked on, by a model of this name: its messages as they went over the wire. */
async function askedOn(
  { thought = "I think.", name = "tiny", more = [] }: {
    readonly thought?: string;
    readonly name?: string;
    readonly more?: readonly ChatMessage[];
  },
): Promise<readonly unknown[]> {
  await using server = serveOpenai({ answers: [thinking(thought), { text: ["Done."] }] });
  const open = (model: string) =>
    openOpenai(openBody("openai", server.url, { key: OPENAI_KEY, model }), quickPowers());
  const { response } = await hear(await open("tiny"), requestOf([said("Read.")], { tools }));
  const results = (response.message.toolCalls ?? []).map((call): ChatMessage => ({
    role: "tool",
    content: "ok: text",
    toolCallId: call.id,
    toolName: "file_read",
    provenance,
  }));
  // As it comes back out of the log.
  const answer = ChatMessage.parse(JSON.parse(JSON.stringify(response.message)));
  await hear(await open(name), requestOf([said("Read."), answer, ...results, ...more], { tools }));
  return listOf(server.asked[1]?.["messages"]);
}

const signatures = (messages: readonly unknown[]): unknown[] =>
  listOf(fieldsOf(messages[1])["tool_calls"]).map((call) =>
    fieldsOf(fieldsOf(fieldsOf(call)["extra_content"])["google"])["thought_signature"]
  );
const thoughts = (messages: readonly unknown[]): unknown =>
  fieldsOf(messages[1])["reasoning_content"];

Deno.test("a model finds its thoughts and its signatures again while it works on", async () => {
  const messages = await askedOn({});
  assert.equal(thoughts(messages), "I think.");
  assert.deepEqual(signatures(messages), ["c2lnbmVk", undefined]);
});

Deno.test("at the next question the thoughts are gone, the signatures stay", async () => {
  const messages = await askedOn({ more: [said("And now?")] });
  assert.equal(thoughts(messages), undefined);
  assert.deepEqual(signatures(messages), ["c2lnbmVk", undefined]);
});

Deno.test("another model is told neither", async () => {
  const messages = await askedOn({ name: "other" });
  assert.equal(thoughts(messages), undefined);
  assert.deepEqual(signatures(messages), [undefined, undefined]);
});

Deno.test("thoughts that are too long to keep are not kept, and the answer stands", async () => {
  const messages = await askedOn({ thought: "x".repeat(ECHO_LIMIT) });
  assert.equal(thoughts(messages), undefined);
  assert.deepEqual(signatures(messages), ["c2lnbmVk", undefined]);
});

Deno.test("mallory's signature is longer than an echo may be: it is left out, with the thoughts or without", () => {
  const signature = "x".repeat(ECHO_LIMIT);
  assert.equal(echoText({ signature, thoughts: "t" }), undefined);
  assert.equal(echoText({ signature, thoughts: "" }), undefined);
});

Deno.test("what is no echo says nothing", () => {
  for (const text of [undefined, "", "{", "[]", "7", '{"signature":7}']) {
    assert.deepEqual(parseEcho(text), { signature: "", thoughts: "" });
  }
});
