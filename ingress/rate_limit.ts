/** How often somebody may ask: a bucket that fills with time. Bounded in how many it knows. @module */

/** Counts requests of many. */
export interface Rates {
  /** Takes one; false when there is none left. `most` a minute, where this one has a measure of its own. */
  take(who: string, most?: number): boolean;
}

const MOST_KNOWN = 10_000;
const MINUTE_MS = 60_000;

/** Makes buckets of `perMinute` each. `now` is milliseconds. */
export function makeRates(perMinute: number, now: () => number): Rates {
  const buckets = new Map<string, { left: number; at: number }>();
  const filled = ({ left, at }: { left: number; at: number }, most: number): number =>
    Math.min(most, left + (now() - at) * most / MINUTE_MS);
  return Object.freeze<Rates>({
    take(who, most = perMinute): boolean {
      const known = buckets.get(who);
      const left = known === undefined ? most : filled(known, most);
      // The least recently seen stands first.
      buckets.delete(who);
      if (buckets.size >= MOST_KNOWN) {
        for (const oldest of buckets.keys()) {
          buckets.delete(oldest);
          break;
        }
      }
      buckets.set(who, { left: left < 1 ? left : left - 1, at: now() });
      return left >= 1;
    },
  });
}
