/**
 * The key that signs for a person at the page. It is made here, lies in this process's memory, and answers consent alone:
 * the person's own key says so to the kernel, for a day at a time.
 * @module
 */
import { type Delegation, delegationClaim, toJson } from "../../../contracts/mod.ts";
import { canonicalJson } from "../../../port/mod.ts";
import type { KernelLink } from "../../hands.ts";
import type { KeyRing } from "../../key/ring.ts";
import { makeKeyFile, openKey, type Signer } from "../../key/person_key_powers.ts";

/** How long one delegation is good, milliseconds. */
const DELEGATED_MS = 24 * 3_600_000;
/** It is made again when less than this is left, milliseconds. */
const RENEW_MS = 3_600_000;

/** A key that the kernel knows. */
export interface PageKey {
  /** The signer, delegated for an hour at least. */
  ready(): Promise<Signer>;
  /** Takes it back. */
  close(): Promise<void>;
}

/** Makes one and delegates it. Rejects with what the kernel refuses. */
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

/** Signs that `key` may answer consent until `expiresAt`, milliseconds since 1970, in one kernel. */
export function delegationOf(
  person: Signer,
  claim: Parameters<typeof delegationClaim>[0],
): Delegation {
  const { key, expiresAt } = claim;
  return { key, expiresAt, signature: person.sign(canonicalJson(delegationClaim(claim))) };
}
