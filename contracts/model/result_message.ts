/** A tool's result as the conversation's next message. Used by runner/ and by kernel/task's intake and replay. @module */
import type { ChatMessage, ToolCall } from "./chat.ts";
import type { ToolResult } from "../tool/tool.ts";

/**
 * The message that answers `call`, in role `tool`, with the result's colour and label. Unless the
 * outcome is `ok`, the text begins with it so that a model can tell a refusal from a result.
 */
export function resultMessage(
  call: Pick<ToolCall, "id" | "name">,
  result: ToolResult,
): ChatMessage {
  return {
    role: "tool",
    content: result.outcome === "ok" ? result.content : failureText(result),
    toolCallId: call.id,
    toolName: call.name,
    provenance: {
      origin: "tool",
      source: call.name.slice(0, 128),
      colour: result.colour,
      label: result.label,
    },
  };
}

function failureText(result: ToolResult): string {
  const head = `${result.outcome}: ${result.error ?? "no reason was given"}`;
  return result.content === "" ? head : `${head}\n${result.content}`;
}
