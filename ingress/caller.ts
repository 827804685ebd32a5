/** Who counts as one where requests are counted: an IPv4 address, or a network of IPv6 as one household has. @module */

const GROUPS = 8;
const NETWORK = 4;

/** The name under which an address is counted: of IPv6 its first 64 bits, because the rest is its owner's to choose. */
export function callerOf(address: string): string {
  const url = `http://[${address}]`;
  if (!address.includes(":") || !URL.canParse(url)) return address;
  const [head = "", tail = ""] = new URL(url).hostname.slice(1, -1).split("::");
  const [first, last] = [head, tail].map((part) => part === "" ? [] : part.split(":"));
  if (first === undefined || last === undefined) return address;
  const groups = [...first, ...Array(GROUPS - first.length - last.length).fill("0"), ...last];
  // An IPv4 address in IPv6 is itself.
  if (groups.slice(0, 6).join(":") === "0:0:0:0:0:ffff") return groups.slice(6).join(":");
  return `${groups.slice(0, NETWORK).join(":")}::/64`;
}
