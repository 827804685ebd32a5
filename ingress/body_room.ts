/**
 * How many bytes of requests' bodies there are at once, and whose. Where there is no room, whoever holds the most gives up
 * the body that was begun first: a thousand slow ones of a stranger neither fill the process nor keep an honest one out.
 * @module
 */

/** One request's body. */
export interface HeldBody {
  /** Room for more bytes; false where there is none, or no longer any for this one. */
  take(bytes: number): boolean;
  /** Calls `then`, once, when it has to give way; until it is whole. */
  gaveWay(then: () => void): void;
  /** All of it is there: it gives way no more. */
  whole(): void;
  /** Nothing holds it any more. */
  over(): void;
}

/** All bodies. */
export interface BodyRoom {
  /** A body of a caller, of which nothing has come. */
  hold(caller: string): HeldBody;
  /** Bytes that are held. */
  readonly bytes: number;
}

interface Held {
  readonly caller: string;
  bytes: number;
  give: () => void;
}

interface Caller {
  bytes: number;
  /** Bodies that are being read, those first that were begun first. */
  readonly reading: Set<Held>;
}

/** Makes it. `most` is in bytes. */
export function makeBodyRoom(most: number): BodyRoom {
  const callers = new Map<string, Caller>();
  let bytes = 0;

  const callerOf = (held: Held): Caller => {
    const found = callers.get(held.caller) ?? { bytes: 0, reading: new Set<Held>() };
    callers.set(held.caller, found);
    return found;
  };
  const release = (held: Held): void => {
    const caller = callerOf(held);
    caller.bytes -= held.bytes;
    bytes -= held.bytes;
    held.bytes = 0;
    caller.reading.delete(held);
    if (caller.bytes === 0 && caller.reading.size === 0) callers.delete(held.caller);
  };
  /** The oldest one of whoever holds the most, and no less than the newcomer. */
  const leastMissed = (newcomer: number): Held | undefined => {
    let largest: Caller | undefined;
    for (const caller of callers.values()) {
      if (caller.reading.size === 0 || caller.bytes < newcomer) continue;
      if (caller.bytes > (largest?.bytes ?? 0)) largest = caller;
    }
    return largest?.reading.values().next().value;
  };

  return Object.freeze<BodyRoom>({
    get bytes() {
      return bytes;
    },
    hold(caller): HeldBody {
      const held: Held = { caller, bytes: 0, give: () => undefined };
      let gone = false;
      held.give = () => gone = true;
      return Object.freeze<HeldBody>({
        take(more): boolean {
          if (gone || more > most) return false;
          const own = callerOf(held);
          // Only what holds bytes is worth taking back.
          if (more > 0) own.reading.add(held);
          while (bytes + more > most) {
            const least = leastMissed(own.bytes);
            if (least === undefined || least === held) return false;
            release(least);
            least.give();
          }
          callerOf(held).bytes += more;
          held.bytes += more;
          bytes += more;
          return true;
        },
        gaveWay(then): void {
          held.give = () => {
            gone = true;
            then();
          };
        },
        whole: () => void callers.get(caller)?.reading.delete(held),
        over: () => release(held),
      });
    },
  });
}
