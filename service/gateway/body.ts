/**
 * Reads requests' bodies within bytes and time, and bounds the bytes of all bodies at once. Where
 * there is no room, the caller that holds the most loses the body that it began first: a thousand
 * slow bodies of a stranger neither fill the process nor keep an honest caller out.
 * @module
 */
import { joinBytes } from "../../port/join_bytes.ts";

/** The room of one request's body. */
export interface HeldBody {
  /** Takes room for more bytes; false where there is none, or this body has lost its room. */
  take(bytes: number): boolean;
  /** Calls `then` once when the body loses its room before it is whole. */
  gaveWay(then: () => void): void;
  /** The whole body has come: it keeps its room. */
  whole(): void;
  /** Gives the room back. */
  over(): void;
}

/** The room of all bodies. */
export interface BodyRoom {
  /** Begins a body of a caller; it has no bytes yet. */
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
  /** Bodies that are being read, the oldest first. */
  readonly reading: Set<Held>;
}

/** Makes room for `most` bytes. */
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
  /** The oldest body of the caller that holds the most, and no less than the newcomer. */
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
          // A body without bytes has nothing to give back.
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

/** Bytes of a body where its route does not say otherwise. */
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
  { bodyMs, after, most }: {
    readonly bodyMs: number;
    readonly after: After;
    readonly most: number;
  },
  held?: HeldBody,
): Promise<Body> {
  const declared = Number(request.headers.get("content-length") ?? 0);
  if (declared > most) return { kind: "tooLarge" };
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
      if (length > most) {
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
