/** A change of an exchange as the documents and the event that say it. @module */
import {
  type DocumentWrite,
  type Exchange,
  type JsonObject,
  type NewEvent,
  type TaskRequest,
  toJsonObject,
} from "../../contracts/mod.ts";
import { type ExchangeHead, HEAD, headBody, PART, type Part, partId, REQUEST } from "./head.ts";

/** Most messages and artifacts of one exchange, as contracts/exchange.ts has it. */
export const MOST_MESSAGES = 1_000, MOST_ARTIFACTS = 256;

/** A change of one exchange. */
export interface ExchangeChange {
  readonly before?: ExchangeHead | undefined;
  readonly next: ExchangeHead;
  readonly parts?: readonly Part[];
  /** What its task is made of once a person lets it; null: not needed any more. */
  readonly request?: TaskRequest | null;
  /** Nobody but the kernel sees a difference: the version stays. */
  readonly quiet?: boolean;
  /** Ids and counts for the event. */
  readonly note?: JsonObject;
}

/** An exchange as its peer may see it. */
export function shownOf(head: ExchangeHead, parts: readonly Part[]): Exchange {
  const { clearance: _c, first: _f, asking: _a, said: _s, bytes: _b, ...rest } = head;
  const { messages: _m, answering: _w, ...shown } = rest;
  return {
    ...shown,
    history: parts.flatMap((part) => part.kind === "message" ? [part.message] : []),
    artifacts: parts.flatMap((part) => part.kind === "artifact" ? [part.artifact] : []),
    pushes: head.pushes.map(({ config }) => config),
  };
}

/** What was said stays in the history when something else stands in its place. */
export function supersededBy({ before, next }: ExchangeChange): readonly Part[] {
  const old = before?.status;
  if (before === undefined || old === undefined || !before.said) return [];
  if (next.status?.id === old.id || before.messages >= MOST_MESSAGES) return [];
  return [{ kind: "message", message: old }];
}

/** What the log says of it: ids, states and counts. */
export function eventOf({ before, note = {} }: ExchangeChange, head: ExchangeHead): NewEvent {
  const { id, peer, agent, state, version, task, messages, artifacts } = head;
  return {
    kind: "exchange",
    body: {
      ...{ exchange: id, peer, agent, state, version, messages, artifacts },
      ...(before === undefined || before.state === state ? {} : { from: before.state }),
      ...(task === undefined ? {} : { task }),
      ...note,
    },
  };
}

/** Its documents: the head, what is new, and the request while it waits for a person. */
export function documentsOf(
  { before, next, parts = [], request }: ExchangeChange,
  expect: number,
): readonly DocumentWrite[] {
  const { id } = next;
  const written = parts.map((part): DocumentWrite => ({
    ...{ kind: PART, id: partId(id, part), task: id, expect: 0, body: toJsonObject(part) },
  }));
  const kept: DocumentWrite[] = request === undefined ? [] : [{
    ...{ kind: REQUEST, id, task: id, expect: before === undefined ? 0 : 1 },
    body: request === null ? {} : toJsonObject({ request }),
  }];
  return [{ kind: HEAD, id, task: id, expect, body: headBody(next) }, ...written, ...kept];
}
