/** Starts and ends everything behind a service's gateway. @module */
import * as z from "zod";
import {
  makeMediator,
  mayHave,
  type MediatedSession,
  type Mediator,
  openTokens,
  parseAsked,
} from "./hosts/mod.ts";
import {
  keySetText,
  openPeerFront,
  type PeerFrontParts,
  type PeerMediator,
  type PeerRules,
} from "./peer/mod.ts";
import { Fault, type Json, type Port, type PortHandler, toJson } from "../contracts/base/mod.ts";
import {
  FleetCall,
  type HookAnswer,
  HookCall,
  PageAnswer,
  PageAsk,
  type PageView,
  type ServeHolder,
  type ServeOpen,
} from "../contracts/wire/mod.ts";
import type { GatewayLink, StartedGateway } from "./gateway_keeper.ts";
import { makeDurations, startStateCare } from "./trace/mod.ts";
import { openFiringBook, openTriggers, type TriggerRules } from "./trigger/mod.ts";

/** The page, as the gateway uses it. Faults: contracts/wire/wire_a2a.ts. */
export interface ServedPage {
  open(code: string): Promise<{ readonly session: string; readonly expiresAt: number }>;
  view(ask: PageAsk): Promise<PageView>;
  answer(said: PageAnswer): Promise<void>;
  /** Logs out. */
  leave(session: string): void;
}

/** The handlers of a gateway's requests; an absent part is not served. */
interface HandlerParts {
  readonly mcp: Mediator;
  readonly peers: PeerMediator | undefined;
  readonly page: ServedPage | undefined;
  readonly hook: (call: HookCall) => Promise<HookAnswer>;
  /** Why the service is not ready; undefined when it is. */
  unready(): string | undefined;
  readonly metrics: (() => Promise<string>) | undefined;
  /** JSON text of the signing keys' set. */
  readonly keySet: string;
  /** Asks all kernels for a person with a token. Throws `denied`. */
  readonly fleet: (call: z.infer<typeof FleetCall>) => Promise<Json>;
  /** Counts a request of a surface, such as `mcp`; the returned function ends its timing. */
  counted(surface: string): () => void;
  /** Throws `unavailable` while the service shuts down. */
  takesMore(): void;
}

/** Answers a gateway, and counts the requests in progress. TRUST: the gateway may be hostile. */
interface ServiceHandler extends PortHandler {
  /** Requests without an answer yet. */
  inFlight(): number;
  close(): Promise<void>;
}

const Code = z.object({ code: z.string().max(128) }).strict();
const Session = z.object({ session: z.string().max(128) }).strict();
/** MCP ops that begin something. */
const BEGINS: ReadonlySet<string> = new Set(["session", "call", "task"]);

/** The surface of an op; undefined for an op that is not a request. */
function surfaceOf(op: string): string | undefined {
  if (op.startsWith("a2a")) return op === "a2aAdmit" ? undefined : "a2a";
  if (op.startsWith("page")) return "page";
  if (op === "hook") return "hooks";
  if (op === "fleet") return op;
  return BEGINS.has(op) ? "mcp" : undefined;
}

