/** What a scripted model sees of a conversation. @module */
import type { ChatMessage } from "../../contracts/chat.ts";
import { Outcome } from "../../contracts/tool.ts";

/** One tool result as the conversation has it. */
export interface SeenResult {
  readonly tool: string;
  readonly outcome: Outcome;
  readonly text: string;
}

/** A conversation, seen from the place where the next response goes. */
export interface View {
  readonly system: string;
  /** The last user message, empty if there is none. */
  readonly user: string;
  /** How many user messages there are. */
  readonly message: number;
  /** Which inference of the conversation this is, from 1. */
  readonly inference: number;
  /** Which inference since the last user message this is, from 1. */
  readonly step: number;
  /** Every tool result, oldest first. */
  readonly results: readonly SeenResult[];
  /** The results that answer the newest calls; none after a user message. */
  readonly fresh: readonly SeenResult[];
  /** Names of the tools that are advertised. */
  readonly offered: ReadonlySet<string>;
  /** The newest message. */
  readonly last: ChatMessage | undefined;
}

/** Makes the view. */
export function viewOf(
  messages: readonly ChatMessage[],
  tools: readonly { readonly name: string }[],
): View {
  const system: string[] = [];
  const results: SeenResult[] = [];
  let user = "";
  let message = 0;
  let inference = 1;
  let step = 1;
  let fresh = 0;
  for (const each of messages) {
    switch (each.role) {
      case "system":
        system.push(each.content);
        break;
      case "user":
        user = each.content;
        message += 1;
        step = 1;
        fresh = results.length;
        break;
      case "assistant":
        inference += 1;
        step += 1;
        fresh = results.length;
        break;
      case "tool":
        results.push({
          tool: each.toolName ?? "",
          outcome: outcomeOf(each.content),
          text: each.content,
        });
    }
  }
  return {
    system: system.join("\n"),
    user,
    message,
    inference,
    step,
    results,
    fresh: results.slice(fresh),
    offered: new Set(tools.map((tool) => tool.name)),
    last: messages.at(-1),
  };
}

/** The runner begins what is not `ok` with `OUTCOME: REASON` (runner/result_message.ts). */
function outcomeOf(content: string): Outcome {
  const colon = content.indexOf(": ");
  const outcome = colon < 0 ? undefined : Outcome.safeParse(content.slice(0, Math.min(colon, 32)));
  return outcome?.success === true ? outcome.data : "ok";
}
