/** Requests to the web: secrets put in, the net service asked, each request on record. @module */
import { Fault } from "../../../contracts/base/fault.ts";
import { toJson } from "../../../contracts/base/json.ts";
import type { Leases } from "../../../contracts/authority/gate.ts";
import type { Pid, TaskId } from "../../../contracts/authority/ids.ts";
import type { GrantedCall } from "../../../contracts/task/power.ts";
import type { EventLog } from "../../../contracts/task/store.ts";
import type { Secret } from "../../../contracts/wire/wire_control.ts";
import type { NetAnswer, NetHop, NetRequest } from "../../../contracts/wire/wire_net.ts";
import type { Uses } from "../../../contracts/task/spending.ts";
import { type NetService, parseNetAnswer } from "./net_service.ts";
import type { ProfileUse } from "./profiles.ts";
import { hidden, withoutSecrets } from "./secret_echo.ts";

/** Most bytes of a request's body, and of a response that anything reads. */
const REQUEST_BYTES = 1_000_000;
const RESPONSE_BYTES = 10_000_000;
const REDIRECTS = 5;
const DEADLINE_MS = 30_000;
/** Requests of one task at once: no task takes the service from the others. */
const AT_ONCE = 8;

/** One request of a call that the gate has let through to `origin`. */
export interface Fetch {
  readonly task: TaskId;
  readonly pid: Pid;
  readonly callId: string;
  readonly origin: string;
  readonly method: NetRequest["method"];
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Most bytes of the response; 10 MB at most, and when absent. */
  readonly bytes?: number;
  /** The profile that goes along: its cookies are added, and what the answer sets is taken in. */
  readonly profile?: ProfileUse | undefined;
}

/** The way to the web. */
export interface Fetching {
  /**
   * Rejects with the net service's faults, and `refused` for another origin than the call's, a
   * secret that is bound to another origin or header, or a lease that has ended.
   */
  fetch(request: Fetch, signal: AbortSignal): Promise<NetAnswer>;
  /** {@link Fetching.fetch} to the destination that a call was decided for. */
  forCall(
    call: GrantedCall,
    request: Pick<Fetch, "method" | "url" | "headers" | "body">,
    signal: AbortSignal,
  ): Promise<NetAnswer>;
  /** The handle of a secret for header values: `secret:NAME`. Throws `notFound`, `refused`. */
  handle(name: string, origin: string | undefined): string;
}

/** What {@link makeFetching} is handed. */
export interface FetchingParts {
  readonly net: Pick<NetService, "provide" | "freshId">;
  readonly leases: Pick<Leases, "covering">;
  readonly log: Pick<EventLog, "append">;
  /** Budgets of what leaves; absent: there are none. */
  readonly uses?: Uses;
  /** A secret that the operator keeps now. */
  secret(name: string): Secret | undefined;
}

