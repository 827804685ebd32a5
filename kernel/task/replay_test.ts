import assert from "node:assert/strict";
import { CallId } from "../../contracts/authority/mod.ts";
import type { ChatMessage } from "../../contracts/model/mod.ts";
import type { ToolResult } from "../../contracts/tool/mod.ts";
import { addUnheard } from "./replay.ts";

const provenance = { origin: "operator", colour: "BLUE", label: "internal" } as const;
const said: ChatMessage = { role: "user", content: "tidy", provenance };
const proposed: ChatMessage = {
  role: "assistant",
  content: "",
  toolCalls: ["a", "b"].map((id) => ({ id: CallId.parse(id), name: "file_edit", arguments: "{}" })),
  provenance: { ...provenance, origin: "model" },
};

function resultOf(id: string): ToolResult {
  return {
    callId: CallId.parse(id),
    outcome: "ok",
    content: `did ${id}`,
    colour: "RED",
    label: "secret",
  };
}

Deno.test("what was done stands before what was said next, with its colour, and other calls' results do not", () => {
  const conversation = [said, proposed];
  addUnheard(conversation, { results: [resultOf("b"), resultOf("c")], said });
  assert.deepEqual(conversation.slice(2).map(({ role, content }) => [role, content]), [
    ["tool", "did b"],
    ["user", "tidy"],
  ]);
  assert.equal(conversation[2]?.provenance.colour, "RED");
  assert.equal(conversation[2]?.toolCallId, "b");
});

Deno.test("after an answer without calls nothing is added but unheard words", () => {
  const answer: ChatMessage = { ...proposed, content: "Done.", toolCalls: [] };
  const conversation = [said, answer];
  addUnheard(conversation, { results: [resultOf("a")], said: undefined });
  assert.deepEqual(conversation, [said, answer]);
});
