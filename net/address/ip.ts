/** Internet addresses as numbers, parsed from their canonical notations. @module */

/** An address of 4 or 16 bytes. */
export interface Ip {
  readonly version: 4 | 6;
  readonly bytes: readonly number[];
}

const OCTET = /^(?:0|[1-9][0-9]{0,2})$/;
const GROUP = /^[0-9a-fA-F]{1,4}$/;

/**
 * Parses `127.0.0.1`, `::1`, `::ffff:1.2.3.4`, also in brackets. Undefined for everything else: a
 * zone (`%eth0`), a leading zero, a short form.
 */
export function tryIp(text: string): Ip | undefined {
  const bare = /^\[(.*)\]$/.exec(text)?.[1];
  if (bare !== undefined) return sixteen(bare);
  return four(text) ?? sixteen(text);
}

function four(text: string): Ip | undefined {
  const parts = text.split(".");
  if (parts.length !== 4 || !parts.every((part) => OCTET.test(part))) return undefined;
  const bytes = parts.map(Number);
  return bytes.every((byte) => byte < 256) ? { version: 4, bytes } : undefined;
}

function sixteen(text: string): Ip | undefined {
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const [head, tail] = [
    groups(halves[0] ?? "", halves.length === 1),
    groups(halves[1] ?? "", true),
  ];
  if (head === undefined || tail === undefined) return undefined;
  const gap = 16 - head.length - tail.length;
  if (halves.length === 1 ? gap !== 0 : gap < 2) return undefined;
  return { version: 6, bytes: [...head, ...Array<number>(gap).fill(0), ...tail] };
}

/** `last`: the text ends the address, so it may end in an IPv4 address. */
function groups(text: string, last: boolean): readonly number[] | undefined {
  if (text === "") return [];
  const parts = text.split(":");
  const bytes: number[] = [];
  for (const [index, part] of parts.entries()) {
    const inner = last && index === parts.length - 1 ? four(part) : undefined;
    if (inner !== undefined) {
      bytes.push(...inner.bytes);
      continue;
    }
    if (!GROUP.test(part)) return undefined;
    const value = parseInt(part, 16);
    bytes.push(value >> 8, value & 0xff);
  }
  return bytes.length > 16 ? undefined : bytes;
}

/** Tells whether both share the first `bits` bits. */
export function sharesPrefix(a: Ip, b: Ip, bits: number): boolean {
  if (a.version !== b.version) return false;
  for (const [index, byte] of a.bytes.entries()) {
    const left = bits - index * 8;
    if (left <= 0) return true;
    const mask = left >= 8 ? 0xff : (0xff << (8 - left)) & 0xff;
    if (((byte ^ (b.bytes[index] ?? 0)) & mask) !== 0) return false;
  }
  return true;
}
