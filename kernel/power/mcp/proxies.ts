/** Ways out for servers in namespaces: proxies of the net service, each at one of a fixed set of sockets. @module */
import * as z from "zod";
import { Fault } from "../../../contracts/base/fault.ts";
import { toJson } from "../../../contracts/base/json.ts";
import type { Json } from "../../../contracts/base/mod.ts";
import type { NetProxied, NetProxy, NetSpend } from "../../../contracts/wire/mod.ts";
import type { NetService } from "../net/net_service.ts";

/** One way out, to the hosts that it was opened for. */
export interface McpProxy {
  /** The socket. It is there until {@link McpProxy.close}. */
  readonly path: string;
  /** Ends all its connections. Idempotent. */
  close(): void;
}

/** The ways out of one kernel. */
export interface McpProxies {
  /** Waits until a socket is free. Rejects `unavailable` when there is none at all, and as the net service. */
  open(options: {
    readonly allow: NetProxy["allow"];
    on(event: NetProxied): void;
    /** Counts what it sends in budgets, and gives how much; absent: none holds for it. */
    readonly spend?: ((wanted: Omit<NetSpend, "id">) => Promise<number>) | undefined;
  }): Promise<McpProxy>;
}

/** Most bytes of one step: no budget is handed out whole. */
const MOST_SPENT = 1_048_576;
const Spend = z.object({
  id: z.string().max(64),
  need: z.int().min(1).max(MOST_SPENT),
  most: z.int().min(1).max(MOST_SPENT),
}).strict();

const Proxied = z.object({
  id: z.string().max(64),
  host: z.string().max(300),
  ok: z.boolean(),
  why: z.string().max(1_024).optional(),
  more: z.int().min(0).optional(),
});

/** Makes them over `paths`. */
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
      const deaf = net.listen(id, (op: string, body: Json) => {
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
            deaf();
            child.port.ask("proxyClose", { id }).catch((error: unknown) => {
              // The service has ended, and with it the proxy.
              if (!(error instanceof Fault)) throw error;
            }).finally(() => release(path));
          },
        });
      } catch (error) {
        deaf();
        release(path);
        throw error;
      }
    },
  });
}
