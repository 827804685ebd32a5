/** What came of a call, in the words of MCP. @module */
import type { CallToolResult } from "@modelcontextprotocol/server";
import type { ServeResult } from "../../../contracts/wire_serve.ts";

/** A result as a host is given it: text, a value where the tool gave one, an error for every refusal. */
export function resultOf(result: ServeResult): CallToolResult {
  const { outcome, content, error, colour, label, task, waiting } = result;
  const ok = outcome === "ok";
  const texts = [
    ...(content === "" ? [] : [content]),
    ...(ok || error === undefined ? [] : [`${outcome}: ${error}`]),
    ...(waiting === undefined ? [] : [waitingText(result)]),
  ];
  const value = ok && waiting === undefined ? valueOf(content) : undefined;
  return {
    content: (texts.length === 0 ? [ok ? "" : outcome] : texts).map((text) => ({
      type: "text" as const,
      text,
    })),
    ...(value === undefined ? {} : { structuredContent: value }),
    ...(ok ? {} : { isError: true }),
    _meta: {
      "remit/outcome": outcome,
      "remit/colour": colour,
      "remit/label": label,
      "remit/task": task,
      ...(waiting === undefined
        ? {}
        : { "remit/question": waiting.question, "remit/questionKind": waiting.kind }),
    },
  };
}

/** A fault as a host is given it: its own sentence, as the refusal of a tool. */
export function refusalOf(code: string, message: string): CallToolResult {
  return {
    content: [{ type: "text", text: message }],
    isError: true,
    _meta: { "remit/fault": code },
  };
}

/** What waits, and where a person can answer it. */
function waitingText({ outcome, waiting }: ServeResult): string {
  if (waiting === undefined) return "";
  const what = outcome === "waiting"
    ? "Not done: this call waits for a person."
    : "What this call staged waits for a person before it is applied.";
  const how = waiting.kind === "stepUp"
    ? "It needs the operator's passphrase, and no host can answer it."
    : "Nobody can answer it through this host.";
  const after = outcome === "waiting"
    ? "\nOnce it is answered, make the same call again: it goes through or is refused as the person said."
    : "";
  return `${what} Question ${waiting.question}: ${waiting.summary}\n` +
    `${
      waiting.elicit ? "" : `${how} `
    }A person answers it at a terminal of this machine:\n${waiting.where}${after}`;
}

/** The value that a tool's text is, when it is one. */
function valueOf(content: string): Record<string, unknown> | undefined {
  if (!content.startsWith("{")) return undefined;
  try {
    const value: unknown = JSON.parse(content);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value))
      : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
