/** How much the net service takes on at once, so that no answers together end it. @module */
import { Fault } from "../contracts/fault.ts";

/** Requests that are under way at once; more wait their turn. */
const AT_ONCE = 96;
/** Requests that wait. */
const WAITING = 1_024;
/** Bytes of bodies that are held at once. */
const HELD = 48 * 1024 * 1024;

/** A place among the requests that are under way. */
export interface Place extends Disposable {
  /** Counts bytes that this request holds. @throws {Fault} `rateLimited` when all hold too many. */
  take(bytes: number): void;
}

/** The places of one service. */
export interface Room {
  /** A place, in the order of asking. @throws {Fault} `rateLimited`, or the signal's reason. */
  enter(signal: AbortSignal): Promise<Place>;
}

/** Makes the room of a service. */
export function makeRoom(
  limits: { readonly atOnce?: number; readonly held?: number } = {},
): Room {
  const { atOnce = AT_ONCE, held: most = HELD } = limits;
  const queue: (() => void)[] = [];
  let inside = 0;
  let held = 0;

  function place(): Place {
    let own = 0;
    let left = false;
    inside++;
    return Object.freeze<Place>({
      take(bytes: number): void {
        if (held + bytes > most) {
          throw new Fault("rateLimited", "Cannot fetch: too many large answers at once");
        }
        held += bytes;
        own += bytes;
      },
      [Symbol.dispose](): void {
        if (left) return;
        left = true;
        inside--;
        held -= own;
        queue.shift()?.();
      },
    });
  }

  async function enter(signal: AbortSignal): Promise<Place> {
    signal.throwIfAborted();
    if (inside >= atOnce) {
      if (queue.length >= WAITING) {
        throw new Fault("rateLimited", "Cannot fetch: too many requests wait");
      }
      await turn(signal);
    }
    return place();
  }

  function turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const go = (): void => {
        signal.removeEventListener("abort", leave);
        resolve();
      };
      const leave = (): void => {
        queue.splice(queue.indexOf(go), 1);
        reject(signal.reason);
      };
      queue.push(go);
      signal.addEventListener("abort", leave, { once: true });
    });
  }

  return Object.freeze<Room>({ enter });
}
