/** Decides where one hop may connect; decided again for each hop. @module */
import { Fault } from "../../contracts/base/fault.ts";
import type { AllowedOrigin } from "../../contracts/wire/wire_net.ts";
import { type Ip, tryIp } from "./ip.ts";
import { type IpKind, kindOf, type Reach } from "./ip_ranges.ts";
import type { Resolver } from "./resolver.ts";

/** Maximum number of a host's addresses. */
const ADDRESSES = 32;

/** What vetting needs. */
interface VetParts {
  readonly resolver: Resolver;
  readonly allow: readonly AllowedOrigin[];
  readonly signal: AbortSignal;
}

/**
 * The addresses that a request for `url` may connect to, IPv4 first. The name is resolved once,
 * only if the origin is allowed, and each of its addresses must be acceptable.
 * @throws {Fault} `refused` with the reason, `notFound`, `unavailable`, or the signal's reason
 */
export async function vet(url: URL, parts: VetParts): Promise<readonly string[]> {
  const allowed = parts.allow.find(({ origin }) => origin === url.origin);
  if (allowed === undefined) {
    throw refused(url, "the origin is not allowed; ask for it to be granted");
  }
  const port = portOf(url);
  if (!allowed.named && !isWebPort(port)) {
    throw refused(url, `port ${port} is not one of the web; name the origin in remit.yaml`);
  }
  const itself = tryIp(url.hostname);
  if (itself !== undefined) {
    check(url, { ip: itself, named: allowed.named, literal: true });
    return [text(url.hostname)];
  }
  if (/[[\]:%]/.test(url.hostname)) throw refused(url, "the host is not a name");
  const found = await parts.resolver.resolve(url.hostname, parts.signal);
  if (found.length === 0) {
    throw new Fault("notFound", `Cannot fetch: ${quoted(url)} has no address`);
  }
  if (found.length > ADDRESSES) throw refused(url, "the host has too many addresses");
  const ips = found.map((address) => ({ address, ip: tryIp(address) }));
  for (const { ip } of ips) {
    if (ip === undefined) throw refused(url, "the host's address does not read as one");
    check(url, { ip, named: allowed.named, literal: false, was: allowed.was });
  }
  return ips.toSorted((a, b) => (a.ip?.version ?? 0) - (b.ip?.version ?? 0))
    .map(({ address }) => text(address));
}

function check(
  url: URL,
  { ip, named, literal, was }: {
    readonly ip: Ip;
    readonly named: boolean;
    readonly literal: boolean;
    readonly was?: AllowedOrigin["was"];
  },
): void {
  const kind = kindOf(ip);
  // INVARIANT: a name that led to the web when it was named leads nowhere else (test: "a name that
  // led to the web … since").
  if (was === "public" && kind.reach === "private") {
    throw refused(
      url,
      `the host leads to ${kind.what}, and led to public ones when it was named; where that is meant, take its ` +
        'line out of "kernel/origins" in the state while no kernel runs ("remit stop")',
    );
  }
  if (fits(kind.reach, named, literal)) return;
  // The address itself would tell an agent how the internal network is laid out.
  throw refused(url, `the host leads to ${kind.what}${advice(kind)}`);
}

function fits(reach: Reach, named: boolean, literal: boolean): boolean {
  return reach === "public" || (named && (reach === "private" || (reach === "literal" && literal)));
}

function advice({ reach }: IpKind): string {
  if (reach === "private") return "; the operator can name the origin in remit.yaml";
  return reach === "literal" ? "; the operator can name that very address in remit.yaml" : "";
}

function refused(url: URL, why: string): Fault {
  return new Fault("refused", `Cannot fetch: ${quoted(url)}: ${why}`);
}

function quoted(url: URL): string {
  return JSON.stringify(url.origin);
}

function text(host: string): string {
  return host.replace(/^\[|\]$/g, "");
}

// Ports that a web request may use.

/** Bad ports of the Fetch standard above 1023: an HTTP request could speak to their protocols. */
const BAD: ReadonlySet<number> = new Set([
  1_719, // h323gatestat
  1_720, // h323hostcall
  1_723, // pptp
  2_049, // nfs
  3_659, // apple-sasl
  4_045, // npp
  4_190, // sieve
  5_060, // sip
  5_061, // sips
  6_000, // x11
  6_566, // sane-port
  6_665, // irc
  6_666, // irc
  6_667, // irc
  6_668, // irc
  6_669, // irc
  6_679, // osaut
  6_697, // ircs
  10_080, // amanda
]);

/** An address's port, or its scheme's default. */
export function portOf(url: URL): number {
  if (url.port !== "") return Number(url.port);
  return url.protocol === "https:" ? 443 : 80;
}

/** Whether an origin that nobody named may use this port: 80, 443, and most from 1024 on. */
function isWebPort(port: number): boolean {
  return port === 80 || port === 443 || (port >= 1_024 && port <= 65_535 && !BAD.has(port));
}
