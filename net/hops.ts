/** A request and what its redirects lead to, each hop judged anew. @module */
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

/** What the net service is made of. */
export interface NetPowers {
  readonly resolver: Resolver;
  readonly exchange: Exchange;
  readonly clock: Clock;
}

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] as const;
const REDIRECTS = 20;

/** What one request is served with. */
export interface HopPowers extends NetPowers {
  /** Counts bytes of body that are held. @throws {Fault} when they are too many. */
  take(bytes: number): void;
}

/** Sends `request` and follows what its answers say, as far as `allow` goes. Faults: see {@link NetAnswer}. */
export async function fetchHops(
  request: NetRequest,
  powers: HopPowers,
  signal: AbortSignal,
): Promise<NetAnswer> {
  const most = Math.min(request.redirects, REDIRECTS);
  const hops: NetHop[] = [];
  const vetted = (step: Step): Promise<readonly string[]> =>
    vet(step.url, { resolver: powers.resolver, allow: request.allow, signal });
  let step = firstStep(request);
  let addresses = await vetted(step);
  for (;;) {
    const { answer, hop } = await sendOne(step, addresses, powers, { signal });
    using open = answer;
    hops.push(hop);
    const next = await judged(step, open, { left: most - hops.length + 1, vetted });
    const setCookies = request.cookies === undefined ? {} : { setCookies: cookiesOf(open) };
    if (next.kind === "go" && request.cookies !== undefined) {
      // The kernel takes in what was set before it asks for what comes next.
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

/** Lines of `set-cookie` of one answer that are told. */
const SET_COOKIES = 64;

function cookiesOf({ headers }: WireAnswer): readonly string[] {
  return headers.flatMap(([name, value]) => name === "set-cookie" ? [value] : [])
    .slice(0, SET_COOKIES);
}

function nextOf({ method, url, body }: Step): NonNullable<NetAnswer["next"]> {
  const known = METHODS.find((each) => each === method) ?? "GET";
  return { method: known, url: url.href, body: body !== undefined };
}

/** What is sent first. @throws {Fault} `refused`, `tooLarge`, `invalidArguments`. */
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

type Judged = Exclude<Follow, { kind: "go" }> | {
  readonly kind: "go";
  readonly step: Step;
  readonly addresses: readonly string[];
};

/** Whether and where it goes on. What is refused after the first hop is an answer, not a fault. */
async function judged(
  step: Step,
  answer: WireAnswer,
  parts: {
    readonly left: number;
    readonly vetted: (step: Step) => Promise<readonly string[]>;
  },
): Promise<Judged> {
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

/** Sends one request to one of its host's vetted addresses; nothing of it is read but the head. */
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
