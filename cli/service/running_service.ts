/** A service that runs: what stands behind its gateway, and how it ends. @module */
import { Fault, type Json, type ServeOpen } from "../../contracts/mod.ts";
import type { Command } from "../command.ts";
import type { KernelLink } from "../hands.ts";
import { openKeyRing } from "../key/ring.ts";
import type { LoginService } from "../mcp/registry/login/login.ts";
import { makeLoginNet } from "../mcp/registry/login/net.ts";
import { loginUrl, sameIssuer } from "../mcp/registry/login/net.ts";
import { openSecretKeep } from "../secret/keep.ts";
import { makeMediator, mayHave, openHost, openTokens } from "../../service/hosts/mod.ts";
import {
  type GatewayLink,
  makeServiceHandler,
  type ServiceHandler,
  type StartedGateway,
} from "../../service/mod.ts";
import { makeDurations, startStateCare } from "../../service/trace/mod.ts";
import { type KeyFetch, keySetText, openPeerFront } from "../../service/peer/mod.ts";
import { openFiringBook, openTriggers } from "../../service/trigger/mod.ts";
import { hostParts } from "../mcp_serve/host_setting.ts";
import type { ServiceConfig } from "../config/serve.ts";
import { openPageDesk } from "./page/desk.ts";
import { lendService, type ServiceSetting } from "./setting.ts";
import { VERSION } from "../version.ts";

/** Serves commands at other terminals of the same user: `login` `null` → `{ url }`, `state` `null` → `{ url, ready, why }`. */
export function serviceDoor(
  { service, url }: {
    readonly service: Pick<RunningService, "loginCode" | "unready">;
    url(): string;
  },
): (op: string, body: Json) => Promise<Json> {
  return (op) => {
    switch (op) {
      case "login": {
        const code = service.loginCode();
        if (code === undefined) {
          throw new Fault("unavailable", "Cannot log in: this service serves no page");
        }
        return Promise.resolve({ url: `${url()}/login?code=${encodeURIComponent(code)}` });
      }
      case "state": {
        const why = service.unready();
        return Promise.resolve({ url: url(), ready: why === undefined, why: why ?? "" });
      }
      default:
        throw new Fault("invalidInput", `Cannot do "${op.slice(0, 32)}": unknown to a service`);
    }
  };
}

/** How often what is under way is looked at while the service drains, milliseconds. */
const LOOK_MS = 200;

/** Connections to the kernel, one for each that is told something. */
export interface ServiceLinks {
  readonly main: KernelLink;
  readonly peers: KernelLink;
  readonly page: KernelLink;
}

/** What a service is started with. */
export interface RunningServiceParts {
  readonly command: Command;
  readonly setting: ServiceSetting;
  readonly config: ServiceConfig;
  readonly links: ServiceLinks;
  readonly page: boolean;
  url(): string;
  render(exchange: Json): Promise<string>;
  note(text: string): void;
}

/** It. */
export interface RunningService {
  readonly links: ServiceLinks;
  /** Starts a gateway process with a handler of its own. */
  gateway(listen: NonNullable<ServeOpen["listen"]>): Promise<StartedGateway>;
  /** A gateway is kept; `up` tells whether it is there. */
  served(up: () => boolean): void;
  /** Why it is not ready; undefined when it is. */
  unready(): string | undefined;
  /** A one-time code for the page; undefined where there is none. */
  loginCode(): string | undefined;
  /** Rules that were read again: in force when it resolves. Rejects, and nothing has changed, for what does not stand. */
  replace(
    rules: { readonly setting: ServiceSetting; readonly config: ServiceConfig },
  ): Promise<void>;
  draining(): boolean;
  /** Begins nothing new; resolves when nothing is under way, after `ms` milliseconds at the latest. */
  drain(ms: number): Promise<void>;
  close(): Promise<void>;
}

