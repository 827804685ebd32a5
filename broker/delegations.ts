/**
 * Keys that answer for the person: consent alone, for a while, in this kernel's memory. The page of `remit serve` signs
 * with one. contracts/wire_control.ts.
 *
 * Tasks that peers, webhooks and hosts started may be answered with it: it is the operator's, made by the operator's own
 * program and given to none of them. Whoever asked for an action has no such key, so nobody answers their own question.
 * @module
 */
import { type KeyObject, verify } from "node:crypto";
import { type Delegation, delegationClaim, Fault } from "../contracts/mod.ts";
import { canonicalJson } from "../port/mod.ts";
import { publicKey, signatureBytes } from "./public_key.ts";

/** The longest life of a delegated key, milliseconds. */
const DELEGATION_MS = 7 * 24 * 60 * 60_000;
/** Delegated keys that live at once. */
const MOST = 16;

/** What delegations are checked with. */
export interface DelegationParts {
  /** The person's consent key: raw Ed25519 public key, base64url. */
  readonly personKey: string;
  readonly stepUpKey?: string | undefined;
  /** This kernel's receipt key, which names its state. Without one nothing is delegated. */
  readonly kernelKey?: string | undefined;
  now(): number;
}

/** A key that lives. */
export interface DelegatedKey {
  readonly key: KeyObject;
  /** Whose word it is: raw public key, base64url. */
  readonly by: string;
}

/** The delegated keys of one kernel. */
export interface Delegations {
  /** @throws {Fault} `refused` for a signature that does not fit or a life that is over or too long; `rateLimited`. */
  delegate(given: Delegation): void;
  undelegate(key: string): void;
  /** Undefined for a key that nobody delegated, or whose time is over. */
  tryKey(key: string): DelegatedKey | undefined;
}

/** Makes the delegations. They end with the kernel. */
export function makeDelegations(parts: DelegationParts): Delegations {
  const { personKey, stepUpKey, kernelKey, now } = parts;
  const keys = new Map<string, { readonly key: KeyObject; readonly expiresAt: number }>();
  const prune = (): void => {
    for (const [raw, { expiresAt }] of keys) if (expiresAt <= now()) keys.delete(raw);
  };
  return Object.freeze<Delegations>({
    delegate({ key: raw, expiresAt, signature }): void {
      if (kernelKey === undefined) throw no("this kernel takes none");
      if (raw === personKey || raw === stepUpKey) throw no("it is a key of the person");
      const claim = canonicalJson(delegationClaim({ key: raw, expiresAt, kernel: kernelKey }));
      const said = new TextEncoder().encode(claim);
      if (!verify(null, said, publicKey(personKey), signatureBytes(signature))) {
        throw no("its signature is not the person's, over this key, this time and this kernel");
      }
      if (expiresAt <= now()) throw no("its time is over");
      if (expiresAt > now() + DELEGATION_MS) throw no("it would live for more than seven days");
      prune();
      if (!keys.has(raw) && keys.size >= MOST) {
        throw new Fault("rateLimited", `Cannot delegate a key: ${MOST} live`);
      }
      keys.set(raw, { key: publicKey(raw), expiresAt });
    },
    undelegate: (raw) => void keys.delete(raw),
    tryKey(raw): DelegatedKey | undefined {
      const found = keys.get(raw);
      if (found === undefined || found.expiresAt <= now()) return undefined;
      return { key: found.key, by: personKey };
    },
  });
}

function no(why: string): Fault {
  return new Fault("refused", `Cannot delegate a key: ${why}`);
}
