/** SHA-256 of texts, bytes and JSON values. Not in mod.ts: node:crypto stays out of the worker. @module */
import { createHash, hash as hashOnce } from "node:crypto";
import type { Digest } from "../contracts/authority/ids.ts";
import type { Json } from "../contracts/base/json.ts";
import { canonicalJson } from "./canonical.ts";

/** SHA-256 of `parts` laid end to end (strings as UTF-8). */
export function sha256Hex(...parts: readonly (string | Uint8Array)[]): Digest {
  const [only] = parts;
  // Without a hash object, which is a stream.
  if (parts.length === 1 && only !== undefined) return hashOnce("sha256", only, "hex") as Digest;
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  // Digests are born here: the hash writes what the schema of Digest asks for.
  return hash.digest("hex") as Digest;
}

/**
 * SHA-256 of the canonical JSON text of `value`.
 * @throws {Fault} `invalidInput` as {@link canonicalJson}.
 */
export function digestOf(value: Json): Digest {
  return sha256Hex(canonicalJson(value));
}
