import assert from "node:assert/strict";
import fc from "fast-check";
import type { ChatMessage } from "../../contracts/model/chat.ts";
import { CallId } from "../../contracts/authority/ids.ts";
import { turnsOf } from "./prepared.ts";

const provenance = { origin: "person", colour: "BLUE", label: "internal" } as const;
const message = (role: ChatMessage["role"], content: string, more: Partial<ChatMessage> = {}) => ({
  role,
  content,
  ...more,
  provenance,
});
const id = (text: string) => CallId.parse(text);

Deno.test("calls stand with their results, in order, also when a result is late, missing or of nothing", () => {
  const calls = ["a", "b", "c"].map((each) => ({ id: id(each), name: "t", arguments: "{}" }));
  const { system, turns } = turnsOf([
    message("system", "One."),
    message("system", "Two."),
    message("user", "Go."),
    message("assistant", "", { toolCalls: calls }),
    message("tool", "", { toolCallId: id("b") }),
    message("tool", "executionError: no", { toolCallId: id("a") }),
    message("tool", "of a call that was evicted", { toolCallId: id("z") }),
    message("system", "Hurry."),
  ], "m");
  assert.equal(system, "One.\n\nTwo.");
  assert.deepEqual(turns, [
    { role: "user", text: "Go." },
    {
      role: "assistant",
      text: "",
      calls: [
        { id: "a", name: "t", arguments: "{}", result: "executionError: no", failed: true },
        { id: "b", name: "t", arguments: "{}", result: "(empty)", failed: false },
        { id: "c", name: "t", arguments: "{}", result: "(this call was not made)", failed: true },
      ],
    },
    { role: "user", text: "of a call that was evicted\n\nHurry." },
  ]);
});

Deno.test("any conversation becomes one that every provider takes, and no text is lost", () => {
  const word = fc.constantFrom("", " ", "alpha", "beta ", "gamma\n");
  const calls = fc.array(
    fc.constantFrom("a", "b", "c").map((each) => ({ id: id(each), name: "t", arguments: "{}" })),
    { maxLength: 2 },
  );
  const one = fc.oneof(
    word.map((text) => message("system", text)),
    word.map((text) => message("user", text)),
    fc.tuple(word, calls).map(([text, toolCalls]) => message("assistant", text, { toolCalls })),
    fc.tuple(word, fc.constantFrom("a", "b", "x"))
      .map(([text, of]) => message("tool", text, { toolCallId: id(of) })),
  );
  fc.assert(
    fc.property(fc.array(one, { minLength: 1, maxLength: 12 }), (messages) => {
      const { system, turns } = turnsOf(messages, "m");
      assert.equal(turns[0]?.role, "user");
      const last = turns.at(-1);
      assert.ok(last?.role === "user" || (last?.calls.length ?? 0) > 0);
      for (const [n, turn] of turns.entries()) {
        const next = turns[n + 1];
        if (turn.role === "user") {
          assert.notEqual(turn.text.trim(), "");
          assert.notEqual(next?.role, "user");
        } else {
          assert.ok(turn.text !== "" || turn.calls.length > 0);
          assert.equal(turn.text, turn.text.trimEnd());
          for (const call of turn.calls) assert.notEqual(call.result.trim(), "");
          if (turn.calls.length === 0) assert.notEqual(next?.role, "assistant");
        }
      }
      const whole = JSON.stringify([system, turns]);
      for (const { content } of messages) assert.ok(whole.includes(content.trim()));
    }),
    { numRuns: 500 },
  );
});
