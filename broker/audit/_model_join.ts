/** Joining the `modelAsked` of a request that left this machine with what came of it. @module */
import type { StoredEvent } from "../../contracts/store.ts";
import { tryObject } from "./private.ts";

/** A request to a remote model, with its answer or failure when it has one. */
export interface ModelRequest {
  readonly asked: StoredEvent;
  readonly end?: StoredEvent;
}

/** Feeds on events of one task in order. */
export interface ModelJoin {
  /** The request that this event ends; undefined for one that asks, and for a model of this machine. */
  feed(event: StoredEvent): ModelRequest | undefined;
  /** Requests that nothing has ended yet, oldest first. */
  open(): readonly ModelRequest[];
}

/** Joins by nonce, which is drawn anew for each request. */
export function makeModelJoin(): ModelJoin {
  const open = new Map<string, StoredEvent>();
  return Object.freeze({
    feed(event: StoredEvent): ModelRequest | undefined {
      const isAsked = event.kind === "modelAsked";
      if (!isAsked && event.kind !== "inferred" && event.kind !== "modelFailed") return undefined;
      const nonce = tryObject(event.body)?.["nonce"];
      if (typeof nonce !== "string") return undefined;
      if (isAsked) {
        open.set(nonce, event);
        return undefined;
      }
      const asked = open.get(nonce);
      open.delete(nonce);
      return asked === undefined ? undefined : { asked, end: event };
    },
    open: () => [...open.values()].map((asked) => ({ asked })),
  });
}
