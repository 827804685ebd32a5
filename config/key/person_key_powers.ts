/** The person's keys: one for consent, and one behind a passphrase for the gravest decisions. @module */
import {
  createCipheriv,
  createDecipheriv,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  scryptSync,
  sign,
} from "node:crypto";
import * as z from "zod";
import { Fault } from "../../contracts/base/mod.ts";

/** Signs answers; keeps its private key to itself. */
export interface Signer {
  /** Raw Ed25519 public key, base64url. */
  readonly key: string;
  /** Ed25519 signature, base64url. */
  sign(text: string): string;
}

const MIN_PASSPHRASE = 8;
const SCRYPT = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 2 ** 20 };

const KeyFile = z.object({
  version: z.literal(1),
  kind: z.literal("ed25519"),
  public: z.string().length(43),
  /** PKCS#8, base64url; encrypted when `seal` is present. */
  private: z.string().min(1).max(1_024),
  seal: z.object({
    salt: z.string().max(64),
    nonce: z.string().max(64),
    tag: z.string().max(64),
  }).strict().optional(),
}).strict();
/** The content of a key file. */
export type KeyFile = z.infer<typeof KeyFile>;

const b64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64url");
const unb64 = (text: string): Buffer => Buffer.from(text, "base64url");

function rawPublic(key: KeyObject): string {
  const { x } = createPublicKey(key).export({ format: "jwk" });
  if (typeof x !== "string") throw new TypeError("Cannot export key: no x");
  return x;
}

function sealKey(passphrase: string, salt: Uint8Array): Buffer {
  return scryptSync(passphrase.normalize("NFC"), salt, 32, SCRYPT);
}

/** Makes a key file. With a passphrase the private key is sealed: scrypt and AES-256-GCM. */
export function makeKeyFile(passphrase?: string): KeyFile {
  const { privateKey } = generateKeyPairSync("ed25519");
  const secret = privateKey.export({ format: "der", type: "pkcs8" });
  const shared = { version: 1, kind: "ed25519", public: rawPublic(privateKey) } as const;
  if (passphrase === undefined) return { ...shared, private: b64(secret) };
  if ([...passphrase].length < MIN_PASSPHRASE) {
    throw new Fault(
      "invalidInput",
      `Cannot make key: a passphrase has at least ${MIN_PASSPHRASE} characters`,
    );
  }
  const salt = randomBytes(16);
  const nonce = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", sealKey(passphrase, salt), nonce);
  cipher.setAAD(Buffer.from(shared.public));
  const sealed = Buffer.concat([cipher.update(secret), cipher.final()]);
  return {
    ...shared,
    private: b64(sealed),
    seal: { salt: b64(salt), nonce: b64(nonce), tag: b64(cipher.getAuthTag()) },
  };
}

/** Parses a key file. Throws `invalidInput`. */
export function parseKeyFile(text: string): KeyFile {
  try {
    return KeyFile.parse(JSON.parse(text));
  } catch (cause) {
    throw new Fault("invalidInput", "Cannot read key: the file is damaged", { cause });
  }
}

/**
 * Opens a key for signing.
 *
 * @throws Fault `stepUpFailed` for a wrong passphrase; `invalidInput` for a damaged file.
 */
export function openKey(file: KeyFile, passphrase?: string): Signer {
  let secret: Uint8Array = unb64(file.private);
  if (file.seal !== undefined) {
    try {
      const key = sealKey(passphrase ?? "", unb64(file.seal.salt));
      const cipher = createDecipheriv("aes-256-gcm", key, unb64(file.seal.nonce));
      cipher.setAAD(Buffer.from(file.public));
      cipher.setAuthTag(unb64(file.seal.tag));
      secret = Buffer.concat([cipher.update(secret), cipher.final()]);
    } catch (cause) {
      throw new Fault("stepUpFailed", "Cannot open key: the passphrase is wrong", { cause });
    }
  }
  let key: KeyObject;
  try {
    key = createPrivateKey({ key: Buffer.from(secret), format: "der", type: "pkcs8" });
  } catch (cause) {
    throw new Fault("invalidInput", "Cannot read key: the file is damaged", { cause });
  }
  if (rawPublic(key) !== file.public) {
    throw new Fault("invalidInput", "Cannot read key: its halves do not belong together");
  }
  return Object.freeze({
    key: file.public,
    sign: (text: string) => b64(sign(null, Buffer.from(text), key)),
  });
}
