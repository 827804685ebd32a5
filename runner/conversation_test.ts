import assert from "node:assert/strict";
import type { ChatMessage } from "../contracts/chat.ts";
import { CallId } from "../contracts/ids.ts";
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

Deno.test("a trimmed message takes the base back to before it", () => {
  const conversation = makeConversation([say("system", "s"), say("user", "u"), say("tool", "t")]);
  const [system, user] = conversation.messages();
  assert.ok(system !== undefined && user !== undefined);
  conversation.replace([system, user, say("tool", "[left out]")]);
  assert.deepEqual(conversation.unsent(), { base: 2, append: [say("tool", "[left out]")] });
  // Going back to an equal text does not pretend that the kernel still has it.
  conversation.replace([system, user, say("tool", "t")]);
  assert.equal(conversation.unsent().base, 2);
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
