/**
 * Who was let in is known for some seconds, so that a request of a peer is one round trip less. It counts for rates and
 * for what is refused early: what is done is asked with the credential itself, so one that was revoked does nothing.
 * @module
 */

/** Milliseconds. */
const KNOWN_MS = 5_000;
const MOST_KNOWN = 1_000;

/** Makes `admit` remember what it answered; a refusal is never remembered. `now` is milliseconds. */
export function rememberAdmitted<T>(
  admit: (token: string) => Promise<T>,
  now: () => number,
): (token: string) => Promise<T> {
  const known = new Map<string, { readonly holder: T; readonly until: number }>();
  return async (token) => {
    const found = known.get(token);
    if (found !== undefined && now() < found.until) return found.holder;
    known.delete(token);
    const holder = await admit(token);
    // The oldest stands first.
    for (const oldest of known.keys()) {
      if (known.size < MOST_KNOWN) break;
      known.delete(oldest);
    }
    known.set(token, { holder, until: now() + KNOWN_MS });
    return holder;
  };
}
