/** Exchanges that are watched: what the starter tells of each, in its order, bounded. @module */
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

/** One exchange that is watched. */
export interface Watch {
  /** As it stood when the watch began. */
  readonly first: Exchange;
  /** The next event; undefined when there is no more: it was stopped, or its events came faster than they were taken. */
  next(): Promise<ExchangeEvent | undefined>;
  /** No event is heard any more. Idempotent. */
  stop(): void;
}

/** All that are watched. */
interface Watches {
  /** Both reject with the starter's fault. `progress`: the agent's words are told while it works. */
  open(token: string | null, exchange: ExchangeId, progress: boolean): Promise<Watch>;
  /** Sends, and watches what it was sent to. */
  send(say: PeerSay, progress: boolean): Promise<Watch>;
  /** Hears what the starter tells. */
  heard(body: Json): void;
  stopAll(): void;
}

/** Events of one watch that may wait to be taken. */
const WAITING = 1_024;

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

/** Makes them over a port. */
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
    // What is told may come with the answer: it is heard from now on.
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
      if (own.events.length >= WAITING) return stop(watch);
      own.events.push(event);
      own.wake?.();
    },
    stopAll(): void {
      for (const watch of [...live.keys()]) stop(watch);
    },
  });
}

// What the starter is asked for one caller, with its credential each time, and its refusals in
// A2A's words.

/** The starter, as one caller may ask it. */
export interface Desk {
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

/** Makes it for a credential; null asks for the public card only. */
export function makeDesk(
  parts: { readonly port: Pick<Port, "ask">; readonly watches: Watches; note(text: string): void },
  token: string | null,
): Desk {
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
  return Object.freeze<Desk>({
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

// Who a request is from, as the gateway's door settled it before the protocol sees it.

/** Who asks. */
export interface A2aCaller {
  /** The bearer token that came with the request; null where none did. It goes along with everything that is asked. */
  readonly token: string | null;
  /** Whose it is; absent where there is no token or nobody knows it. */
  readonly holder?: PeerHolder;
}

/** A caller that is known. */
export interface KnownCaller {
  readonly token: string;
  readonly holder: PeerHolder;
}

/** The caller, if it is known. */
export function knownCaller({ token, holder }: A2aCaller): KnownCaller | undefined {
  return token === null || holder === undefined ? undefined : { token, holder };
}
