/** How much of a rate was used lately. Pure: it is told the time. @module */

/** A token bucket that holds one minute's worth. Times are milliseconds since 1970. */
export interface RateBucket {
  /** Most a minute from now on; undefined: as much as anyone likes. */
  setRate(perMinute: number | undefined, now: number): void;
  rate(): number | undefined;
  /**
   * Milliseconds until `need` fits, 0 when it does. What is larger than the whole bucket fits when
   * nothing else was used: it then counts whole, and the next one waits the longer.
   */
  wait(need: number, now: number): number;
  /** Counts `amount`; a negative one gives back what was counted too much. */
  count(amount: number, now: number): void;
}

const MINUTE = 60_000;

/** Makes a bucket of which nothing was used. */
export function makeRateBucket(): RateBucket {
  let perMinute: number | undefined;
  // What was used drains at the last rate that was named, also while nobody names one.
  let draining = 0;
  let used = 0;
  let at = 0;

  const drain = (now: number): void => {
    // A clock that was set back gives nothing, and goes on from where it is.
    const passed = Math.max(0, now - at);
    at = now;
    used = Math.max(0, used - passed * draining / MINUTE);
  };

  return Object.freeze({
    setRate(rate: number | undefined, now: number): void {
      drain(now);
      perMinute = rate;
      draining = rate ?? draining;
    },
    rate: () => perMinute,
    wait(need: number, now: number): number {
      drain(now);
      if (perMinute === undefined) return 0;
      const over = used - Math.max(0, perMinute - need);
      // Rounding of the drain must not cost another turn of the timer.
      return over <= perMinute * 1e-9 ? 0 : Math.ceil(over * MINUTE / perMinute);
    },
    count(amount: number, now: number): void {
      drain(now);
      // Who has no rate leaves no debt to those who have one.
      if (perMinute !== undefined) used = Math.max(0, used + amount);
    },
  });
}
