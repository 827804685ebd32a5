/** Web requests with secrets filled in, each logged. Used by kernel/task/task_tools.ts. @module */
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

/** Maximum bytes of a request's body and of a response's body. */
const MAX_REQUEST_BYTES = 1_000_000;
const MAX_RESPONSE_BYTES = 10_000_000;
const MAX_REDIRECTS = 5;
const DEADLINE_MS = 30_000;
/** Maximum concurrent requests of one task: no task takes the service from the others. */
const MAX_CONCURRENT = 8;

/** One request of a call that the gate has allowed for `origin`. */
export interface Fetch {
  readonly task: TaskId;
  readonly pid: Pid;
  readonly callId: string;
  readonly origin: string;
  readonly method: NetRequest["method"];
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Maximum bytes of the response; at most 10 MB, which is also the default. */
  readonly bytes?: number;
  /** The browser profile whose cookies the request carries and the answer changes. */
  readonly profile?: ProfileUse | undefined;
}

/** Access to the web. */
export interface Fetching {
  /**
   * Rejects with the net service's faults, and with `refused` for another origin than the call's, a
   * secret that is bound to another origin or header, or a lease that has ended.
   */
  fetch(request: Fetch, signal: AbortSignal): Promise<NetAnswer>;
  /** Calls {@link Fetching.fetch} with the destination that the gate allowed for a call. */
  forCall(
    call: GrantedCall,
    request: Pick<Fetch, "method" | "url" | "headers" | "body">,
    signal: AbortSignal,
  ): Promise<NetAnswer>;
  /** The handle of a secret for header values: `secret:NAME`. Throws `notFound`, `refused`. */
  handle(name: string, origin: string | undefined): string;
}

/** The parts of {@link makeFetching}. */
export interface FetchingParts {
  readonly net: Pick<NetService, "provide" | "freshId">;
  readonly leases: Pick<Leases, "covering">;
  readonly log: Pick<EventLog, "append">;
  /** Budgets of sent bytes; absent: there are none. */
  readonly uses?: Uses;
  /** The operator's secret of this name; undefined if there is none now. */
  secret(name: string): Secret | undefined;
}

