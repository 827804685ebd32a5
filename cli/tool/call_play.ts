/** The play of `tool call`: a scripted model that makes one call and says what came of it. @module */
import type { Json } from "../../contracts/mod.ts";

/** The id of the one call. */
export const CALL = "tool-call";

/** Tokens of the conversation around the call, at most. */
export const CALL_WINDOW = 10_000_000;
/** Nobody infers here: a large call or result uses up no limit. */
const FREE = { inputTokens: 0, outputTokens: 0 };

/** What the task is asked, and nothing else is said to its model. */
export function requestOf(tool: string): string {
  return `Call ${tool} once.`;
}

/** Two braces begin a template in a play: these stand for themselves. */
function plain(value: Json): Json {
  if (typeof value === "string") return value.replaceAll("{{", '{{ "{{" }}');
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(plain);
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, plain(each)]));
}

/** The play. What a plugin asks of the task's model is answered with a fault: there is none here. */
export function playOf(tool: string, args: Json): string {
  return JSON.stringify({
    scenario: "one call from the terminal",
    model: {
      displayName: "nobody: a call from the terminal",
      contextTokens: CALL_WINDOW,
      outputTokens: CALL_WINDOW,
    },
    stream: { chunkChars: 65_536 },
    turns: [
      {
        when: { user: { lacks: requestOf(tool) } },
        error: {
          code: "unavailable",
          message: "Cannot infer: a single call from the terminal has no model; " +
            "an agent that calls this tool has one (remit run -p TEXT --model NAME)",
        },
      },
      { calls: [{ id: CALL, tool, args: plain(args) }], usage: FREE },
      { say: "{{ tool.1 }}", whole: true, usage: FREE },
    ],
  });
}
