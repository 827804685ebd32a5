/** Renders messages of a conversation as safe lines. @module */
import type { Json } from "../../contracts/base/mod.ts";
import { ChatMessage } from "../../contracts/model/mod.ts";
import { displayBlock, displayText } from "../../text/mod.ts";
import { recordOf } from "../command.ts";
import type { KernelLink } from "../../launch/kernel/kernels.ts";

const MAX_CHARACTERS = 2_000_000;

/** One message: its author and trust, then its whole text and calls. */
export function messageLines(message: ChatMessage): readonly string[] {
  const { role, content, toolName, toolCalls = [], provenance } = message;
  const who = role === "tool" ? `tool ${displayText(toolName ?? "?", { max: 64 })}` : role;
  const source = provenance.source === undefined
    ? ""
    : ` ${displayText(provenance.source, { max: 200 })}`;
  const block = (text: string, prefix: string): readonly string[] =>
    displayBlock(text, { prefix, max: MAX_CHARACTERS, maxLines: 1_000_000, columns: 1_000_000 });
  return [
    `${who}  (${provenance.origin}${source}, ${provenance.colour}, ${provenance.label})`,
    ...(content === "" ? [] : block(content, "  ")),
    ...toolCalls.flatMap((call) =>
      block(call.arguments, `  ${displayText(call.name, { max: 64 })} `)
    ),
  ];
}

/** Reads all messages of an operation that answers in pages. */
export async function readMessages(
  link: Pick<KernelLink, "ask">,
  op: string,
  body: Readonly<Record<string, Json>>,
): Promise<{ readonly task: string; readonly turn: number; readonly messages: ChatMessage[] }> {
  const messages: ChatMessage[] = [];
  for (let from = 0;;) {
    const page = recordOf(await link.ask(op, { ...body, from }));
    messages.push(...ChatMessage.array().parse(page["messages"]));
    const { next } = page;
    if (typeof next !== "number") {
      return { task: String(page["task"]), turn: Number(page["turn"]), messages };
    }
    from = next;
  }
}
