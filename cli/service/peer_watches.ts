/**
 * Streams of exchanges: one watch in the kernel for each exchange, told to everybody who watches it. Whoever begins gets
 * the exchange as it stands and then everything after it, nothing twice and nothing left out. Issue 7.
 * @module
 */
import { z } from "zod";
import {
  Exchange,
  type ExchangeEvent,
  ExchangeId,
  Fault,
  type Json,
  PeerArtifact,
  type PeerName,
} from "../../contracts/mod.ts";

/** Streams of one gateway. */
const MOST = 2_048;
/** Events that wait while an exchange is read. */
const MOST_EARLY = 1_024;

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

/** Who watches. */
export interface PeerWatch {
  /** The gateway's name of it. */
  readonly id: string;
  readonly peer: PeerName;
  readonly exchange: ExchangeId;
  /** It is told the agent's words while it works. */
  readonly progress: boolean;
  tell(event: ExchangeEvent): void;
}

/** All watches of one link. */
export interface PeerWatches {
  /** Begins; gives the exchange as it stands. Throws as `peerWatch`, and `rateLimited`. */
  begin(watch: PeerWatch): Promise<Exchange>;
  end(id: string): void;
  /** What the kernel tells: `exchange`. */
  hear(body: Json): void;
}

interface Watcher extends PeerWatch {
  /** Undefined once what it began with is known. */
  early: ExchangeEvent[] | undefined;
  /** The version that it began with. */
  from: number;
}

/** Makes it over `ask` of a link whose tells are given to `hear`. */
export function makePeerWatches(ask: (op: string, body: Json) => Promise<Json>): PeerWatches {
  const watchers = new Map<string, Watcher>();

  const give = (watcher: Watcher, event: ExchangeEvent): void => {
    if (event.kind === "progress" ? !watcher.progress : event.version <= watcher.from) return;
    if (watcher.early === undefined) watcher.tell(event);
    else if (watcher.early.length < MOST_EARLY) watcher.early.push(event);
  };

  return Object.freeze<PeerWatches>({
    async begin(watch): Promise<Exchange> {
      if (watchers.size >= MOST) {
        throw new Fault("rateLimited", `Cannot watch the exchange: ${MOST} streams are open`);
      }
      if (watchers.has(watch.id)) {
        throw new Fault("conflict", "Cannot watch the exchange: the stream's name is taken");
      }
      const watcher: Watcher = { ...watch, early: [], from: 0 };
      watchers.set(watch.id, watcher);
      const { exchange, peer } = watch;
      try {
        // Asked again it is one stream of events all the same; whose the exchange is, the kernel says each time.
        const stood = Exchange.parse(await ask("peerWatch", { peer, exchange }));
        watcher.from = stood.version;
        const early = watcher.early ?? [];
        watcher.early = undefined;
        for (const event of early) give(watcher, event);
        return stood;
      } catch (error) {
        watchers.delete(watch.id);
        throw error;
      }
    },
    end(id): void {
      const { exchange } = watchers.get(id) ?? {};
      watchers.delete(id);
      if (exchange === undefined) return;
      if ([...watchers.values()].some((each) => each.exchange === exchange)) return;
      // A kernel that has gone tells nothing any more.
      ask("peerUnwatch", { exchange }).catch(() => undefined);
    },
    hear(body): void {
      const { exchange, event } = Told.parse(body);
      for (const watcher of watchers.values()) {
        if (watcher.exchange === exchange) give(watcher, event as ExchangeEvent);
      }
    },
  });
}
