import assert from "node:assert/strict";
import type { ChatMessage } from "../contracts/model/chat.ts";
import { CallId } from "../contracts/authority/ids.ts";
import { makeConversation, skipCalls, unansweredCalls } from "./conversation.ts";

const provenance = { origin: "person", colour: "BLUE", label: "internal" } as const;
const say = (role: ChatMessage["role"], content: string): ChatMessage => ({
  role,
  content,
  provenance,
});
const id = (text: string): CallId => CallId.parse(text);

Deno.test("only what the kernel lacks is sent, and again after a failure", () => {
  const conversation = makeConversation([say("system", "s")]);
  conversation.append(say("user", "u"));
  assert.deepEqual(conversation.unsent(), { base: 1, append: [say("user", "u")] });
  assert.deepEqual(conversation.unsent(), { base: 1, append: [say("user", "u")] });
  conversation.settle(say("assistant", "a"));
  assert.deepEqual(conversation.unsent(), { base: 3, append: [] });
});

Deno.test("where the kernel made room, it has everything: nothing is sent twice", () => {
  const conversation = makeConversation([say("system", "s"), say("user", "u"), say("tool", "t")]);
  conversation.append(say("tool", "new"));
  conversation.changed(2, [say("user", "[summary]"), say("tool", "new")]);
  assert.deepEqual(conversation.messages().map(({ content }) => content), [
    "s",
    "u",
    "[summary]",
    "new",
  ]);
  assert.deepEqual(conversation.unsent(), { base: 4, append: [] });
});

Deno.test("calls without an answer are found, also when two have one id", () => {
  const calls = [
    { id: id("a"), name: "file_read", arguments: "{}" },
    { id: id("b"), name: "file_read", arguments: "{}" },
    { id: id("a"), name: "file_list", arguments: "{}" },
  ];
  const messages: ChatMessage[] = [
    say("user", "u"),
    { ...say("assistant", ""), toolCalls: calls },
    { ...say("tool", "r"), toolCallId: id("a") },
  ];
  assert.deepEqual(unansweredCalls(messages).map((call) => call.name), ["file_read", "file_list"]);
  assert.deepEqual(unansweredCalls([say("user", "u")]), []);
});

Deno.test("a skipped call is answered in role tool, as cancelled", () => {
  const conversation = makeConversation([]);
  skipCalls(conversation, [{ id: id("a"), name: "file_read", arguments: "{}" }]);
  const [answer] = conversation.messages();
  assert.equal(answer?.role, "tool");
  assert.equal(answer?.toolCallId, "a");
  assert.match(answer?.content ?? "", /^cancelled: Cannot make this call/);
});
