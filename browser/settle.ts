/**
 * Waits until a page settles: loaded, no request pending, nothing happening for a while. Used by
 * session.ts and timers_powers.ts.
 * @module
 */
import type { Cdp } from "./events.ts";

/** Timers of the browser process. */
export interface Timers {
  /** Resolves after `ms` milliseconds. */
  pause(ms: number): Promise<void>;
  /** Milliseconds of a monotonic clock. */
  now(): number;
}

/** Knows whether the page has settled. */
export interface Settling {
  /** Resolves with true once settled, or with false when the page took too long and was stopped. */
  settled(): Promise<boolean>;
}

const STEP_MS = 25;
const QUIET_MS = 150;
const MAX_MS = 15_000;

/** Watches the page. `pending` counts requests that wait for an answer. */
export async function makeSettling(
  cdp: Cdp,
  { pending, timers }: { readonly pending: () => number; readonly timers: Timers },
): Promise<Settling> {
  let loading = false;
  cdp.on("Page.frameStartedNavigating", ({ navigationType }) => {
    if (navigationType !== "sameDocument") loading = true;
  });
  cdp.on("Page.frameStartedLoading", () => void (loading = true));
  cdp.on("Page.frameStoppedLoading", () => void (loading = false));
  await cdp.send("Page.enable");
  return Object.freeze({
    async settled(): Promise<boolean> {
      const begun = timers.now();
      let quietSince = begun;
      for (;;) {
        const now = timers.now();
        if (loading || pending() > 0) quietSince = now;
        if (now - quietSince >= QUIET_MS) return true;
        if (now - begun >= MAX_MS) {
          loading = false;
          await cdp.send("Page.stopLoading");
          return false;
        }
        await timers.pause(STEP_MS);
      }
    },
  });
}
