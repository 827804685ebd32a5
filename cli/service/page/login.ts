/**
 * Login at the page: one-time codes, sessions, and the key that signs for a person. All are in this
 * process's memory and end with it.
 * @module
 */
import { sha256Hex } from "../../../port/digest.ts";
import { type Delegation, delegationClaim } from "../../../contracts/base/delegation.ts";
import { toJson } from "../../../contracts/base/mod.ts";
import { canonicalJson } from "../../../port/mod.ts";
import type { KernelLink } from "../../../launch/kernel/kernels.ts";
import type { KeyRing } from "../../../config/key/ring.ts";
import { makeKeyFile, openKey, type Signer } from "../../../config/key/person_key_powers.ts";

/** Secrets of 256 random bits that are valid for a while. */
export interface SecretBook {
  /** Makes a secret, base64url. Beyond the maximum, the least recently used one is dropped. */
  make(): { readonly secret: string; readonly expiresAt: number };
  /** Whether a secret is valid; its idle time starts anew. */
  use(secret: string): boolean;
  /** Ends a secret; false if it was not valid. */
  drop(secret: string): boolean;
}

/** Makes a book of secrets that live `lifeMs` milliseconds, and `idleMs` after their last use. */
export function makeSecretBook(
  { now, secret }: { now(): number; secret(): string },
  { lifeMs, idleMs = lifeMs, max }: {
    readonly lifeMs: number;
    readonly idleMs?: number;
    readonly max: number;
  },
): SecretBook {
  /** By digest, so that look-up times reveal nothing; the least recently used first. */
  const known = new Map<string, { readonly expiresAt: number; readonly seenAt: number }>();
  const isOver = ({ expiresAt, seenAt }: { expiresAt: number; seenAt: number }): boolean =>
    expiresAt <= now() || seenAt + idleMs <= now();
  const use = (text: string): boolean => {
    const digest = sha256Hex(text);
    const found = known.get(digest);
    known.delete(digest);
    if (found === undefined || isOver(found)) return false;
    known.set(digest, { ...found, seenAt: now() });
    return true;
  };
  return Object.freeze<SecretBook>({
    make() {
      for (const [digest, each] of known) if (isOver(each)) known.delete(digest);
      for (const oldest of known.keys()) {
        if (known.size < max) break;
        known.delete(oldest);
      }
      const made = { secret: secret(), expiresAt: now() + lifeMs };
      known.set(sha256Hex(made.secret), { expiresAt: made.expiresAt, seenAt: now() });
      return made;
    },
    use,
    drop: (text) => use(text) && known.delete(sha256Hex(text)),
  });
}

/** Milliseconds of a delegation, and the rest of it at which it is renewed. */
const DELEGATED_MS = 24 * 3_600_000;
const RENEW_MS = 3_600_000;

/** The key that signs for a person at the page: the person's own key delegates consent alone. */
export interface PageKey {
  /** The signer, delegated for at least another hour. */
  ready(): Promise<Signer>;
  /** Ends the delegation. */
  close(): Promise<void>;
}

/** Makes a key and delegates to it in the kernel, for a day at a time. */
export async function openPageKey(
  { link, ring, now }: {
    readonly link: Pick<KernelLink, "ask" | "receiptKey">;
    readonly ring: Pick<KeyRing, "provideConsent">;
    now(): number;
  },
): Promise<PageKey> {
  const signer = openKey(makeKeyFile());
  let expiresAt = 0;
  const ready = async (): Promise<Signer> => {
    if (expiresAt - now() > RENEW_MS) return signer;
    const until = now() + DELEGATED_MS;
    const given = delegationOf(ring.provideConsent(), {
      ...{ key: signer.key, expiresAt: until, kernel: link.receiptKey },
    });
    await link.ask("delegate", toJson(given));
    expiresAt = until;
    return signer;
  };
  await ready();
  return Object.freeze<PageKey>({
    ready,
    close: async () => void await link.ask("undelegate", { key: signer.key }),
  });
}

/** Signs that `key` may answer consent in one kernel until `expiresAt` (milliseconds). */
export function delegationOf(
  person: Signer,
  claim: Parameters<typeof delegationClaim>[0],
): Delegation {
  const { key, expiresAt } = claim;
  return { key, expiresAt, signature: person.sign(canonicalJson(delegationClaim(claim))) };
}
