/** A clock that is never set back while its process runs: what was lent for a minute ends after a minute. @module */

/**
 * Makes a clock of milliseconds since 1970. It follows `wall` where that goes forward (also over a sleep of the machine),
 * and `steady`, which nobody can set, where `wall` stands still or goes back.
 */
export function makeForwardClock(
  { wall, steady }: { wall(): number; steady(): number },
): () => number {
  let last = wall();
  let at = steady();
  return () => {
    const now = steady();
    last = Math.max(wall(), last + Math.max(0, now - at));
    at = now;
    return Math.floor(last);
  };
}
