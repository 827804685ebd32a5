/**
 * The starter for one caller: operations on exchanges, and watches of their events. Used by
 * handler.ts and server.ts.
 * @module
 */
import {
  Exchange,
  type ExchangeEvent,
  type ExchangeId,
  PeerArtifact,
  type PeerPage,
  type PeerQuery,
  PushConfig,
} from "../../../contracts/exchange/exchange.ts";
import { type Json, toJson } from "../../../contracts/base/json.ts";
import type { Port } from "../../../contracts/base/port.ts";
import {
  CardAnswer,
  type PeerHolder,
  type PeerSay,
  type PushAsk,
} from "../../../contracts/wire/wire_a2a.ts";
import { type Asked, refusalOf } from "./refusal.ts";
import * as z from "zod";

/** A watch of one exchange. */
export interface Watch {
  /** The exchange when the watch began. */
  readonly first: Exchange;
  /** The next event; undefined after `stop`, or when events came faster than they were taken. */
  next(): Promise<ExchangeEvent | undefined>;
  /** Ends the watch. Idempotent. */
  stop(): void;
}

/** All watches of a server. */
interface Watches {
  /** Watches an exchange; with `progress` also the agent's words. Rejects with the starter's fault. */
  open(token: string | null, exchange: ExchangeId, progress: boolean): Promise<Watch>;
  /** Sends, and watches what it was sent to. */
  send(say: PeerSay, progress: boolean): Promise<Watch>;
  /** Takes an event from the starter. */
  heard(body: Json): void;
  stopAll(): void;
}

/** Events of a watch that may wait, at most. */
const MAX_WAITING = 1_024;

const Event = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("state"), version: z.int(), exchange: Exchange }),
  z.object({
    kind: z.literal("artifact"),
    version: z.int(),
    artifact: PeerArtifact,
    append: z.boolean(),
    last: z.boolean(),
  }),
  z.object({ kind: z.literal("progress"), text: z.string().max(262_144) }),
]);
const Told = z.object({ watch: z.string().max(64), event: Event });

interface Live {
  readonly events: ExchangeEvent[];
  wake: (() => void) | undefined;
  over: boolean;
}

/** Makes the watches over a port. */
export function makeWatches(
  port: Pick<Port, "ask" | "tell">,
  powers: { newId(): string; note(text: string): void },
): Watches {
  const live = new Map<string, Live>();

  const stop = (watch: string): void => {
    const own = live.get(watch);
    if (own === undefined) return;
    live.delete(watch);
    own.over = true;
    own.wake?.();
    port.tell("a2aUnwatch", { watch });
  };

  const next = async (own: Live): Promise<ExchangeEvent | undefined> => {
    while (own.events.length === 0 && !own.over) {
      const { promise, resolve } = Promise.withResolvers<void>();
      own.wake = resolve;
      await promise;
    }
    return own.events.shift();
  };

  const begin = async (ask: (watch: string) => Promise<Json>): Promise<Watch> => {
    const watch = powers.newId();
    // Events may arrive with the answer: register the watch first.
    const own: Live = { events: [], wake: undefined, over: false };
    live.set(watch, own);
    try {
      const first = Exchange.parse(await ask(watch));
      return Object.freeze<Watch>({ first, next: () => next(own), stop: () => stop(watch) });
    } catch (error) {
      live.delete(watch);
      throw error;
    }
  };

  return Object.freeze<Watches>({
    open: (token, exchange, progress) =>
      begin((watch) => port.ask("a2aWatch", toJson({ token, exchange, watch, progress }))),
    send: (say, progress) =>
      begin((id) => port.ask("a2aSend", toJson({ ...say, watch: { id, progress } }))),
    heard(body): void {
      const told = Told.safeParse(body);
      if (!told.success) return powers.note("a2a: the starter told something unknown");
      const { watch, event } = told.data;
      const own = live.get(watch);
      if (own === undefined) return;
      if (own.events.length >= MAX_WAITING) return stop(watch);
      own.events.push(event);
      own.wake?.();
    },
    stopAll(): void {
      for (const watch of [...live.keys()]) stop(watch);
    },
  });
}

/** The starter for one caller: each request carries the caller's token; refusals are A2A's. */
export interface CallerOperations {
  card(): Promise<CardAnswer>;
  send(say: PeerSay): Promise<Exchange>;
  get(exchange: ExchangeId): Promise<Exchange>;
  list(query: Omit<PeerQuery, "peer">): Promise<PeerPage>;
  cancel(exchange: ExchangeId): Promise<Exchange>;
  push(exchange: ExchangeId, op: PushAsk["op"]): Promise<readonly PushConfig[]>;
  /** `progress`: the agent's words are told while it works. */
  watch(exchange: ExchangeId, progress: boolean): Promise<Watch>;
  /** Sends, and watches what it was sent to. */
  sendWatched(say: PeerSay, progress: boolean): Promise<Watch>;
}

const Page = z.object({
  exchanges: z.array(Exchange).max(100),
  total: z.int().min(0),
  next: z.string().max(128),
}).strict();

/** Makes the operations of the caller with a token; null may ask for the public card alone. */
export function makeCallerOperations(
  parts: { readonly port: Pick<Port, "ask">; readonly watches: Watches; note(text: string): void },
  token: string | null,
): CallerOperations {
  const during = async <T>(asked: Asked, does: () => Promise<T>): Promise<T> => {
    try {
      return await does();
    } catch (error) {
      const refusal = refusalOf(error, asked);
      if (refusal.message === "Internal error") {
        parts.note(`a2a ${asked} failed: ${error instanceof Error ? error.message : "?"}`);
      }
      throw refusal;
    }
  };
  const ask = <T>(
    asked: Asked,
    op: string,
    body: unknown,
    parse: (answer: Json) => T,
  ): Promise<T> => during(asked, async () => parse(await parts.port.ask(op, toJson(body))));
  return Object.freeze<CallerOperations>({
    card: () => ask("card", "a2aCard", { token }, (answer) => CardAnswer.parse(answer)),
    send: (say) => ask("send", "a2aSend", say, (answer) => Exchange.parse(answer)),
    get: (exchange) => ask("get", "a2aGet", { token, exchange }, (got) => Exchange.parse(got)),
    list: (query) => ask("list", "a2aList", { token, query }, (answer) => Page.parse(answer)),
    cancel: (exchange) =>
      ask("cancel", "a2aCancel", { token, exchange }, (got) => Exchange.parse(got)),
    push: (exchange, op) =>
      ask(
        "push",
        "a2aPush",
        { token, exchange, op },
        (answer) => z.array(PushConfig).max(16).parse(answer),
      ),
    watch: (exchange, progress) =>
      during("watch", () => parts.watches.open(token, exchange, progress)),
    sendWatched: (say, progress) => during("send", () => parts.watches.send(say, progress)),
  });
}

/** The caller of a request, which the gateway identified before. */
export interface A2aCaller {
  /** The bearer token of the request, sent along with every operation; null without one. */
  readonly token: string | null;
  /** The token's holder; absent without a valid token. */
  readonly holder?: PeerHolder;
}

/** A caller with a valid token. */
export interface KnownCaller {
  readonly token: string;
  readonly holder: PeerHolder;
}

/** The caller, if its token is valid. */
export function knownCaller({ token, holder }: A2aCaller): KnownCaller | undefined {
  return token === null || holder === undefined ? undefined : { token, holder };
}
