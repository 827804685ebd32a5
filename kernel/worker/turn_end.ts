/** How a worker says that its turn ended. @module */
import { type ChatMessage, Fault, type Json, type TurnEnd } from "../../contracts/mod.ts";

const STOPS = [
  "answered",
  "iterations",
  "cancelled",
  "terminated",
  "contextOverflow",
  "length",
  "budget",
  "upstream",
  "brake",
] as const;

/** What is told of a request to which a model said and did nothing: whoever waits for an answer has none. */
const NOTHING = "the model answered with neither words nor calls; ask again, or take another model";

/**
 * How a turn of `conversation` ended. TRUST: a worker may say anything, and may not claim how the kernel ended it.
 * @throws Fault `badFrame`
 */
export function heardTurnEnd(value: Json, conversation: readonly ChatMessage[]): TurnEnd {
  const end = parseTurnEnd(value);
  const empty = end.stop === "answered" && end.text.trim() === "" && isSilent(conversation);
  return empty ? { stop: "upstream", text: NOTHING } : end;
}

/** Messages in the person's place that are no new words to answer. */
const BESIDE: ReadonlySet<ChatMessage["provenance"]["origin"]> = new Set([
  ...["file", "tool", "kernel"] as const,
]);

/** Somebody asked, and a model's answer is the last word, without a word or call since. */
function isSilent(conversation: readonly ChatMessage[]): boolean {
  const asked = conversation.findLastIndex(({ role, provenance: { origin } }) =>
    role === "user" && !BESIDE.has(origin)
  );
  const origin = conversation[asked]?.provenance.origin;
  // What comes in from others may be read in silence.
  if (origin !== "operator" && origin !== "person") return false;
  const said = conversation.slice(asked + 1).filter(({ role }) => role === "assistant");
  return conversation.at(-1)?.role === "assistant" &&
    said.every(({ content, toolCalls = [] }) => content.trim() === "" && toolCalls.length === 0);
}

function parseTurnEnd(value: Json): TurnEnd {
  if (value !== null && typeof value === "object" && !Array.isArray(value)) {
    const { stop, text } = value as { stop?: unknown; text?: unknown };
    const known = STOPS.find((each) => each === stop);
    if (known !== undefined && typeof text === "string" && text.length <= 1_000_000) {
      return { stop: known, text };
    }
  }
  throw new Fault("badFrame", "Cannot end the turn: the worker's answer does not parse");
}
