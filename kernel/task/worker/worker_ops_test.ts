import { deepEqual, equal, throws } from "node:assert/strict";
import type { ChatMessage, ToolCall } from "../../../contracts/model/mod.ts";
import { heardTurnEnd } from "./worker_ops.ts";

type Origin = ChatMessage["provenance"]["origin"];

const said = (
  role: ChatMessage["role"],
  content: string,
  origin: Origin,
  more: Partial<ChatMessage> = {},
): ChatMessage => ({
  ...{ role, content, ...more },
  provenance: { origin, colour: "BLUE", label: "internal" },
});
const asks = (origin: Origin = "operator"): ChatMessage => said("user", "Tidy up.", origin);
const EMPTY = said("assistant", " \n", "model");
const CALL = { id: "c1", name: "file_list", arguments: "{}" } as ToolCall;
const CALLS = said("assistant", "", "model", { toolCalls: [CALL] });
const RESULT = said("tool", "nothing", "tool", { toolCallId: CALL.id });
const SILENCE = { stop: "answered", text: "" };

Deno.test("a model that answers a person with neither words nor calls has failed", () => {
  for (const origin of ["operator", "person"] as const) {
    const before = [asks(), said("assistant", "Tidied.", "model")];
    const end = heardTurnEnd(SILENCE, [...before, asks(origin), EMPTY]);
    equal(end.stop, "upstream");
    equal(
      end.text,
      "the model answered with neither words nor calls; ask again, or take another model",
    );
    const instructions = said("user", "AGENTS.md says: be brief.", "file");
    equal(heardTurnEnd(SILENCE, [asks(origin), instructions, EMPTY]).stop, "upstream");
  }
});

Deno.test("a model that did something and then has no more to say has answered", () => {
  const conversation = [asks(), CALLS, RESULT, EMPTY];
  deepEqual(heardTurnEnd(SILENCE, conversation), SILENCE);
  const told = said("user", "[Remit: settlement 1]", "tool");
  deepEqual(heardTurnEnd(SILENCE, [asks(), CALLS, RESULT, told, EMPTY]), SILENCE);
});

Deno.test("what peers and other agents say may be read in silence, and a program needs no model", () => {
  for (const origin of ["peer", "agent"] as const) {
    deepEqual(heardTurnEnd(SILENCE, [asks(), asks(origin), EMPTY]), SILENCE);
  }
  deepEqual(heardTurnEnd(SILENCE, [asks()]), SILENCE);
  deepEqual(heardTurnEnd(SILENCE, []), SILENCE);
});

Deno.test("an end that a worker tells otherwise is taken as it is told, or not at all", () => {
  const cancelled = { stop: "cancelled", text: "" };
  deepEqual(heardTurnEnd(cancelled, [asks(), EMPTY]), cancelled);
  for (const each of [null, [], {}, { stop: "killed", text: "" }, { stop: "answered", text: 1 }]) {
    throws(() => heardTurnEnd(each, []), /does not parse/);
  }
});