/** Starts everything but the gateway. */
export async function startService(parts: RunningServiceParts): Promise<RunningService> {
  const { command, config, links, note } = parts;
  let { setting } = parts;
  const { hands, places } = command;
  const now = (): number => hands.around.now();
  const ring = openKeyRing(hands.disk, places);
  const signer = ring.provideService();
  const keySet = keySetText(signer.key);
  let draining = false;
  let up = (): boolean => false;
  const handlers = new Set<ServiceHandler>();

  const takesMore = (): void => {
    if (draining) throw new Fault("unavailable", "Cannot begin: the service is ending");
  };
  const unready = (): string | undefined =>
    draining ? "the service is ending" : up() ? undefined : "the gateway is being started";

  const front = config.serve.a2a === false ? undefined : openPeerFront({
    ...{ config, setting, signer, note, takesMore, now, places, version: VERSION },
    ...{ disk: hands.disk, keys: keyFetch(command), id: hands.around.id },
    ...{ after: hands.service.after, random: hands.service.random },
    ...{ link: links.peers, url: parts.url, render: parts.render },
    began: (task, other) => care.traces?.began(task, other),
  });
  const page = parts.page
    ? await openPageDesk({
      ...{ command, link: links.page, now, note },
      secret: () => hands.serve.secret(),
    })
    : undefined;
  const triggers = await openTriggers({
    ...{ config, now, note, link: links.main },
    book: openFiringBook(hands.disk, places),
    settled: setting.settled,
    secret: (name) => openSecretKeep(hands.disk, places).loadHook(name),
    after: hands.service.after,
    // A delivery comes through the gateway, which is started last.
    began: (task, other) => care.traces?.began(task, other),
  });

  const requests: Record<string, number> = {};
  const durations = makeDurations();
  const care = startStateCare({
    ...{ now, note, link: links.main, serve: config.serve, version: VERSION },
    after: hands.service.after,
    counts: () => ({
      ...{ hooks: triggers.counts(), requests, durations: durations.all() },
      ...(front === undefined ? {} : { pushes: front.counts() }),
    }),
  });

  const gateway: RunningService["gateway"] = async (listen) => {
    const tokens = openTokens({ disk: hands.disk, places });
    let link: GatewayLink | undefined;
    const tell = (op: string, body: Json): void => link?.tell(op, body);
    const mcp = makeMediator({
      holderOf(token) {
        if (config.serve.mcp === false) return undefined;
        const holder = token === null ? undefined : tokens.tryHolder(token);
        return holder === undefined || !mayHave(holder.profile, listen) ? undefined : holder;
      },
      open(id, holder) {
        const shared = hostParts(command, {
          setting: setting.calls,
          link: Promise.resolve(links.main),
        });
        return openHost({ ...shared, tell, own: false }, id, holder);
      },
      id: () => hands.around.id("host") + hands.around.id(""),
      send: () => undefined,
      note,
    });
    const handler = makeServiceHandler({
      ...{ mcp, page, keySet, takesMore, unready },
      peers: front?.mediator(tell),
      hook: triggers.hook,
      metrics: care.metrics,
      counted(surface): void {
        requests[surface] = (requests[surface] ?? 0) + 1;
      },
      ...{ took: durations.add, now },
    });
    handlers.add(handler);
    const over = async (): Promise<void> => {
      handlers.delete(handler);
      await handler.close();
    };
    try {
      link = await hands.serve.start({ handler, listen });
    } catch (error) {
      await over();
      throw error;
    }
    return { link, over };
  };

  const busy = async (): Promise<boolean> => {
    if ([...handlers].some((handler) => handler.under() > 0)) return true;
    const processes = await links.main.ask("ps", null);
    return Array.isArray(processes) && processes.length > 0;
  };

  return Object.freeze<RunningService>({
    ...{ links, gateway, unready },
    served(is): void {
      up = is;
    },
    loginCode: () => page?.code(),
    async replace(rules): Promise<void> {
      const put = triggers.prepare({ config: rules.config, settled: rules.setting.settled });
      await lendService(command, links.main, rules.setting);
      setting = rules.setting;
      front?.replace(rules);
      await put();
    },
    draining: () => draining,
    async drain(ms): Promise<void> {
      draining = true;
      await triggers.close();
      const until = now() + ms;
      try {
        while (now() < until && await busy()) {
          await new Promise<void>((resolve) => hands.service.after(LOOK_MS, resolve));
        }
      } catch (error) {
        // A kernel that has gone has nothing under way.
        if (!(error instanceof Fault)) throw error;
      }
    },
    async close(): Promise<void> {
      draining = true;
      await triggers.close();
      await care.close();
      await front?.close();
      await page?.close().catch((error: unknown) => {
        if (!(error instanceof Fault)) throw error;
      });
      await Promise.allSettled([...handlers].map((handler) => handler.close()));
    },
  });
}

/** Fetches documents of issuers with a net service of its own, which starts with the first fetch and anew after a failed one. */
function keyFetch({ hands }: Command): KeyFetch & { close(): Promise<void> } {
  let service: Promise<LoginService> | undefined;
  const close = async (): Promise<void> => {
    const held = service;
    service = undefined;
    await held?.then((each) => each.close(), () => undefined);
  };
  return Object.freeze({
    ...{ close, vet: loginUrl, same: sameIssuer },
    async get(url: URL, issuer: URL) {
      service ??= hands.login.start();
      try {
        return await makeLoginNet((await service).link, issuer).get(url);
      } catch (error) {
        await close();
        throw error;
      }
    },
  });
}
