/** SHA-256 of texts, bytes and JSON values. Not in mod.ts, so that workers do not load node:crypto. @module */
import { createHash, hash as hashOnce } from "node:crypto";
import type { Digest } from "../contracts/authority/ids.ts";
import type { Json } from "../contracts/base/json.ts";
import { canonicalJson } from "./canonical.ts";

/** SHA-256 of the concatenated `parts` (strings as UTF-8). */
export function sha256Hex(...parts: readonly (string | Uint8Array)[]): Digest {
  const [only] = parts;
  // Avoids a hash object, which is a stream.
  if (parts.length === 1 && only !== undefined) return hashOnce("sha256", only, "hex") as Digest;
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  // The only source of digests: the hash has the format of Digest's schema.
  return hash.digest("hex") as Digest;
}

/**
 * SHA-256 of `value`'s canonical JSON text.
 * @throws {Fault} `invalidInput`, see {@link canonicalJson}.
 */
export function digestOf(value: Json): Digest {
  return sha256Hex(canonicalJson(value));
}
