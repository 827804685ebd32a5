/** Calls that a model writes into its text, and thoughts that are no text. @module */
import type { ChatMessage, ToolCall } from "../contracts/chat.ts";

/** Calls that are taken from one text. */
const MOST = 16;
const THINK = /<think>[\s\S]*?(?:<\/think>|$)/g;
const CALL = /<tool_call>([\s\S]*?)<\/tool_call>/g;

/**
 * The message with its thoughts taken out and, where it proposes no call in the model's own form, the calls that it
 * writes as `<tool_call>{"name":…,"arguments":{…}}</tool_call>`. The same message where there is nothing to take.
 * Ids are made of `place`.
 */
export function readEmbedded(message: ChatMessage, place: number): ChatMessage {
  const spoken = message.content.replace(THINK, "");
  const own = message.toolCalls ?? [];
  const written = own.length > 0 ? [] : callsIn(spoken, place);
  if (written.length === 0) {
    return spoken === message.content ? message : { ...message, content: spoken.trim() };
  }
  return { ...message, content: spoken.replace(CALL, "").trim(), toolCalls: written };
}

function callsIn(text: string, place: number): ToolCall[] {
  return [...text.matchAll(CALL)].slice(0, MOST).flatMap(([, json = ""], n) => {
    const call = callOf(json) ?? unreadable(json);
    // TRUST: the id is ours, the kernel only asks that it is printable and short.
    return call === undefined ? [] : [{ id: `written-${place}-${n}`, ...call } as ToolCall];
  });
}

/** An object that is no call: the model is told, and asked again. Undefined for prose about the tag. */
function unreadable(json: string): Omit<ToolCall, "id"> | undefined {
  if (!/^\s*[[{]/.test(json)) return undefined;
  const why =
    "Cannot make this call: it cannot be read; write one JSON object with name and arguments";
  return {
    name: /"name"\s*:\s*"([^"\n]{1,128})"/.exec(json)?.[1] ?? "unreadable_call",
    arguments: json.trim().slice(0, 2_000).toWellFormed(),
    unmade: { kind: "unreadable", why },
  };
}

function callOf(json: string): Pick<ToolCall, "name" | "arguments"> | undefined {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  if (typeof value !== "object" || value === null) return undefined;
  const { name, arguments: given = {} } = value as Readonly<Record<string, unknown>>;
  if (typeof name !== "string" || name === "" || name.length > 128) return undefined;
  return { name, arguments: typeof given === "string" ? given : JSON.stringify(given) };
}
