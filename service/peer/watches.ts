/**
 * Streams of exchanges: one watch in the kernel for each exchange, shared by all its watchers. A
 * new watcher gets the current exchange and then every later event, none twice and none missing.
 * Used by front.ts and mediator.ts.
 * @module
 */
import * as z from "zod";
import { Fault, type Json, type JsonObject } from "../../contracts/base/mod.ts";
import {
  Exchange,
  type ExchangeEvent,
  ExchangeId,
  PeerArtifact,
  type PeerName,
} from "../../contracts/exchange/mod.ts";

/** Maximum streams of one gateway. */
const MAX = 2_048;
/** Maximum events that wait while an exchange is read. */
const MAX_EARLY = 1_024;

const Told = z.object({
  exchange: ExchangeId,
  event: z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("state"), version: z.int(), exchange: Exchange }).strict(),
    z.object({
      kind: z.literal("artifact"),
      version: z.int(),
      artifact: PeerArtifact,
      append: z.boolean(),
      last: z.boolean(),
    }).strict(),
    z.object({ kind: z.literal("progress"), text: z.string() }).strict(),
  ]),
}).strict();
type Told = { readonly exchange: ExchangeId; readonly event: ExchangeEvent };

/** A watcher of an exchange. */
export interface PeerWatch {
  /** The gateway's name for the stream. */
  readonly id: string;
  /** Whether the watcher receives the agent's words while the agent works. */
  readonly progress: boolean;
  tell(event: ExchangeEvent): void;
}

/** All watches of one link. */
export interface PeerWatches {
  /** Returns the exchange. Throws as `peerWatch`, `rateLimited`, `conflict` for a used id. */
  begin(
    watch: PeerWatch,
    what: { readonly peer: PeerName; readonly exchange: ExchangeId },
  ): Promise<Exchange>;
  /** Sends, and watches the exchange from the answer on. Throws as `peerSend`, `rateLimited`. */
  send(watch: PeerWatch, sent: JsonObject): Promise<Exchange>;
  end(id: string): void;
  /** Receives the kernel's `exchange` events. */
  hear(body: Json): void;
}

interface Watcher extends PeerWatch {
  /** Undefined while the message that begins the watch is being sent. */
  exchange: ExchangeId | undefined;
  /** Events that came before the first answer; undefined after it. */
  early: Told[] | undefined;
  /** The exchange's version in the first answer. */
  from: number;
}

/** Watches over `ask` of a link whose tells go to `hear`. */
export function makePeerWatches(ask: (op: string, body: Json) => Promise<Json>): PeerWatches {
  const watchers = new Map<string, Watcher>();
  /** Exchanges that a watcher left and perhaps no other watches. */
  const left = new Set<ExchangeId>();

  /** Ends the kernel's streams that have no watcher. */
  const rest = (): void => {
    const exchanges = new Set([...watchers.values()].map(({ exchange }) => exchange));
    // A message in progress may belong to one of them, and has then started its stream again.
    if (exchanges.has(undefined)) return;
    for (const exchange of left) {
      // If the kernel has ended, so has the stream.
      if (!exchanges.has(exchange)) ask("peerUnwatch", { exchange }).catch(() => undefined);
    }
    left.clear();
  };

  const give = (watcher: Watcher, told: Told): void => {
    const { early } = watcher;
    if (early !== undefined) {
      // Drop the oldest: a new exchange's own events come last, however many others come before.
      if (early.push(told) > MAX_EARLY) early.shift();
      return;
    }
    const { event } = told;
    if (event.kind === "progress" ? watcher.progress : event.version > watcher.from) {
      watcher.tell(event);
    }
  };

  const begun = async (
    watch: PeerWatch,
    exchange: ExchangeId | undefined,
    op: string,
    body: JsonObject,
  ): Promise<Exchange> => {
    if (watchers.size >= MAX) {
      throw new Fault("rateLimited", `Cannot watch the exchange: ${MAX} streams are open`);
    }
    if (watchers.has(watch.id)) {
      throw new Fault("conflict", "Cannot watch the exchange: the stream's name is taken");
    }
    const watcher: Watcher = { ...watch, exchange, early: [], from: 0 };
    watchers.set(watch.id, watcher);
    try {
      const stood = Exchange.parse(await ask(op, body));
      const early = watcher.early ?? [];
      watcher.exchange = stood.id;
      watcher.from = stood.version;
      watcher.early = undefined;
      // The watch may have been ended meanwhile.
      if (watchers.get(watch.id) !== watcher) left.add(stood.id);
      else for (const told of early) if (told.exchange === stood.id) give(watcher, told);
      return stood;
    } catch (error) {
      if (watchers.get(watch.id) === watcher) watchers.delete(watch.id);
      if (exchange !== undefined) left.add(exchange);
      throw error;
    } finally {
      rest();
    }
  };

  /** One kernel stream serves all watchers of an exchange: progress flows if any wants it. */
  const progressOf = (exchange: ExchangeId | undefined, wanted: boolean): boolean =>
    wanted || [...watchers.values()].some((each) => each.exchange === exchange && each.progress);

  return Object.freeze<PeerWatches>({
    // The kernel keeps one stream of events, and checks the peer each time.
    begin: (watch, { peer, exchange }) =>
      begun(watch, exchange, "peerWatch", {
        ...{ peer, exchange, progress: progressOf(exchange, watch.progress) },
      }),
    send(watch, sent): Promise<Exchange> {
      const id = ExchangeId.safeParse(sent["exchange"]).data;
      const progress = id === undefined ? watch.progress : progressOf(id, watch.progress);
      return begun(watch, id, "peerSend", { ...sent, watch: { progress } });
    },
    end(id): void {
      const { exchange } = watchers.get(id) ?? {};
      watchers.delete(id);
      if (exchange !== undefined) left.add(exchange);
      rest();
    },
    hear(body): void {
      const told = Told.parse(body);
      for (const watcher of watchers.values()) {
        // Until its message is answered, a watcher may belong to any exchange.
        if (watcher.exchange === undefined || watcher.exchange === told.exchange) {
          give(watcher, told);
        }
      }
    },
  });
}
