/**
 * Proxies of servers in namespaces without network: each has a socket and its own granted hosts.
 * Used by net/service.ts.
 * @module
 */
import { Fault } from "../../contracts/base/fault.ts";
import type { NetProxied, NetProxy } from "../../contracts/wire/wire_net.ts";
import { type ProxyPowers, serveConnection } from "./connection.ts";
import { makeMeter, UNMETERED } from "./meter.ts";
import { refusalBytes } from "./answer.ts";
import { type SocketEnd, type SocketListener, writeAll } from "../sockets.ts";
import type { Clock } from "../clock.ts";
export type { ProxyPowers } from "./connection.ts";

/** Maximum connections of one proxy, and of all. */
const AT_ONCE = 32;
const ALL_AT_ONCE = 128;

/** The proxies of one service. */
interface Proxies {
  /**
   * Listens. @throws {Fault} `conflict` for an id or path in use, `unavailable` where that fails
   */
  open(proxy: NetProxy): void;
  /** Closes a proxy and its connections; resolves when none is left. Ignores an unknown id. */
  close(id: string): Promise<void>;
}

/** Makes the proxies of a service. */
export function makeProxies(powers: ProxyPowers): Proxies {
  const open = new Map<string, { readonly path: string; close(): Promise<void> }>();
  let all = 0;

  function start(proxy: NetProxy, listener: SocketListener): () => Promise<void> {
    const inFlight = new Map<AbortController, Promise<void>>();
    const told = makeTold(powers.clock, (event) => powers.proxied({ id: proxy.id, ...event }));

    const meter = proxy.metered === true
      ? makeMeter((spend) => powers.spend({ id: proxy.id, ...spend }))
      : UNMETERED;
    const serve = (client: SocketEnd): void => {
      if (inFlight.size >= AT_ONCE || all >= ALL_AT_ONCE) return void turnAway(client, told.tell);
      const abort = new AbortController();
      all++;
      const served = serveConnection(
        client,
        { powers, allow: proxy.allow, told: told.tell, meter },
        abort,
      ).finally(() => {
        all--;
        inFlight.delete(abort);
      });
      inFlight.set(abort, served);
    };
    const accepting = (async (): Promise<void> => {
      for (let client = await listener.accept(); client; client = await listener.accept()) {
        serve(client);
      }
    })();
    return async (): Promise<void> => {
      listener.close();
      await accepting;
      const gone = new Fault("cancelled", "Cannot serve the request: the proxy is closed");
      const left = [...inFlight.values()];
      for (const abort of inFlight.keys()) abort.abort(gone);
      await Promise.all(left);
      told.close();
    };
  }

  return Object.freeze<Proxies>({
    open(proxy: NetProxy): void {
      if (open.has(proxy.id) || [...open.values()].some(({ path }) => path === proxy.path)) {
        throw new Fault("conflict", "Cannot open the proxy: it is open");
      }
      const listener = powers.sockets.listen(proxy.path);
      open.set(proxy.id, { path: proxy.path, close: start(proxy, listener) });
    },
    async close(id: string): Promise<void> {
      const proxy = open.get(id);
      open.delete(id);
      await proxy?.close();
    },
  });
}

/** Refuses a connection beyond the limit without reading from it. */
async function turnAway(
  client: SocketEnd,
  tell: (what: Pick<NetProxied, "host" | "ok" | "why">) => void,
): Promise<void> {
  const fault = new Fault("rateLimited", "Cannot connect: too many connections are open");
  tell({ host: "", ok: false, why: fault.message });
  await writeAll(client, refusalBytes(fault)).catch(() => undefined);
  client.close();
}

// Reports connections to the kernel: each at first, then a limited number a second.

/** The result of one connection. */
type Became = Omit<NetProxied, "id" | "more">;

const A_SECOND = 20;
const SECOND_MS = 1_000;

/** Reports the connections of one proxy. */
interface Told {
  readonly tell: (became: Became) => void;
  /** Reports what was held back. */
  close(): void;
}

/** Makes a reporter that sends 20 events a second; one held back carries a count as `more`. */
function makeTold(clock: Clock, send: (event: Omit<NetProxied, "id">) => void): Told {
  let begun = clock.now();
  let sent = 0;
  let held: { readonly last: Became; readonly more: number } | undefined;
  let forget: (() => void) | undefined;

  const flush = (): void => {
    forget?.();
    forget = undefined;
    if (held !== undefined) send({ ...held.last, ...(held.more > 0 ? { more: held.more } : {}) });
    held = undefined;
  };
  const next = (): void => {
    begun = clock.now();
    sent = held === undefined ? 0 : 1;
    flush();
  };
  return Object.freeze<Told>({
    tell(became: Became): void {
      if (forget === undefined && clock.now() - begun >= SECOND_MS) next();
      if (sent < A_SECOND) {
        sent++;
        return send(became);
      }
      held = { last: became, more: held === undefined ? 0 : held.more + 1 };
      forget ??= clock.after(Math.max(0, begun + SECOND_MS - clock.now()), next);
    },
    close: flush,
  });
}
