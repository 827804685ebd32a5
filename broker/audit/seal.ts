/** Seals: one signature for a commit group. DESIGN sections 3 and 6. @module */
import { createHash } from "node:crypto";
import { Digest } from "../../contracts/ids.ts";
import type { Json } from "../../contracts/json.ts";
import { canonicalJson } from "../../port/mod.ts";

/** Most events that one seal covers: its body stays within what a sealed event may hold. */
export const MOST_SEALED = 1_000;

/** What the body of a `seal` event says. */
export interface SealBody {
  /** Hashes of the group's events, in order of append. */
  readonly hashes: readonly Digest[];
  /** Ed25519, 64 bytes. */
  readonly signature: Uint8Array;
  /** The receipt key, base64url: in the log's first seal only. */
  readonly key?: string;
}

/**
 * What is signed: SHA-256 over the ASCII text `remit seal 1` and one newline, the 32 raw bytes of
 * the hash of the seal before (zeros for the first), and the raw hashes of the group's events laid
 * end to end.
 */
export function sealMessage(prev: Digest, hashes: readonly Digest[]): Uint8Array {
  // Hex joined and read at once: with a hundred hashes a hundred updates cost as much as the rest.
  const raw = Uint8Array.fromHex(prev + hashes.join(""));
  return createHash("sha256").update("remit seal 1\n").update(raw).digest();
}

/** Bytes as base64url without padding. */
export function base64url(bytes: Uint8Array): string {
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}

/** Bytes of base64url text, or undefined. */
export function tryBase64url(text: string): Uint8Array | undefined {
  try {
    const bytes = Uint8Array.fromBase64(text, { alphabet: "base64url" });
    // One text for each byte string: a changed bit that means nothing is still a change.
    return base64url(bytes) === text ? bytes : undefined;
  } catch (_error) {
    return undefined;
  }
}

/** The body of a `seal` event: `h` hashes laid end to end, `s` signature, `k` key, base64url. */
export function sealText({ hashes, signature, key }: SealBody): string {
  const h = base64url(Uint8Array.fromHex(hashes.join("")));
  const s = base64url(signature);
  return canonicalJson(key === undefined ? { h, s } : { h, k: key, s });
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

/** Reads what {@link sealText} writes; undefined for any other text. */
export function trySealBody(text: string): SealBody | undefined {
  let value: Json;
  try {
    value = JSON.parse(text);
  } catch (_error) {
    return undefined;
  }
  if (!isRecord(value)) return undefined;
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
