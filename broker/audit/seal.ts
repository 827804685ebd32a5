/** Seals: one signature for a commit group. @module */
import { Digest } from "../../contracts/authority/ids.ts";
import { isObject, type Json } from "../../contracts/base/json.ts";
import type { Store } from "../../contracts/task/store.ts";
import { sha256Hex } from "../../port/digest.ts";
import { bytesOfHex, writeHex } from "../../port/hex.ts";

/** Maximum number of events under one seal, so that the seal's body stays within an event's limit. */
export const MAX_SEALED = 1_000;

const HASH_BYTES = 32;
const SCRATCH = new Uint8Array(MAX_SEALED * HASH_BYTES);

/** The body of a `seal` event. */
export interface SealBody {
  /** Hashes of the group's events, in order of append. */
  readonly hashes: readonly Digest[];
  /** Ed25519, 64 bytes. */
  readonly signature: Uint8Array;
  /** The receipt key, base64url: in the log's first seal only. */
  readonly key?: string;
}

/**
 * The signed message: the 32 bytes of SHA-256 over an ASCII text, which is `remit seal 1`, a
 * newline, the hash of the previous seal (64 hex digits, zeros for the first), a newline, and the
 * concatenated hashes of the group's events.
 */
export function sealMessage(prev: Digest, hashes: readonly Digest[]): Uint8Array {
  return bytesOfHex(sha256Hex(`remit seal 1\n${prev}\n${hashes.join("")}`));
}

/** Bytes as base64url without padding. */
export function base64url(bytes: Uint8Array): string {
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}

/** Bytes of base64url text, or undefined. */
export function tryBase64url(text: string): Uint8Array | undefined {
  try {
    const bytes = Uint8Array.fromBase64(text, { alphabet: "base64url" });
    // Only one text for each byte string: a change in unused bits is refused, too.
    return base64url(bytes) === text ? bytes : undefined;
  } catch (_error) {
    return undefined;
  }
}

/** The body of a `seal` event: `h` hashes laid end to end, `s` signature, `k` key, base64url. */
export function sealText({ hashes, signature, key }: SealBody): string {
  const size = hashes.length * HASH_BYTES;
  // Allocating an array costs more than filling it: one serves all seals.
  const raw = size <= SCRATCH.length ? SCRATCH.subarray(0, size) : new Uint8Array(size);
  for (let i = 0; i < hashes.length; i++) writeHex(hashes[i] ?? "", raw, i * HASH_BYTES);
  const h = base64url(raw);
  const k = key === undefined ? "" : `"k":"${key}",`;
  // Already canonical JSON: keys in order, and base64url needs no escapes.
  return `{"h":"${h}",${k}"s":"${base64url(signature)}"}`;
}

/** Parses a text of {@link sealText}; undefined for any other text. */
export function trySealBody(text: string): SealBody | undefined {
  let value: Json;
  try {
    value = JSON.parse(text);
  } catch (_error) {
    return undefined;
  }
  if (!isObject(value)) return undefined;
  const { h, k, s } = value;
  if (typeof h !== "string" || typeof s !== "string") return undefined;
  if (k !== undefined && typeof k !== "string") return undefined;
  const joined = tryBase64url(h)?.toHex();
  const signature = tryBase64url(s);
  if (joined === undefined || signature?.length !== 64) return undefined;
  if (joined.length === 0 || joined.length % 64 !== 0) return undefined;
  const hashes = (joined.match(/.{64}/g) ?? []).map((hash) => Digest.parse(hash));
  const body: SealBody = { hashes, signature, ...(k === undefined ? {} : { key: k }) };
  return sealText(body) === text ? body : undefined;
}

/**
 * The hash of the seal before the one at `seq`, which covers `covered` events; {@link GENESIS}
 * before the first. Only the covered events lie between two seals.
 */
export async function sealBefore(
  store: Pick<Store, "events">,
  { seq, covered }: { readonly seq: number; readonly covered: number },
): Promise<Digest> {
  const at = seq - covered - 1;
  if (at < 1) return GENESIS;
  const [seal] = await store.events({ afterSeq: at - 1, limit: 1 });
  return seal?.kind === "seal" ? seal.hash : GENESIS;
}

/** The chain that holds the seals, and the kernel's own events. */
export const KERNEL_CHAIN = "kernel";

/** The predecessor of every chain's first event and of the first seal: 32 zero bytes. */
export const GENESIS: Digest = Digest.parse("0".repeat(64));

/** The hashed fields of an event, and the hash of its predecessor in the chain. */
interface HashedFields {
  readonly prev: Digest;
  readonly task: string;
  readonly n: number;
  readonly kind: string;
  readonly at: number;
  readonly body: string;
}

/**
 * The hash of an event: SHA-256 over this text in UTF-8, its first three lines ended by a newline
 * (0x0a):
 *
 * 1. `remit event 1`;
 * 2. the hash of the previous event in its chain, 64 hex digits (zeros for the first);
 * 3. the JSON text of the array `[task, n, kind, at]` without spaces;
 * 4. the body.
 *
 * The third line holds no raw newline and the fourth part is the rest, so no two events share their
 * text.
 */
export function hashEvent({ prev, task, n, kind, at, body }: HashedFields): Digest {
  // One string: each update of a hash costs as much as hashing 300 bytes.
  return sha256Hex(`remit event 1\n${prev}\n${JSON.stringify([task, n, kind, at])}\n${body}`);
}
