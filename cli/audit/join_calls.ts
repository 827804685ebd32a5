/** Joins a call's intent with its outcome into one event. @module */
import { type SeenEvent, textOf } from "./event_fields.ts";

const FROM_INTENT = ["rule", "decision", "effect", "mode", "question", "actor", "model"];

/** Makes the join: returns each event, and outcomes with fields of their intents. */
export function makeCallJoin(): (event: SeenEvent) => SeenEvent {
  const intents = new Map<string, SeenEvent>();
  return (event) => {
    const call = textOf(event, "call");
    if (event.event === "intent") {
      intents.set(call, event);
      return event;
    }
    const intent = event.event === "outcome" ? intents.get(call) : undefined;
    if (intent === undefined) return event;
    intents.delete(call);
    const kept = Object.fromEntries(
      FROM_INTENT.filter((name) => intent.body[name] !== undefined)
        .map((name) => [name, intent.body[name]]),
    );
    return {
      ...event,
      body: { ...kept, ...event.body, intent: true },
      private: { arguments: intent.private["arguments"], ...event.private },
    };
  };
}
