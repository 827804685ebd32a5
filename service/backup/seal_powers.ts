/** Seals a backup under a passphrase: scrypt, then AES-256-GCM in numbered pieces, so that none is cut, moved or added. @module */
import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from "node:crypto";
import { Buffer } from "node:buffer";
import { brokenBackup, type SealedHow } from "./format.ts";

const PIECE = 65_536;
const TAG = 16;
const COST = 17;
const KEY = 32;

/** A fresh way of sealing. */
export function makeSealedHow(): SealedHow {
  return { salt: randomBytes(16).toString("base64url"), cost: COST };
}

/** The key that a passphrase gives. Takes some tenths of a second and 128 MB. */
export function backupKey(passphrase: string, { salt, cost }: SealedHow): Uint8Array {
  const N = 2 ** cost;
  const options = { N, r: 8, p: 1, maxmem: 256 * N * 8 };
  return scryptSync(passphrase.normalize("NFC"), Buffer.from(salt, "base64url"), KEY, options);
}

// A fresh salt makes a fresh key: a number is nonce enough. The last piece says that it is the last.
function nonceOf(n: number, last: boolean): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeUInt32BE(Math.floor(n / 2 ** 32), 0);
  nonce.writeUInt32BE(n % 2 ** 32, 4);
  nonce.writeUInt32BE(last ? 1 : 0, 8);
  return nonce;
}

/** Takes bytes, and gives sealed pieces on. */
export interface Sealer {
  write(bytes: Uint8Array): void;
  /** The last piece. */
  end(): void;
}

/** Makes a sealer over what takes bytes. */
export function sealing(key: Uint8Array, give: (bytes: Uint8Array) => void): Sealer {
  let held = Buffer.alloc(0);
  let n = 0;
  const piece = (bytes: Uint8Array, last: boolean): void => {
    const cipher = createCipheriv("aes-256-gcm", key, nonceOf(n++, last));
    give(Buffer.concat([cipher.update(bytes), cipher.final(), cipher.getAuthTag()]));
  };
  return Object.freeze<Sealer>({
    write(bytes): void {
      held = Buffer.concat([held, bytes]);
      let at = 0;
      for (; held.length - at > PIECE; at += PIECE) piece(held.subarray(at, at + PIECE), false);
      held = held.subarray(at);
    },
    end: () => piece(held, true),
  });
}

/** Opens what {@link sealing} sealed: `read` gives the next bytes, undefined at their end. Throws `invalidInput`. */
export function unsealing(
  key: Uint8Array,
  read: () => Uint8Array | undefined,
): () => Uint8Array | undefined {
  let held = Buffer.alloc(0);
  let n = 0;
  let over = false;
  let dry = false;
  return () => {
    if (over) return undefined;
    // One byte more than a piece: so the last one is known.
    while (!dry && held.length <= PIECE + TAG) {
      const more = read();
      if (more === undefined) dry = true;
      else held = Buffer.concat([held, more]);
    }
    const last = dry && held.length <= PIECE + TAG;
    const sealed = held.subarray(0, Math.min(held.length, PIECE + TAG));
    held = held.subarray(sealed.length);
    over = last;
    if (sealed.length < TAG) throw brokenBackup("it is cut off");
    try {
      const cipher = createDecipheriv("aes-256-gcm", key, nonceOf(n++, last), {
        authTagLength: TAG,
      });
      cipher.setAuthTag(sealed.subarray(sealed.length - TAG));
      return Buffer.concat([
        cipher.update(sealed.subarray(0, sealed.length - TAG)),
        cipher.final(),
      ]);
    } catch (cause) {
      throw brokenBackup("the passphrase is another, or it was cut off or changed", cause);
    }
  };
}
