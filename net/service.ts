/** The net service: any number of concurrent requests, no memory between them. @module */
import { Fault } from "../contracts/base/fault.ts";
import type { Json } from "../contracts/base/json.ts";
import type { PortHandler } from "../contracts/base/port.ts";
import type {
  NetAnswer,
  NetCancel,
  NetProxy,
  NetRequest,
  NetStream,
} from "../contracts/wire/wire_net.ts";
import { fetchHops, type NetPowers } from "./hops.ts";
import { makeProxies, type ProxyPowers } from "./proxy/proxies.ts";
import { makeStreams } from "./streams.ts";

/**
 * Makes the handler of the net service. Ops `fetch`, `stream`, `streamRead`, `proxyOpen`,
 * `proxyClose`, event `cancel`. Without `proxy` it opens no proxies. Faults: those of {@link
 * NetAnswer}, `conflict` for an id in use, `invalidInput` for an unknown op.
 */
export function makeNetService(
  powers: NetPowers,
  proxy?: Omit<ProxyPowers, keyof NetPowers>,
): PortHandler {
  const inFlight = new Map<string, AbortController>();
  const room = makeRoom();
  const streams = makeStreams(powers);
  const proxies = proxy === undefined ? undefined : makeProxies({ ...powers, ...proxy });

  async function start(request: NetRequest): Promise<NetAnswer> {
    const { id, deadlineMs } = request;
    if (inFlight.has(id)) throw new Fault("conflict", "Cannot fetch: that request is under way");
    const abort = new AbortController();
    inFlight.set(id, abort);
    const late = (): void =>
      abort.abort(new Fault("timedOut", `Cannot fetch: no whole answer within ${deadlineMs} ms`));
    const forget = powers.clock.after(deadlineMs, late);
    try {
      return await untilAborted(inRoom(request, abort.signal), abort.signal);
    } finally {
      forget();
      inFlight.delete(id);
      // Releases the socket of anything that still waits for a peer.
      abort.abort(new Fault("cancelled", "Cannot fetch: it is over"));
    }
  }

  async function inRoom(request: NetRequest, signal: AbortSignal): Promise<NetAnswer> {
    using place = await room.enter(signal);
    return await fetchHops(request, { ...powers, take: place.take }, signal);
  }

  function opened(): NonNullable<typeof proxies> {
    if (proxies !== undefined) return proxies;
    throw new Fault("unavailable", "Cannot open a proxy: this service has no socket for one");
  }

  return Object.freeze<PortHandler>({
    async ask(op: string, body: Json): Promise<Json> {
      // TRUST: the kernel made these bodies.
      switch (op) {
        case "fetch":
          return await start(body as unknown as NetRequest) as unknown as Json;
        case "stream":
          return await streams.open(body as unknown as NetStream) as unknown as Json;
        case "streamRead":
          return await streams.read((body as unknown as NetCancel).id) as unknown as Json;
        case "proxyOpen":
          await opened().open(body as unknown as NetProxy);
          return null;
        case "proxyClose":
          await opened().close((body as unknown as NetCancel).id);
          return null;
        default:
          throw new Fault("invalidInput", `Cannot serve ${JSON.stringify(op)}: unknown here`);
      }
    },
    tell(op: string, body: Json): void {
      if (op !== "cancel") return;
      const { id } = body as unknown as NetCancel;
      inFlight.get(id)?.abort(new Fault("cancelled", "Cannot fetch: cancelled"));
      streams.cancel(id);
    },
  });
}

/** Rejects at the abort, even if the work is slow to notice it. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    work.then(resolve, reject);
  });
}

// Limits the net service's load, so that no set of answers can exhaust its memory.

/** Maximum concurrent requests; further ones wait. */
const AT_ONCE = 96;
/** Maximum waiting requests. */
const WAITING = 1_024;
/** Maximum bytes of bodies held at once. */
const HELD = 48 * 1024 * 1024;

/** A place among the concurrent requests. */
interface Place extends Disposable {
  /** Counts bytes that this request holds. @throws {Fault} `rateLimited` when all hold too many */
  take(bytes: number): void;
}

/** The places of one service. */
interface Room {
  /** A place, in the order of requests. @throws {Fault} `rateLimited`, or the signal's reason */
  enter(signal: AbortSignal): Promise<Place>;
}

/** Makes the room of a service. */
export function makeRoom(
  limits: { readonly atOnce?: number; readonly held?: number } = {},
): Room {
  const { atOnce = AT_ONCE, held: maxHeld = HELD } = limits;
  const queue: (() => void)[] = [];
  let inside = 0;
  let held = 0;

  function place(): Place {
    let own = 0;
    let left = false;
    inside++;
    return Object.freeze<Place>({
      take(bytes: number): void {
        if (held + bytes > maxHeld) {
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
