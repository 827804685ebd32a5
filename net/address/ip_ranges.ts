/**
 * Classifies an address by the special ranges of IANA's registries (IPv4 and IPv6 Special-Purpose
 * Address Space, Multicast, Global Unicast Assignments), and by the metadata services of clouds.
 * @module
 */
import { type Ip, sharesPrefix, tryIp } from "./ip.ts";

/**
 * Who may connect to an address. `public`: any origin. `private`: an origin that the operator
 * named. `literal`: an origin that the operator named as this very address. `never`: nobody.
 */
export type Reach = "public" | "private" | "literal" | "never";

/** The class of an address. */
export interface IpKind {
  readonly reach: Reach;
  /** A description for a refusal. */
  readonly what: string;
}

interface Range extends IpKind {
  readonly base: Ip;
  readonly bits: number;
}

const PUBLIC: IpKind = { reach: "public", what: "a public address" };
const NOT_GLOBAL: IpKind = { reach: "never", what: "an address outside global unicast space" };

// The first matching range decides, so single addresses come before the ranges around them.
const TABLE: readonly (readonly [string, Reach, string])[] = [
  ["100.100.100.200/32", "literal", "a cloud's metadata service"],
  ["168.63.129.16/32", "literal", "a cloud's metadata service"],
  ["192.0.0.192/32", "literal", "a cloud's metadata service"],
  ["0.0.0.0/8", "never", "an address of this network"],
  ["10.0.0.0/8", "private", "a private address"],
  ["100.64.0.0/10", "private", "an address shared by a carrier"],
  ["127.0.0.0/8", "private", "a loopback address"],
  ["169.254.0.0/16", "literal", "a link-local address"],
  ["172.16.0.0/12", "private", "a private address"],
  ["192.0.0.0/24", "never", "an address of protocol assignments"],
  ["192.0.2.0/24", "literal", "an address for documentation"],
  ["192.31.196.0/24", "never", "an address of AS112"],
  ["192.52.193.0/24", "never", "an address of a multicast relay"],
  ["192.88.99.0/24", "never", "an address of a 6to4 relay"],
  ["192.168.0.0/16", "private", "a private address"],
  ["192.175.48.0/24", "never", "an address of AS112"],
  ["198.18.0.0/15", "private", "an address for benchmarks"],
  ["198.51.100.0/24", "literal", "an address for documentation"],
  ["203.0.113.0/24", "literal", "an address for documentation"],
  ["224.0.0.0/4", "never", "a multicast address"],
  ["255.255.255.255/32", "never", "the broadcast address"],
  ["240.0.0.0/4", "never", "a reserved address"],

  ["fd00:ec2::/32", "literal", "a cloud's metadata service"],
  ["fd20:ce::254/128", "literal", "a cloud's metadata service"],
  ["fd00:42::42/128", "literal", "a cloud's metadata service"],
  ["::/128", "never", "the unspecified address"],
  ["::1/128", "private", "a loopback address"],
  ["::ffff:0:0/96", "literal", "an IPv4 address in IPv6 clothes"],
  ["::ffff:0:0:0/96", "literal", "an IPv4 address that is translated"],
  ["::/96", "literal", "an IPv4 address in IPv6 clothes"],
  ["64:ff9b::/96", "literal", "an IPv4 address that is translated"],
  ["64:ff9b:1::/48", "literal", "an IPv4 address that is translated"],
  ["100::/64", "never", "a discarded address"],
  ["100:0:0:1::/64", "never", "a discarded address"],
  ["2001::/32", "never", "a Teredo tunnel"],
  ["2001::/23", "never", "an address of protocol assignments"],
  ["2001:db8::/32", "literal", "an address for documentation"],
  ["2002::/16", "literal", "an IPv4 address that is tunnelled"],
  ["2620:4f:8000::/48", "never", "an address of AS112"],
  ["3ffe::/16", "never", "an address of the former 6bone"],
  ["3fff::/20", "literal", "an address for documentation"],
  ["5f00::/16", "never", "a segment identifier"],
  ["fc00::/7", "private", "a private address"],
  ["fe80::/10", "literal", "a link-local address"],
  ["fec0::/10", "literal", "a site-local address"],
  ["ff00::/8", "never", "a multicast address"],
];

const RANGES: readonly Range[] = TABLE.map(([text, reach, what]) => {
  const [address = "", bits] = text.split("/");
  const base = tryIp(address);
  if (base === undefined) throw new TypeError(`Cannot read range "${text}"`);
  return { base, bits: Number(bits), reach, what };
});

const GLOBAL_BITS = 3;
const GLOBAL: Ip = { version: 6, bytes: [0x20, ...Array<number>(15).fill(0)] };

/** The class of `ip`. */
export function kindOf(ip: Ip): IpKind {
  const range = RANGES.find(({ base, bits }) => sharesPrefix(ip, base, bits));
  if (range !== undefined) return range;
  if (ip.version === 4) return PUBLIC;
  if (!sharesPrefix(ip, GLOBAL, GLOBAL_BITS)) return NOT_GLOBAL;
  return isIsatap(ip) ? { reach: "literal", what: "an IPv4 address that is tunnelled" } : PUBLIC;
}

/** Whether the address that a hop reports is public. */
export function isPublic(address: string): boolean {
  const ip = tryIp(address);
  return ip !== undefined && kindOf(ip).reach === "public";
}

/** ISATAP routers unpack interface ids `0:5efe:a.b.c.d` and `200:5efe:a.b.c.d` (RFC 5214). */
function isIsatap({ bytes }: Ip): boolean {
  return (bytes[8] === 0 || bytes[8] === 2) && bytes[9] === 0 && bytes[10] === 0x5e &&
    bytes[11] === 0xfe;
}
