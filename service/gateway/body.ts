/**
 * Reads request bodies within byte and time limits, and bounds the bytes of all bodies together.
 * Where no room is left, the caller that holds the most loses its oldest body: a stranger's
 * thousand slow bodies neither fill the process nor shut out an honest caller.
 * @module
 */
import { joinBytes } from "../../port/join_bytes.ts";

/** The room reserved for one request's body. */
export interface HeldBody {
  /** Reserves room for more bytes; false where none is left, or this body has lost its room. */
  take(bytes: number): boolean;
  /** Calls `then` once if the body loses its room before it is complete. */
  gaveWay(then: () => void): void;
  /** Marks the body complete: it keeps its room. */
  whole(): void;
  /** Releases the room. */
  over(): void;
}

/** The room of all bodies together. */
export interface BodyRoom {
  /** Begins a caller's body, without bytes yet. */
  hold(caller: string): HeldBody;
  /** Bytes of all bodies. */
  readonly bytes: number;
}

interface Held {
  readonly caller: string;
  bytes: number;
  give: () => void;
}

interface Caller {
  bytes: number;
  /** Bodies in progress, oldest first. */
  readonly reading: Set<Held>;
}

/** Makes room for `max` bytes. */
export function makeBodyRoom(max: number): BodyRoom {
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
  /** The oldest body of the caller that holds the most, and at least as much as the newcomer. */
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
          if (gone || more > max) return false;
          const own = callerOf(held);
          // A body without bytes has nothing to release.
          if (more > 0) own.reading.add(held);
          while (bytes + more > max) {
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

/** Maximum bytes of a body, unless its route says otherwise. */
export const MAX_BODY = 4 * 1_048_576;

/** A body, or why it was refused. */
export type Body =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: "tooLarge" | "tooSlow" | "broken" | "crowded" };

/** Calls `then` after `ms` milliseconds; the returned function cancels it. */
export type After = (ms: number, then: () => void) => () => void;

/** Reads the body within byte and time limits; the rest of a refused body is not read. */
export async function readBody(
  request: Request,
  { bodyMs, after, max }: {
    readonly bodyMs: number;
    readonly after: After;
    readonly max: number;
  },
  held?: HeldBody,
): Promise<Body> {
  const declared = Number(request.headers.get("content-length") ?? 0);
  if (declared > max) return { kind: "tooLarge" };
  if (request.body === null) return { kind: "bytes", bytes: new Uint8Array() };
  const reader = request.body.getReader();
  const chunks: Uint8Array[] = [];
  let why: "tooSlow" | "crowded" | undefined;
  const giveUp = (because: "tooSlow" | "crowded"): void => {
    why ??= because;
    chunks.length = 0;
    reader.cancel().catch(() => undefined);
  };
  const stop = after(bodyMs, () => giveUp("tooSlow"));
  held?.gaveWay(() => giveUp("crowded"));
  let length = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      length += value.length;
      if (held?.take(value.length) === false) {
        giveUp("crowded");
        break;
      }
      if (length > max) {
        await reader.cancel();
        return { kind: "tooLarge" };
      }
      chunks.push(value);
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { kind: why ?? "broken" };
  } finally {
    stop();
  }
  if (why !== undefined) return { kind: why };
  held?.whole();
  return { kind: "bytes", bytes: joinBytes(chunks) };
}
