/** The net service: any number of requests at once, no memory between them. @module */
import { Fault } from "../contracts/fault.ts";
import type { Json } from "../contracts/json.ts";
import type { PortHandler } from "../contracts/port.ts";
import type {
  NetAnswer,
  NetCancel,
  NetProxy,
  NetRequest,
  NetStream,
} from "../contracts/wire_net.ts";
import { fetchHops, type NetPowers } from "./hops.ts";
import { makeProxies, type ProxyPowers } from "./proxy/proxies.ts";
import { makeRoom } from "./room.ts";
import { makeStreams } from "./streams.ts";

/**
 * Makes the handler of the net service. Ops `fetch`, `stream`, `streamRead`, `proxyOpen`, `proxyClose`, event
 * `cancel`. Without `proxy` it opens none. Faults: those of {@link NetAnswer}, `conflict` for an id in use,
 * `invalidInput` for an unknown op.
 */
export function makeNetService(
  powers: NetPowers,
  proxy?: Omit<ProxyPowers, keyof NetPowers>,
): PortHandler {
  const underway = new Map<string, AbortController>();
  const room = makeRoom();
  const streams = makeStreams(powers);
  const proxies = proxy === undefined ? undefined : makeProxies({ ...powers, ...proxy });

  async function start(request: NetRequest): Promise<NetAnswer> {
    const { id, deadlineMs } = request;
    if (underway.has(id)) throw new Fault("conflict", "Cannot fetch: that request is under way");
    const abort = new AbortController();
    underway.set(id, abort);
    const late = (): void =>
      abort.abort(new Fault("timedOut", `Cannot fetch: no whole answer within ${deadlineMs} ms`));
    const forget = powers.clock.after(deadlineMs, late);
    try {
      return await untilAborted(inRoom(request, abort.signal), abort.signal);
    } finally {
      forget();
      underway.delete(id);
      // Whatever still waits for a peer lets go of its socket.
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
      // TRUST: bodies are the kernel's own, which made them.
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
      underway.get(id)?.abort(new Fault("cancelled", "Cannot fetch: cancelled"));
      streams.cancel(id);
    },
  });
}

/** A power that is slow to notice the end of a request does not hold its answer up. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    work.then(resolve, reject);
  });
}
