/**
 * How a person is known at the page: one-time codes, sessions, and the key that signs for them. All of it lies in this
 * process's memory: a restart makes it void.
 * @module
 */
import { sha256Hex } from "../../../port/digest.ts";
import { type Delegation, delegationClaim, Fault, toJson } from "../../../contracts/mod.ts";
import { canonicalJson } from "../../../port/mod.ts";
import type { KernelLink } from "../../hands.ts";
import type { KeyRing } from "../../key/ring.ts";
import { makeKeyFile, openKey, type Signer } from "../../key/person_key_powers.ts";

// One-time codes with which a person logs in at the page. In memory: a restart makes them void.

/** How long a code is good, milliseconds. */
const CODE_MS = 5 * 60_000;
const MAX_CODES = 8;

/** The codes of one service. */
export interface PageCodes {
  /** Makes one. The oldest of those that nobody used gives way when there are too many. */
  make(): string;
  /** Uses one up; false for one that is not, or no more, good. */
  take(code: string): boolean;
}

/** Makes the book of codes. `secret` is 256 bits of chance, base64url. */
export function makePageCodes(
  { now, secret }: { now(): number; secret(): string },
): PageCodes {
  /** By digest, so that how long a look takes says nothing of a code. */
  const codes = new Map<string, number>();
  const prune = (): void => {
    for (const [digest, until] of codes) if (until <= now()) codes.delete(digest);
  };
  return Object.freeze<PageCodes>({
    make(): string {
      prune();
      for (const oldest of codes.keys()) {
        if (codes.size < MAX_CODES) break;
        codes.delete(oldest);
      }
      const code = secret();
      codes.set(sha256Hex(code), now() + CODE_MS);
      return code;
    },
    take(code): boolean {
      prune();
      return codes.delete(sha256Hex(code));
    },
  });
}

// Sessions of people at the page: 256 bits that nobody guesses, for half a day, or an hour of silence.

/** How long a session lives, milliseconds. */
const SESSION_MS = 12 * 3_600_000;
/** How long it lives while nothing is asked, milliseconds. */
const IDLE_MS = 3_600_000;
const MAX_SESSIONS = 32;

/** The sessions of one service. */
export interface PageSessions {
  open(): { readonly session: string; readonly expiresAt: number };
  /** Throws `denied` for what is no session, or none any more. */
  need(session: string): void;
  close(session: string): void;
}

/** Makes the book of sessions. `secret` is 256 bits of chance, base64url. */
export function makePageSessions(
  { now, secret }: { now(): number; secret(): string },
): PageSessions {
  /** By digest, the least recently used first. */
  const sessions = new Map<string, { readonly expiresAt: number; readonly seenAt: number }>();
  const isOver = ({ expiresAt, seenAt }: { expiresAt: number; seenAt: number }): boolean =>
    expiresAt <= now() || seenAt + IDLE_MS <= now();
  return Object.freeze<PageSessions>({
    open() {
      for (const [digest, each] of sessions) if (isOver(each)) sessions.delete(digest);
      for (const oldest of sessions.keys()) {
        if (sessions.size < MAX_SESSIONS) break;
        sessions.delete(oldest);
      }
      const session = secret();
      const expiresAt = now() + SESSION_MS;
      sessions.set(sha256Hex(session), { expiresAt, seenAt: now() });
      return { session, expiresAt };
    },
    need(session): void {
      const digest = sha256Hex(session);
      const found = sessions.get(digest);
      sessions.delete(digest);
      if (found === undefined || isOver(found)) {
        throw new Fault("denied", "Cannot show the page: there is no such session");
      }
      sessions.set(digest, { ...found, seenAt: now() });
    },
    close: (session) => void sessions.delete(sha256Hex(session)),
  });
}

// The key that signs for a person at the page. It is made here, lies in this process's memory, and answers consent alone:
// the person's own key says so to the kernel, for a day at a time.

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