function makeServiceHandler(parts: HandlerParts): ServiceHandler {
  const { mcp, peers, page, hook, metrics } = parts;
  let inFlight = 0;

  const own: Readonly<Record<string, (body: Json) => Promise<Json>>> = {
    ready() {
      const why = parts.unready();
      return Promise.resolve({ ready: why === undefined, why: why ?? "" });
    },
    jwks: () => Promise.resolve({ keys: parts.keySet }),
    ...(metrics === undefined ? {} : { metrics: async () => ({ text: await metrics() }) }),
    async hook(body) {
      const call = parseAsked(HookCall, body);
      parts.takesMore();
      return toJson(await hook(call));
    },
    fleet: (body) => parts.fleet(parseAsked(FleetCall, body)),
    ...(page === undefined ? {} : {
      pageOpen: async (body: Json) => toJson(await page.open(parseAsked(Code, body).code)),
      pageView: async (body: Json) => toJson(await page.view(parseAsked(PageAsk, body))),
      async pageAnswer(body: Json) {
        await page.answer(parseAsked(PageAnswer, body));
        return null;
      },
      pageClose(body: Json) {
        page.leave(parseAsked(Session, body).session);
        return Promise.resolve(null);
      },
    }),
  };

  const serve = (op: string, body: Json): Promise<Json> => {
    const mine = Object.hasOwn(own, op) ? own[op] : undefined;
    const answer = mine?.(body) ?? peers?.ask(op, body);
    if (answer !== undefined) return answer;
    if (BEGINS.has(op)) parts.takesMore();
    return Promise.resolve(mcp.ask(op, body));
  };

  return Object.freeze<ServiceHandler>({
    async ask(op, body): Promise<Json> {
      inFlight += 1;
      const surface = surfaceOf(op);
      const ended = surface === undefined ? undefined : parts.counted(surface);
      try {
        return await serve(op, body);
      } finally {
        inFlight -= 1;
        ended?.();
      }
    },
    tell(op, body): void {
      if (peers?.tell(op, body) === true) return;
      mcp.tell(op, body);
    },
    inFlight: () => inFlight,
    async close(): Promise<void> {
      peers?.close();
      await mcp.close();
    },
  });
}

/** Serves commands at other terminals: `login` → `{ url }`, `state` → `{ url, ready, why }`. */
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

/** Milliseconds between checks for requests in progress while the service drains. */
const LOOK_MS = 200;

/** A service's part of remit.yaml, settled by its starter. */
export interface ServiceRules<S extends ServiceSettled = ServiceSettled> {
  readonly setting: S;
  readonly config: TriggerRules["config"] & PeerRules["config"];
}
type ServiceSettled = TriggerRules["setting"] & PeerRules["setting"];

/** The powers of a service, and its first rules. */
export interface ServiceParts<S extends ServiceSettled>
  extends Omit<PeerFrontParts, "setting" | "config" | "link" | "takesMore" | "began"> {
  readonly rules: ServiceRules<S>;
  readonly links: { readonly main: Pick<Port, "ask">; readonly peers: PeerFrontParts["link"] };
  /** Absent: there is no page. */
  readonly page?: ServedPage & { code(): string; close(): Promise<void> };
  /** The value of a webhook's stored secret. */
  hookSecret(name: string): string | undefined;
  /** Gives the kernel the models, keys and secrets of other rules. */
  lend(setting: S): Promise<void>;
  /** Opens a host's session under the current rules. */
  openHost(
    setting: S,
    host: {
      readonly session: string;
      readonly holder: ServeHolder;
      tell(op: "progress" | "toolsChanged", body: Json): void;
    },
  ): MediatedSession;
  startGateway(start: {
    readonly handler: PortHandler;
    readonly listen: NonNullable<ServeOpen["listen"]>;
  }): Promise<GatewayLink>;
}

/** A running service. */
export interface RunningService<S extends ServiceSettled = ServiceSettled> {
  /** Starts a gateway process with its own handler. */
  gateway(listen: NonNullable<ServeOpen["listen"]>): Promise<StartedGateway>;
  /** Notes that a gateway is kept; `up` tells whether it runs. */
  served(up: () => boolean): void;
  /** Why the service is not ready; undefined when it is. */
  unready(): string | undefined;
  /** A one-time code for the page; undefined where there is none. */
  loginCode(): string | undefined;
  /** Applies rules. If it rejects, nothing has changed. */
  replace(rules: ServiceRules<S>): Promise<void>;
  draining(): boolean;
  /** Begins nothing new; resolves when nothing is in progress, or after `ms` milliseconds. */
  drain(ms: number): Promise<void>;
  close(): Promise<void>;
}

