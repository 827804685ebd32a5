/** Joining the `intent` of a call with what came of it. @module */
import type { JsonObject } from "../../contracts/json.ts";
import type { StoredEvent } from "../../contracts/store.ts";
import { tryObject } from "./private.ts";

/** A call that ended, as its events tell it. */
export interface EndedCall {
  readonly call: string;
  readonly intent?: StoredEvent;
  readonly end: StoredEvent;
}

/** Feeds on events of one task in order. */
export interface CallJoin {
  /** The call that this event ends; undefined for an intent and for an event of no call. */
  feed(event: StoredEvent): EndedCall | undefined;
  /** Intents that nothing has ended yet, oldest first. */
  open(): readonly StoredEvent[];
}

function textOf(body: JsonObject | undefined, key: string): string {
  const value = body?.[key];
  return typeof value === "string" ? value : "";
}

/** Call ids are unique in a conversation; an outcome that names none means the latest such call. */
export function makeCallJoin(): CallJoin {
  const open = new Map<string, { readonly conversation: string; readonly event: StoredEvent }[]>();

  function take(call: string, conversation: string): StoredEvent | undefined {
    const waiting = open.get(call) ?? [];
    const at = waiting.findLastIndex((each) =>
      conversation === "" || each.conversation === "" || each.conversation === conversation
    );
    const [found] = at === -1 ? [] : waiting.splice(at, 1);
    if (waiting.length === 0) open.delete(call);
    return found?.event;
  }

  return Object.freeze({
    feed(event: StoredEvent): EndedCall | undefined {
      const body = tryObject(event.body);
      const call = textOf(body, "call");
      const conversation = textOf(body, "conversation");
      if (call === "") return undefined;
      if (event.kind === "intent") {
        open.set(call, [...open.get(call) ?? [], { conversation, event }]);
        return undefined;
      }
      if (event.kind !== "outcome" && event.kind !== "refused") return undefined;
      const intent = take(call, conversation);
      return { call, end: event, ...(intent === undefined ? {} : { intent }) };
    },
    open: () => [...open.values()].flat().map(({ event }) => event).sort((a, b) => a.seq - b.seq),
  });
}
