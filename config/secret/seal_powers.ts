/** Seals secrets with AES-256-GCM, bound to their destination. Used by keep.ts. @module */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { Fault } from "../../contracts/base/mod.ts";
import type { Secret } from "../../contracts/wire/mod.ts";
import { canonicalJson } from "../../port/mod.ts";
import { isMcpSecretPlace, parseMcpSecretValue } from "./mcp_place.ts";
import { parseSecretValue, type SealedSecret, type SecretPlace } from "./rules.ts";

const b64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64url");
const unb64 = (text: string): Buffer => Buffer.from(text, "base64url");

// The destination is authenticated with the value: an edited origin makes the value unreadable.
const bound = (place: SecretPlace): Buffer =>
  Buffer.from(`remit secret\n${
    canonicalJson({
      name: place.name,
      origin: place.origin,
      header: place.header,
      prefix: place.prefix,
    })
  }`);

/** A fresh key in the form of a key file: 32 random bytes, base64url. */
export function makeSecretKey(): string {
  return b64(randomBytes(32));
}

/** Parses a key file's text. Throws `invalidInput`. */
export function parseSecretKey(text: string): Uint8Array {
  const key = text.trimEnd();
  if (!/^[A-Za-z0-9_-]{43}$/.test(key)) {
    throw new Fault("invalidInput", "Cannot read the key of the secrets: the file is damaged");
  }
  return unb64(key);
}

/** Seals one secret under a fresh nonce. */
export function sealSecret(key: Uint8Array, secret: Secret): SealedSecret {
  const { name, origin, header, prefix } = secret;
  const nonce = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", key, nonce);
  cipher.setAAD(bound(secret));
  const sealed = Buffer.concat([cipher.update(secret.value, "utf8"), cipher.final()]);
  return {
    name,
    origin,
    header,
    prefix,
    nonce: b64(nonce),
    tag: b64(cipher.getAuthTag()),
    sealed: b64(sealed),
  };
}

/** Opens one secret. Throws `invalidInput` for a wrong key or an entry that was changed. */
export function openSecret(key: Uint8Array, entry: SealedSecret): Secret {
  const { name, origin, header, prefix } = entry;
  try {
    const cipher = createDecipheriv("aes-256-gcm", key, unb64(entry.nonce), { authTagLength: 16 });
    cipher.setAAD(bound(entry));
    cipher.setAuthTag(unb64(entry.tag));
    const opened = Buffer.concat([cipher.update(unb64(entry.sealed)), cipher.final()]);
    const value = opened.toString("utf8");
    const parse = isMcpSecretPlace(entry) ? parseMcpSecretValue : parseSecretValue;
    return { name, origin, header, prefix, value: parse(value) };
  } catch (cause) {
    throw new Fault(
      "invalidInput",
      `Cannot open secret "${name}": its entry was changed, or the key is another; ` +
        `give it again with "remit ${
          isMcpSecretPlace(entry) ? "mcp grant --help" : `secret set ${name}`
        }"`,
      { cause },
    );
  }
}