/** Starts everything but the gateway. */
export async function startService<S extends ServiceSettled>(
  parts: ServiceParts<S>,
): Promise<RunningService<S>> {
  const { links, page, now, note, after, disk, places } = parts;
  const { config } = parts.rules;
  let { setting } = parts.rules;
  const keySet = keySetText(parts.signer.key);
  let draining = false;
  let up = (): boolean => false;
  const handlers = new Set<ServiceHandler>();

  const takesMore = (): void => {
    if (draining) throw new Fault("unavailable", "Cannot begin: the service is ending");
  };
  const unready = (): string | undefined =>
    draining ? "the service is ending" : up() ? undefined : "the gateway is being started";

  const front = config.serve.a2a === false ? undefined : openPeerFront({
    ...{ ...parts, ...parts.rules, link: links.peers, takesMore },
    began: (task, other) => care.traces?.began(task, other),
  });
  const triggers = await openTriggers({
    ...{ ...parts.rules, now, note, after, link: links.main, secret: parts.hookSecret },
    book: openFiringBook(disk, places),
    // `care` exists by then: deliveries come through the gateway, which starts last.
    began: (task, other) => care.traces?.began(task, other),
  });

  const requests: Record<string, number> = {};
  const durations = makeDurations();
  const care = startStateCare({
    ...{ now, note, after, link: links.main, serve: config.serve, version: parts.version },
    counts: () => ({
      ...{ hooks: triggers.counts(), requests, durations: durations.all() },
      ...(front === undefined ? {} : { pushes: front.counts() }),
    }),
  });

  const gateway: RunningService["gateway"] = async (listen) => {
    const tokens = openTokens({ disk, places });
    let link: GatewayLink | undefined;
    const tell = (op: string, body: Json): void => link?.tell(op, body);
    const mcp = makeMediator({
      holderOf(token) {
        if (config.serve.mcp === false) return undefined;
        const holder = token === null ? undefined : tokens.tryHolder(token);
        return holder === undefined || !mayHave(holder.profile, listen) ? undefined : holder;
      },
      open: (session, holder) => parts.openHost(setting, { session, holder, tell }),
      id: () => parts.id("host") + parts.id(""),
      ...{ note, send: () => undefined },
    });
    const people = openTokens({ disk, places }, "fleet");
    /** Performs one of a few operations; a refusal of the kernel is an answer, too. */
    const fleet = async ({ token, op, body }: z.infer<typeof FleetCall>): Promise<Json> => {
      const holder = config.serve.fleet === false ? undefined : people.tryHolder(token);
      if (holder === undefined || !mayHave(holder.profile, listen)) {
        throw new Fault("denied", "Cannot let it in: its token is not known");
      }
      const { holder: by, profile } = holder;
      try {
        return { value: await links.main.ask("view", { op, body, by, profile }) };
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
        return { fault: { code: error.code, message: error.message } };
      }
    };
    const handler = makeServiceHandler({
      fleet,
      ...{ mcp, page, keySet, takesMore, unready },
      ...{ peers: front?.mediator(tell), hook: triggers.hook, metrics: care.metrics },
      counted(surface) {
        requests[surface] = (requests[surface] ?? 0) + 1;
        const since = now();
        return () => durations.add(surface, now() - since);
      },
    });
    handlers.add(handler);
    const over = async (): Promise<void> => {
      handlers.delete(handler);
      await handler.close();
    };
    try {
      link = await parts.startGateway({ handler, listen });
    } catch (error) {
      await over();
      throw error;
    }
    return { link, over };
  };

  const busy = async (): Promise<boolean> => {
    if ([...handlers].some((handler) => handler.inFlight() > 0)) return true;
    const processes = await links.main.ask("ps", null);
    return Array.isArray(processes) && processes.length > 0;
  };

  return Object.freeze<RunningService<S>>({
    ...{ gateway, unready },
    served(is): void {
      up = is;
    },
    loginCode: () => page?.code(),
    async replace(rules): Promise<void> {
      const put = triggers.prepare(rules);
      await parts.lend(rules.setting);
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
          await new Promise<void>((resolve) => after(LOOK_MS, resolve));
        }
      } catch (error) {
        // The kernel has ended, so nothing is in progress.
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
