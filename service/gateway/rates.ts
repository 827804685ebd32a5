/**
 * Limits each caller: requests a minute by address or token, and concurrent requests of one
 * credential.
 * @module
 */
import { Fault } from "../../contracts/base/fault.ts";
import type { Json } from "../../contracts/base/json.ts";
import type { Port } from "../../contracts/base/port.ts";

const GROUPS = 8;
const NETWORK = 4;

/**
 * The name under which an address is counted: a whole IPv4 address, or the first 64 bits of an IPv6
 * address, because one household chooses the rest.
 */
export function callerOf(address: string): string {
  const url = `http://[${address}]`;
  if (!address.includes(":") || !URL.canParse(url)) return address;
  const [head = "", tail = ""] = new URL(url).hostname.slice(1, -1).split("::");
  const [first, last] = [head, tail].map((part) => part === "" ? [] : part.split(":"));
  if (first === undefined || last === undefined) return address;
  const groups = [...first, ...Array(GROUPS - first.length - last.length).fill("0"), ...last];
  // An IPv4 address mapped into IPv6 counts as the IPv4 address.
  if (groups.slice(0, 6).join(":") === "0:0:0:0:0:ffff") return groups.slice(6).join(":");
  return `${groups.slice(0, NETWORK).join(":")}::/64`;
}

/** Counts requests by name, each in a bucket that refills with time. */
export interface Rates {
  /** Takes one request; false when none is left. `max`: this name's own limit a minute. */
  take(who: string, max?: number): boolean;
}

const MAX_BUCKETS = 10_000;
const MINUTE_MS = 60_000;

/** Makes buckets of `perMinute` requests each, for 10,000 names. `now` is in milliseconds. */
export function makeRates(perMinute: number, now: () => number): Rates {
  const buckets = new Map<string, { left: number; at: number }>();
  const filled = ({ left, at }: { left: number; at: number }, max: number): number =>
    Math.min(max, left + (now() - at) * max / MINUTE_MS);
  return Object.freeze<Rates>({
    take(who, max = perMinute): boolean {
      const known = buckets.get(who);
      const left = known === undefined ? max : filled(known, max);
      // Least recently seen first.
      buckets.delete(who);
      if (buckets.size >= MAX_BUCKETS) {
        for (const oldest of buckets.keys()) {
          buckets.delete(oldest);
          break;
        }
      }
      buckets.set(who, { left: left < 1 ? left : left - 1, at: now() });
      return left >= 1;
    },
  });
}

const KNOWN_MS = 5_000;
const MAX_ADMITTED = 1_000;

/**
 * Remembers for five seconds whom `admit` accepted, which saves a peer's request one round trip;
 * never remembers a refusal. The memory decides only rates and early refusals: each act is asked
 * with the credential itself, so that a revoked credential does nothing. `now` is in milliseconds.
 */
export function rememberAdmitted<T>(
  admit: (token: string) => Promise<T>,
  now: () => number,
): (token: string) => Promise<T> {
  const known = new Map<string, { readonly holder: T; readonly until: number }>();
  return async (token) => {
    const found = known.get(token);
    if (found !== undefined && now() < found.until) return found.holder;
    known.delete(token);
    const holder = await admit(token);
    // Oldest first.
    for (const oldest of known.keys()) {
      if (known.size < MAX_ADMITTED) break;
      known.delete(oldest);
    }
    known.set(token, { holder, until: now() + KNOWN_MS });
    return holder;
  };
}

/** Maximum concurrent requests of one credential, and of all; the rest has no credential. */
const MAX_EACH = 256;
const MAX_ALL = 448;

/**
 * Shares the pipe to the starter fairly: it accepts 512 requests at a time, and a flood from one
 * credential would take them from other peers, webhooks and the page. `ask` rejects `rateLimited`
 * for a credential that has used its share.
 */
export function makeFairPort(port: Pick<Port, "ask" | "tell">): Pick<Port, "ask" | "tell"> {
  const inFlight = new Map<string, number>();
  let all = 0;
  return Object.freeze({
    tell: (op: string, body: Json): void => port.tell(op, body),
    async ask(op: string, body: Json): Promise<Json> {
      const token = tokenIn(body);
      if (token === undefined) return await port.ask(op, body);
      const before = inFlight.get(token) ?? 0;
      if (before >= MAX_EACH || all >= MAX_ALL) {
        throw new Fault("rateLimited", "Cannot ask more at a time: try again later");
      }
      inFlight.set(token, before + 1);
      all += 1;
      try {
        return await port.ask(op, body);
      } finally {
        const left = (inFlight.get(token) ?? 1) - 1;
        if (left === 0) inFlight.delete(token);
        else inFlight.set(token, left);
        all -= 1;
      }
    },
  });
}

function tokenIn(body: Json): string | undefined {
  if (typeof body !== "object" || body === null || !("token" in body)) return undefined;
  const { token } = body;
  return typeof token === "string" ? token : undefined;
}
