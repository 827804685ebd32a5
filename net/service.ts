/** The net service: any number of requests at once, no memory between them. @module */
import { Fault } from "../contracts/fault.ts";
import type { Json } from "../contracts/json.ts";
import type { PortHandler } from "../contracts/port.ts";
import type { NetAnswer, NetCancel, NetRequest } from "../contracts/wire_net.ts";
import { fetchHops, type NetPowers } from "./hops.ts";
import { makeRoom } from "./room.ts";

/**
 * Makes the handler of the net service. Op `fetch`, event `cancel`. Faults: those of
 * {@link NetAnswer}, `conflict` for an id in use, `invalidInput` for an unknown op.
 */
export function makeNetService(powers: NetPowers): PortHandler {
  const underway = new Map<string, AbortController>();
  const room = makeRoom();

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

  return Object.freeze<PortHandler>({
    async ask(op: string, body: Json): Promise<Json> {
      if (op !== "fetch") {
        throw new Fault("invalidInput", `Cannot serve ${JSON.stringify(op)}: unknown here`);
      }
      // TRUST: bodies are the kernel's own, which made them.
      return await start(body as unknown as NetRequest) as unknown as Json;
    },
    tell(op: string, body: Json): void {
      if (op !== "cancel") return;
      underway.get((body as unknown as NetCancel).id)
        ?.abort(new Fault("cancelled", "Cannot fetch: cancelled"));
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
