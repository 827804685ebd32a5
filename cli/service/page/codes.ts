/** One-time codes with which a person logs in at the page. In memory: a restart makes them void. @module */
import { sha256Hex } from "../../../port/digest.ts";

/** How long a code is good, milliseconds. */
const CODE_MS = 5 * 60_000;
const MOST = 8;

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
        if (codes.size < MOST) break;
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
