/** The lines of /api/chat as deltas. TRUST: from the provider. @module */
import type { Delta } from "../answer/delta.ts";
import type { WireResponse } from "../endpoint.ts";
import { type Asked, faultOfStreamError } from "../provider_fault.ts";
import { malformed } from "./fault.ts";
import { linesOf, type Members, membersOf, parseMembers, textOf, wholeOf } from "./json.ts";

/** Gives on each line of an answer. Rejects with a fault: an error's own, or `upstream`. */
export async function readChat(
  body: WireResponse["body"],
  { asked, take }: { readonly asked: Asked; readonly take: (delta: Delta) => void },
): Promise<void> {
  let calls = 0;
  let done = false;
  for await (const line of linesOf(body)) {
    if (done) throw malformed("goes on after its end");
    const fields = parseMembers(line);
    if (fields["error"] !== undefined) throw faultOfStreamError(fields["error"], asked);
    const message = membersOf(fields["message"]) ?? {};
    const [thinking, content] = [textOf(message["thinking"]), textOf(message["content"])];
    if (thinking !== "") take({ kind: "rationale", text: thinking });
    if (content !== "") take({ kind: "text", text: content });
    const made = message["tool_calls"];
    for (const call of Array.isArray(made) ? made : []) {
      // An id of the server's counts within one answer only: one is made.
      const key = String(calls++);
      const { name, text } = callOf(call);
      take({ kind: "callStart", key, name });
      take({ kind: "callDelta", key, text });
    }
    if (fields["done"] !== true) continue;
    done = true;
    take(usageOf(fields));
    take({ kind: "finish", reason: fields["done_reason"] === "length" ? "length" : "stop" });
  }
}

function callOf(call: unknown): { readonly name: string; readonly text: string } {
  const given = membersOf(membersOf(call)?.["function"]);
  const name = given?.["name"];
  if (typeof name !== "string" || name === "") throw malformed("has a call without a name");
  const args = given?.["arguments"] ?? {};
  // Text is what the model wrote; the gate judges it.
  if (typeof args === "string") return { name, text: args };
  try {
    return { name, text: JSON.stringify(args) };
  } catch (cause) {
    throw malformed("has arguments that are nested too deeply", cause);
  }
}

function usageOf(fields: Members): Delta {
  const inputTokens = wholeOf(fields["prompt_eval_count"], 0);
  const outputTokens = wholeOf(fields["eval_count"], 0);
  return {
    kind: "usage",
    ...(inputTokens === undefined ? {} : { inputTokens }),
    ...(outputTokens === undefined ? {} : { outputTokens }),
  };
}