/** Makes the access to the web. The net service starts with the first request. */
export function makeFetching({ net, leases, log, uses, secret: lookup }: FetchingParts): Fetching {
  const running = new Map<TaskId, number>();

  const findSecret = (name: string): Secret => {
    const secret = lookup(name);
    if (secret !== undefined) return secret;
    throw new Fault(
      "notFound",
      `Cannot use secret "${name}": there is none; the operator adds it with ` +
        `\`remit secret set ${name}\``,
    );
  };

  /** Replaces handles with the secrets' values; also returns the secrets used. */
  const withSecretValues = (
    { headers, origin }: Fetch,
  ): { readonly headers: Readonly<Record<string, string>>; readonly used: readonly Secret[] } => {
    const used: Secret[] = [];
    const entries = Object.entries(headers).map(([name, value]): [string, string] => {
      const handle = /^secret:([a-z][a-z0-9_-]{0,63})$/.exec(value)?.[1];
      if (handle === undefined) return [name, value];
      const secret = findSecret(handle);
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

  const fetchAllowed = async (request: Fetch, signal: AbortSignal): Promise<NetAnswer> => {
    const { task, pid, origin } = request;
    const lease = leases.covering(pid, { resource: "net", right: "use", path: origin });
    if (lease === undefined) {
      throw new Fault(
        "refused",
        `Cannot fetch from ${origin}: no lease of this process covers it`,
      );
    }
    const { headers, used } = withSecretValues(request);
    const others = running.get(task) ?? 0;
    if (others >= MAX_CONCURRENT) {
      throw new Fault(
        "rateLimited",
        `Cannot fetch: ${MAX_CONCURRENT} requests of this task are under way`,
      );
    }
    running.set(task, others + 1);
    try {
      return await send(request, signal, { headers, used, named: lease.scope.path === origin });
    } finally {
      const left = (running.get(task) ?? 1) - 1;
      if (left > 0) running.set(task, left);
      else running.delete(task);
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
    const logged = {
      ...{ pid, call: callId, method, secrets: used.map(({ name }) => name) },
      ...(profile === undefined ? {} : { profile: profile.name }),
    };
    /** The values to hide: of secrets used, and of cookies sent or received. */
    const secretValues = (): readonly Hidden[] => [...used, ...(profile?.hidden() ?? [])];
    const ask = async (step: Step): Promise<NetAnswer> => {
      await uses?.take({ task, pid }, { egressBytes: sentBytes(step) }, `fetch from ${origin}`);
      const child = await net.provide();
      const id = net.freshId();
      const sent: NetRequest = {
        ...{ id, ...step },
        allow: [{ origin, named }],
        redirects: MAX_REDIRECTS,
        requestBytes: MAX_REQUEST_BYTES,
        responseBytes: Math.min(request.bytes ?? MAX_RESPONSE_BYTES, MAX_RESPONSE_BYTES),
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
      // With a profile each request was counted before it was sent.
      const extra = profile === undefined ? (hops.length - 1) * sentBytes(request) : 0;
      if (extra > 0) {
        // The number of redirects is known only now; an exceeded budget refuses the next request.
        await uses?.take({ task, pid, past: true }, { egressBytes: extra }, "follow redirects");
      }
      await log.append(task, [{
        kind: "fetched",
        body: { ...logged, status, bytes, ms, requests: hops.length },
        private: { origin, url, hops: withoutSecrets(toJson(hops), secretValues()) },
      }]);
      const all = secretValues();
      return all.length === 0 ? answer : parseNetAnswer(withoutSecrets(toJson(answer), all));
    } catch (error) {
      if (signal.aborted) throw new Fault("cancelled", `Cannot fetch from ${origin}: cancelled`);
      if (!(error instanceof Fault)) throw error;
      await log.append(task, [{
        kind: "fetched",
        body: { ...logged, failed: error.code },
        private: { origin, url },
      }]);
      if (error.code !== "gone") throw new Fault(error.code, hidden(error.message, secretValues()));
      throw new Fault("upstream", `Cannot fetch from ${origin}: the net service ended`, {
        cause: error,
      });
    }
  };

  return Object.freeze<Fetching>({
    fetch: fetchAllowed,
    forCall: ({ task, pid, callId, resolved }, request, signal) =>
      fetchAllowed({ ...request, task, pid, callId, origin: resolved.destination ?? "" }, signal),
    handle(name: string, origin: string | undefined): string {
      const secret = findSecret(name);
      if (secret.origin === origin) return `secret:${name}`;
      throw new Fault("refused", `Cannot use secret "${name}" here: it is for ${secret.origin}`);
    },
  });
}

type Step = Pick<NetRequest, "method" | "url" | "headers" | "body" | "cookies">;
type Hidden = Pick<Secret, "value" | "prefix">;

/**
 * Sends a request with a profile's cookies and follows each redirect here. The cookies of one answer
 * are durable before the next request is sent and before the answer is returned. All requests go to
 * the call's origin: the net service stops at a redirect to another origin.
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
    if (hops.length > MAX_REDIRECTS) {
      return { ...answer, hops, stopped: { location: url, why: "there were too many redirects" } };
    }
    const kept = next.body && body !== undefined;
    step = {
      ...{ ...rest, method, url },
      ...(kept ? { body, headers } : { headers: withoutBodyHeaders(headers) }),
    };
  }
}

/** The headers of a request whose redirect dropped the body. */
function withoutBodyHeaders(headers: Step["headers"]): Step["headers"] {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !name.toLowerCase().startsWith("content-")),
  );
}

/** Approximate bytes that a request sends: request line, headers and body. */
export function sentBytes(
  { method, url, headers, body = "", cookies = "" }: Step,
): number {
  const lines = Object.entries({ ...headers, ...(cookies === "" ? {} : { cookie: cookies }) }).map((
    [name, value],
  ) => `${name}: ${value}`);
  return new TextEncoder().encode([`${method} ${url}`, ...lines, "", body].join("\r\n")).length;
}
