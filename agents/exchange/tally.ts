/** How much each peer has under way, and had today: so that nobody floods the kernel with exchanges. @module */
import { type Exchange, Fault, type PeerName, type PeerSend } from "../../contracts/mod.ts";
import { isOver } from "./states.ts";

/** What is counted: a day. */
export const DAY_MS = 24 * 60 * 60 * 1_000;

/** Counts by peer. */
export interface ExchangeTally {
  /** An exchange that is there from now on, or was found at the start. */
  add(exchange: Pick<Exchange, "peer" | "state" | "createdAt">): void;
  moved(
    peer: PeerName,
    change: { readonly from: Exchange["state"]; readonly to: Exchange["state"] },
  ): void;
  /** Takes a place for one more. Throws `rateLimited`. The returned function gives it back, or leaves it to `add`. */
  reserve(peer: PeerName, most: PeerSend["most"]): () => void;
}

interface Count {
  open: number;
  reserved: number;
  /** When exchanges were made, ascending, of the last day. */
  days: number[];
}

/** Makes it, empty. */
export function makeExchangeTally({ now }: { now(): number }): ExchangeTally {
  const counts = new Map<PeerName, Count>();
  const countOf = (peer: PeerName): Count => {
    const count = counts.get(peer) ?? { open: 0, reserved: 0, days: [] };
    counts.set(peer, count);
    return count;
  };
  return Object.freeze<ExchangeTally>({
    add({ peer, state, createdAt }): void {
      const count = countOf(peer);
      if (!isOver(state)) count.open += 1;
      if (createdAt <= now() - DAY_MS) return;
      // Found at the start in any order.
      const place = count.days.findLastIndex((at) => at <= createdAt);
      count.days.splice(place + 1, 0, createdAt);
    },
    moved(peer, { from, to }): void {
      if (!isOver(from) && isOver(to)) countOf(peer).open -= 1;
    },
    reserve(peer, most): () => void {
      const count = countOf(peer);
      const since = now() - DAY_MS;
      const fresh = count.days.findIndex((at) => at > since);
      count.days.splice(0, fresh === -1 ? count.days.length : fresh);
      if (count.open + count.reserved >= most.open) {
        throw new Fault(
          "rateLimited",
          `Cannot begin: ${most.open} exchanges are under way; wait until one ends`,
        );
      }
      if (count.days.length + count.reserved >= most.perDay) {
        throw new Fault("rateLimited", `Cannot begin: ${most.perDay} exchanges a day are all`);
      }
      count.reserved += 1;
      let held = true;
      return () => {
        if (held) count.reserved -= 1;
        held = false;
      };
    },
  });
}
