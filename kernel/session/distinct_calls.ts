/** Ids of calls that no other call of a conversation has. @module */
import { CallId, type ChatMessage } from "../../contracts/mod.ts";

/**
 * Calls under ids that the conversation does not know yet. A repeated id with the same arguments
 * would be taken for the same call, and not made.
 */
export function distinctCalls(
  calls: ChatMessage["toolCalls"],
  conversation: readonly ChatMessage[],
): ChatMessage["toolCalls"] {
  if (calls === undefined || calls.length === 0) return calls;
  const known = new Set(
    conversation.flatMap(({ toolCalls }) => toolCalls?.map(({ id }) => id) ?? []),
  );
  return calls.map((call) => {
    let id = call.id;
    for (let n = 2; known.has(id); n++) id = CallId.parse(`${call.id.slice(0, 100)}#${n}`);
    known.add(id);
    return { ...call, id };
  });
}
