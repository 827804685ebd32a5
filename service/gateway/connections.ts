/**
 * Bounds connections: their number, and how long one may be idle. Where no place is left, the
 * caller with the most connections loses the one idle for longest, so that a stranger's thousands
 * do not shut out an honest client. Used by gateway_powers.ts.
 * @module
 */

/** Limits of connections. */
export interface ConnectionBounds {
  /** Number at once, of all callers. */
  readonly max: number;
  /** Milliseconds for the first request's head to arrive. */
  readonly firstMs: number;
  /** Milliseconds from an answer, which must be read in that time, to the next request's head. */
  readonly idleMs: number;
}

/** The place of one connection. Calls after its end do nothing. */
export interface Place {
  /** A request's head has arrived. */
  asked(): void;
  /** That request was answered. */
  answered(): void;
  /** The connection has ended. */
  over(): void;
}

/** All connections. */
export interface Connections {
  /** Takes a place; undefined where none is left. `close` is called to take the place back. */
  take(caller: string, close: () => void): Place | undefined;
  /** Closes connections that were idle for too long. */
  sweep(): void;
  readonly size: number;
}

interface Held {
  readonly caller: string;
  readonly close: () => void;
  /** Requests without an answer yet. */
  inFlight: number;
  /** The end of the idle time that is left, in milliseconds. */
  until: number;
}

interface Caller {
  readonly all: Set<Held>;
  /** Connections without a request in progress, idle for longest first. */
  readonly silent: Set<Held>;
}

/** Begins without connections. `now` is in milliseconds. */
export function makeConnections(bounds: ConnectionBounds, now: () => number): Connections {
  const callers = new Map<string, Caller>();
  let size = 0;

  const drop = (held: Held): boolean => {
    const caller = callers.get(held.caller);
    if (caller?.all.delete(held) !== true) return false;
    caller.silent.delete(held);
    if (caller.all.size === 0) callers.delete(held.caller);
    size -= 1;
    return true;
  };

  /** The longest idle connection of the caller with the most, no fewer than the newcomer's. */
  const leastMissed = (newcomer: number): Held | undefined => {
    let largest: Caller | undefined;
    for (const caller of callers.values()) {
      if (caller.silent.size === 0 || caller.all.size < newcomer) continue;
      if (caller.all.size > (largest?.all.size ?? 0)) largest = caller;
    }
    return largest?.silent.values().next().value;
  };

  const close = (held: Held): void => {
    if (drop(held)) held.close();
  };

  return Object.freeze<Connections>({
    get size() {
      return size;
    },
    take(name, onClose) {
      if (size >= bounds.max) {
        const least = leastMissed(callers.get(name)?.all.size ?? 0);
        if (least === undefined) return undefined;
        close(least);
      }
      const held: Held = {
        caller: name,
        close: onClose,
        inFlight: 0,
        until: now() + bounds.firstMs,
      };
      const caller = callers.get(name) ?? { all: new Set<Held>(), silent: new Set<Held>() };
      callers.set(name, caller);
      caller.all.add(held);
      caller.silent.add(held);
      size += 1;
      return Object.freeze<Place>({
        asked(): void {
          held.inFlight += 1;
          caller.silent.delete(held);
        },
        answered(): void {
          held.inFlight -= 1;
          if (held.inFlight > 0 || !caller.all.has(held)) return;
          held.until = now() + bounds.idleMs;
          caller.silent.add(held);
        },
        over: () => void drop(held),
      });
    },
    sweep(): void {
      const at = now();
      for (const { silent } of [...callers.values()]) {
        for (const held of [...silent]) if (held.until <= at) close(held);
      }
    },
  });
}
