/** Sessions of people at the page: 256 bits that nobody guesses, for half a day, or an hour of silence. @module */
import { Fault } from "../../../contracts/mod.ts";
import { sha256Hex } from "../../../port/digest.ts";

/** How long a session lives, milliseconds. */
const SESSION_MS = 12 * 3_600_000;
/** How long it lives while nothing is asked, milliseconds. */
const IDLE_MS = 3_600_000;
const MOST = 32;

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
        if (sessions.size < MOST) break;
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
