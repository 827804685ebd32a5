/** Exchanges that are watched: what the starter tells of each, in its order, bounded. @module */
import * as z from "zod";
import {
  Exchange,
  type ExchangeEvent,
  type ExchangeId,
  PeerArtifact,
} from "../../../contracts/exchange.ts";
import { type Json, toJson } from "../../../contracts/json.ts";
import type { Port } from "../../../contracts/port.ts";
import type { PeerSay } from "../../../contracts/wire_a2a.ts";

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
export interface Watches {
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
