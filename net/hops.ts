/** Sends requests; vets each hop of a redirect. Used by service.ts and streams.ts. @module */
import { Fault } from "../contracts/base/fault.ts";
import type { NetAnswer, NetHop, NetRequest } from "../contracts/wire/wire_net.ts";
import { firstOf } from "./address/first_of.ts";
import { answerFrom } from "./answer.ts";
import { ACCEPT_ENCODING } from "./body.ts";
import type { Clock } from "./clock.ts";
import type { Exchange, WireAnswer } from "./exchange.ts";
import { parseAddress } from "./address/origin.ts";
import { type Follow, follow, type Step } from "./redirect.ts";
import { headersTrouble, lowerCased } from "./request_headers.ts";
import type { Resolver } from "./address/resolver.ts";
import { vet } from "./address/vet.ts";

/** The parts of the net service. */
export interface NetPowers {
  readonly resolver: Resolver;
  readonly exchange: Exchange;
  readonly clock: Clock;
}

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] as const;
const MAX_REDIRECTS = 20;

/** The powers for one request. */
export interface HopPowers extends NetPowers {
  /** Counts body bytes held in memory. @throws {Fault} above the limit */
  take(bytes: number): void;
}

/**
 * Sends `request` and follows redirects as far as `allow` permits. Faults: see {@link NetAnswer}.
 */
export async function fetchHops(
  request: NetRequest,
  powers: HopPowers,
  signal: AbortSignal,
): Promise<NetAnswer> {
  const maxRedirects = Math.min(request.redirects, MAX_REDIRECTS);
  const hops: NetHop[] = [];
  const vetted = (step: Step): Promise<readonly string[]> =>
    vet(step.url, { resolver: powers.resolver, allow: request.allow, signal });
  let step = firstStep(request);
  let addresses = await vetted(step);
  for (;;) {
    const { answer, hop } = await sendOne(step, addresses, powers, { signal });
    using open = answer;
    hops.push(hop);
    const next = await nextHop(step, open, { left: maxRedirects - hops.length + 1, vetted });
    const setCookies = request.cookies === undefined ? {} : { setCookies: cookiesOf(open) };
    if (next.kind === "go" && request.cookies !== undefined) {
      // The kernel stores these cookies before it requests the next hop.
      return {
        ...{ status: open.status, headers: {}, body: "", bytes: 0, cut: false },
        ...{ url: step.url.href, hops, ...setCookies, next: nextOf(next.step) },
      };
    }
    if (next.kind === "go") {
      step = next.step;
      addresses = next.addresses;
      continue;
    }
    const stopped = next.kind === "end" ? {} : {
      stopped: { location: next.location, why: next.why },
    };
    const reading = { method: step.method, limit: request.responseBytes, take: powers.take };
    return {
      ...await answerFrom(open, reading),
      url: step.url.href,
      ...stopped,
      ...setCookies,
      hops,
    };
  }
}

/** Maximum `set-cookie` lines reported for one answer. */
const MAX_SET_COOKIES = 64;

function cookiesOf({ headers }: WireAnswer): readonly string[] {
  return headers.flatMap(([name, value]) => name === "set-cookie" ? [value] : [])
    .slice(0, MAX_SET_COOKIES);
}

function nextOf({ method, url, body }: Step): NonNullable<NetAnswer["next"]> {
  const known = METHODS.find((each) => each === method) ?? "GET";
  return { method: known, url: url.href, body: body !== undefined };
}

/** The first request. @throws {Fault} `refused`, `tooLarge`, `invalidArguments` */
export function firstStep(
  request: Pick<
    NetRequest,
    "method" | "url" | "headers" | "body" | "requestBytes" | "cookies"
  >,
): Step {
  const { method, body } = request;
  if (!METHODS.includes(method)) throw refused("the method is not known");
  const trouble = headersTrouble(request.headers);
  if (trouble !== undefined) throw refused(trouble);
  const url = parseAddress(request.url);
  const { cookies = "" } = request;
  if (!/^[\x20-\x7e]{0,16384}$/.test(cookies)) throw refused("its cookies are not plain ASCII");
  const headers = {
    ...lowerCased(request.headers),
    ...(cookies === "" ? {} : { cookie: cookies }),
  };
  if (body === undefined) {
    const empty = method === "GET" || method === "HEAD" ? undefined : new Uint8Array(0);
    return { method, url, headers, ...(empty === undefined ? {} : { body: empty }) };
  }
  if (method === "GET" || method === "HEAD") throw refused(`${method} takes no body`);
  const bytes = new TextEncoder().encode(body);
  if (bytes.length > request.requestBytes) {
    throw new Fault(
      "tooLarge",
      `Cannot fetch: the body is longer than ${request.requestBytes} bytes`,
    );
  }
  return {
    method,
    url,
    headers: { "content-type": "text/plain;charset=UTF-8", ...headers },
    body: bytes,
  };
}

type NextHop = Exclude<Follow, { kind: "go" }> | {
  readonly kind: "go";
  readonly step: Step;
  readonly addresses: readonly string[];
};

/** Decides whether and where to go on. A refusal after the first hop is an answer, not a fault. */
async function nextHop(
  step: Step,
  answer: WireAnswer,
  parts: {
    readonly left: number;
    readonly vetted: (step: Step) => Promise<readonly string[]>;
  },
): Promise<NextHop> {
  const locations = answer.headers.filter(([name]) => name === "location").map(([, to]) => to);
  const next = follow(step, answer.status, locations);
  if (next.kind !== "go") return next;
  const { location } = next;
  if (parts.left <= 0) return { kind: "stop", location, why: "there were too many redirects" };
  try {
    return { kind: "go", step: next.step, addresses: await parts.vetted(next.step) };
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== "refused") throw error;
    return { kind: "stop", location, why: error.message };
  }
}

/** Sends one request to one of the host's vetted addresses; reads only the head of the answer. */
export async function sendOne(
  step: Step,
  addresses: readonly string[],
  powers: NetPowers,
  { signal, encoding = ACCEPT_ENCODING }: {
    readonly signal: AbortSignal;
    readonly encoding?: string;
  },
): Promise<{ readonly answer: WireAnswer; readonly hop: NetHop }> {
  const { method, url, body } = step;
  const started = powers.clock.now();
  const headers = {
    accept: "*/*",
    ...step.headers,
    "user-agent": "remit",
    "accept-encoding": encoding,
  };
  const { address, got: answer } = await firstOf(
    addresses,
    (address, connectMs) =>
      powers.exchange.send({
        ...{ method, url, address, headers },
        ...(body === undefined ? {} : { body }),
        ...(connectMs === undefined ? {} : { connectMs }),
      }, signal),
  );
  const ms = Math.round(powers.clock.now() - started);
  return { answer, hop: { method, url: url.href, address, status: answer.status, ms } };
}

function refused(why: string): Fault {
  return new Fault("refused", `Cannot fetch: ${why}`);
}