/** Makes the way to the web. The net service starts with the first request. */
export function makeFetching({ net, leases, log, uses, secret: keptOf }: FetchingParts): Fetching {
  const underWay = new Map<TaskId, number>();

  const find = (name: string): Secret => {
    const secret = keptOf(name);
    if (secret !== undefined) return secret;
    throw new Fault(
      "notFound",
      `Cannot use secret "${name}": there is none; the operator adds it with ` +
        `\`remit secret set ${name}\``,
    );
  };

  /** Values in place of handles, and which were used. */
  const filled = (
    { headers, origin }: Fetch,
  ): { readonly headers: Readonly<Record<string, string>>; readonly used: readonly Secret[] } => {
    const used: Secret[] = [];
    const entries = Object.entries(headers).map(([name, value]): [string, string] => {
      const handle = /^secret:([a-z][a-z0-9_-]{0,63})$/.exec(value)?.[1];
      if (handle === undefined) return [name, value];
      const secret = find(handle);
      if (secret.origin !== origin || secret.header !== name.toLowerCase()) {
        throw new Fault(
          "refused",
          `Cannot use secret "${handle}": it is for header "${secret.header}" of ${secret.origin}`,
        );
      }
      used.push(secret);
      return [name, secret.prefix + secret.value];
    });
    return { headers: Object.fromEntries(entries), used };
  };

  const decided = async (request: Fetch, signal: AbortSignal): Promise<NetAnswer> => {
    const { task, pid, origin } = request;
    const lease = leases.covering(pid, { resource: "net", right: "use", path: origin });
    if (lease === undefined) {
      throw new Fault(
        "refused",
        `Cannot fetch from ${origin}: no lease of this process covers it`,
      );
    }
    const { headers, used } = filled(request);
    const others = underWay.get(task) ?? 0;
    if (others >= AT_ONCE) {
      throw new Fault(
        "rateLimited",
        `Cannot fetch: ${AT_ONCE} requests of this task are under way`,
      );
    }
    underWay.set(task, others + 1);
    try {
      return await send(request, signal, { headers, used, named: lease.scope.path === origin });
    } finally {
      const left = (underWay.get(task) ?? 1) - 1;
      if (left > 0) underWay.set(task, left);
      else underWay.delete(task);
    }
  };

  const send = async (
    request: Fetch,
    signal: AbortSignal,
    { headers, used, named }: {
      readonly headers: Readonly<Record<string, string>>;
      readonly used: readonly Secret[];
      readonly named: boolean;
    },
  ): Promise<NetAnswer> => {
    const { task, pid, callId, origin, method, url, profile } = request;
    const told = {
      ...{ pid, call: callId, method, secrets: used.map(({ name }) => name) },
      ...(profile === undefined ? {} : { profile: profile.name }),
    };
    /** Of secrets and of cookies that went along or came. */
    const hiding = (): readonly Hidden[] => [...used, ...(profile?.hidden() ?? [])];
    const ask = async (step: Step): Promise<NetAnswer> => {
      await uses?.take({ task, pid }, { egressBytes: sentBytes(step) }, `fetch from ${origin}`);
      const child = await net.provide();
      const id = net.freshId();
      const sent: NetRequest = {
        ...{ id, ...step },
        allow: [{ origin, named }],
        redirects: REDIRECTS,
        requestBytes: REQUEST_BYTES,
        responseBytes: Math.min(request.bytes ?? RESPONSE_BYTES, RESPONSE_BYTES),
        deadlineMs: DEADLINE_MS,
      };
      const cancel = (): void => child.port.tell("cancel", { id });
      signal.addEventListener("abort", cancel, { once: true });
      try {
        signal.throwIfAborted();
        return parseNetAnswer(await child.port.ask("fetch", toJson(sent)));
      } finally {
        signal.removeEventListener("abort", cancel);
      }
    };
    const first = {
      ...{ method, url, headers },
      ...(request.body === undefined ? {} : { body: request.body }),
    };
    try {
      const answer = profile === undefined
        ? await ask(first)
        : await withCookies(profile, first, ask);
      const { status, bytes, hops } = answer;
      const ms = hops.reduce((sum, hop) => sum + hop.ms, 0);
      // With a profile each request was counted before it left.
      const again = profile === undefined ? (hops.length - 1) * sentBytes(request) : 0;
      if (again > 0) {
        // How often it would be redirected is known afterwards: the next request is refused.
        await uses?.take({ task, pid, past: true }, { egressBytes: again }, "follow redirects");
      }
      await log.append(task, [{
        kind: "fetched",
        body: { ...told, status, bytes, ms, requests: hops.length },
        private: { origin, url, hops: withoutSecrets(toJson(hops), hiding()) },
      }]);
      const all = hiding();
      return all.length === 0 ? answer : parseNetAnswer(withoutSecrets(toJson(answer), all));
    } catch (error) {
      if (signal.aborted) throw new Fault("cancelled", `Cannot fetch from ${origin}: cancelled`);
      if (!(error instanceof Fault)) throw error;
      await log.append(task, [{
        kind: "fetched",
        body: { ...told, failed: error.code },
        private: { origin, url },
      }]);
      if (error.code !== "gone") throw new Fault(error.code, hidden(error.message, hiding()));
      throw new Fault("upstream", `Cannot fetch from ${origin}: the net service ended`, {
        cause: error,
      });
    }
  };

  return Object.freeze<Fetching>({
    fetch: decided,
    forCall: ({ task, pid, callId, resolved }, request, signal) =>
      decided({ ...request, task, pid, callId, origin: resolved.destination ?? "" }, signal),
    handle(name: string, origin: string | undefined): string {
      const secret = find(name);
      if (secret.origin === origin) return `secret:${name}`;
      throw new Fault("refused", `Cannot use secret "${name}" here: it is for ${secret.origin}`);
    },
  });
}

type Step = Pick<NetRequest, "method" | "url" | "headers" | "body" | "cookies">;
type Hidden = Pick<Secret, "value" | "prefix">;

/**
 * A request with a profile's cookies, redirect by redirect: what one answer sets is durable before the next is asked, and
 * before anybody sees the answer. All of it stays at the call's origin: the net service stops what leads elsewhere.
 */
async function withCookies(
  profile: ProfileUse,
  first: Step,
  ask: (step: Step) => Promise<NetAnswer>,
): Promise<NetAnswer> {
  const hops: NetHop[] = [];
  for (let step = first;;) {
    const cookies = profile.cookies(step);
    const { setCookies = [], next, ...answer } = await ask({ ...step, cookies });
    await profile.keep(step.url, setCookies, next?.url);
    hops.push(...answer.hops);
    if (next === undefined) return { ...answer, hops };
    const { method, url } = next, { body, headers, ...rest } = step;
    if (hops.length > REDIRECTS) {
      return { ...answer, hops, stopped: { location: url, why: "there were too many redirects" } };
    }
    const kept = next.body && body !== undefined;
    step = {
      ...{ ...rest, method, url },
      ...(kept ? { body, headers } : { headers: withoutBody(headers) }),
    };
  }
}

/** Headers of a request whose body is gone. */
function withoutBody(headers: Step["headers"]): Step["headers"] {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !name.toLowerCase().startsWith("content-")),
  );
}

/** About what a request takes on its way: its line, its headers and its body. */
export function sentBytes(
  { method, url, headers, body = "", cookies = "" }: Step,
): number {
  const lines = Object.entries({ ...headers, ...(cookies === "" ? {} : { cookie: cookies }) }).map((
    [name, value],
  ) => `${name}: ${value}`);
  return new TextEncoder().encode([`${method} ${url}`, ...lines, "", body].join("\r\n")).length;
}
