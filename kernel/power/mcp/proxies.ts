/** Network access for servers in namespaces: proxies of the net service, each at one of a fixed set of sockets. @module */
import * as z from "zod";
import { Fault } from "../../../contracts/base/fault.ts";
import { toJson } from "../../../contracts/base/json.ts";
import type { Json } from "../../../contracts/base/mod.ts";
import type { NetProxied, NetProxy, NetSpend } from "../../../contracts/wire/mod.ts";
import type { NetService } from "../net/net_service.ts";

/** A proxy to a fixed list of hosts. */
export interface McpProxy {
  /** The proxy's socket, until {@link McpProxy.close}. */
  readonly path: string;
  /** Closes the proxy and its connections. Idempotent. */
  close(): void;
}

/** The proxies of one kernel. */
export interface McpProxies {
  /** Waits until a socket is free. Rejects with `unavailable` when the kernel has no socket, and like the net service. */
  open(options: {
    readonly allow: NetProxy["allow"];
    on(event: NetProxied): void;
    /** Counts sent bytes in budgets and returns the allowed number; absent: no budget applies. */
    readonly spend?: ((wanted: Omit<NetSpend, "id">) => Promise<number>) | undefined;
  }): Promise<McpProxy>;
}

/** Most bytes of one step, so that no step takes a whole budget. */
const MAX_SPENT = 1_048_576;
const Spend = z.object({
  id: z.string().max(64),
  need: z.int().min(1).max(MAX_SPENT),
  most: z.int().min(1).max(MAX_SPENT),
}).strict();

const Proxied = z.object({
  id: z.string().max(64),
  host: z.string().max(300),
  ok: z.boolean(),
  why: z.string().max(1_024).optional(),
  more: z.int().min(0).optional(),
});

/** Makes the proxies at the sockets `paths`. */
export function makeMcpProxies(paths: readonly string[], net: NetService): McpProxies {
  const free = [...paths];
  const waiting: ((path: string) => void)[] = [];

  const release = (path: string): void => {
    const first = waiting.shift();
    if (first === undefined) free.push(path);
    else first(path);
  };

  return Object.freeze<McpProxies>({
    async open({ allow, on, spend }): Promise<McpProxy> {
      if (paths.length === 0) {
        throw new Fault("unavailable", "Cannot open a way to the network: no socket was granted");
      }
      const path = free.shift() ??
        await new Promise<string>((resolve) => waiting.push(resolve));
      const id = net.freshId();
      const unlisten = net.listen(id, (op: string, body: Json) => {
        const { success, data } = Proxied.safeParse(body);
        // zod keeps absent properties absent; its types cannot say so.
        if (op === "proxied" && success) on(data as NetProxied);
      }, async (op, body) => {
        const { data } = Spend.safeParse(body);
        if (op !== "proxySpend" || data === undefined || spend === undefined) {
          throw new Fault("invalidInput", "Cannot count what is sent: it does not parse");
        }
        return { bytes: await spend({ need: data.need, most: Math.max(data.need, data.most) }) };
      });
      try {
        const child = await net.provide();
        const asked: NetProxy = {
          ...{ id, path, allow },
          ...(spend === undefined ? {} : { metered: true }),
        };
        await child.port.ask("proxyOpen", toJson(asked));
        let closed = false;
        return Object.freeze<McpProxy>({
          path,
          close(): void {
            if (closed) return;
            closed = true;
            unlisten();
            child.port.ask("proxyClose", { id }).catch((error: unknown) => {
              // The service has ended, and with it the proxy.
              if (!(error instanceof Fault)) throw error;
            }).finally(() => release(path));
          },
        });
      } catch (error) {
        unlisten();
        release(path);
        throw error;
      }
    },
  });
}
