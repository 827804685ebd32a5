/** Trying again where it is safe: nothing of an answer was given on yet. @module */
import { Fault } from "../../contracts/fault.ts";
import type { RemotePowers } from "./powers.ts";

/** Tries in all. */
const TRIES = 3;
/** Milliseconds before the second try, without its jitter; the third waits twice as long. */
const FIRST_WAIT = 500;
/** A provider that asks for more milliseconds than this is not waited for. */
const LONGEST_WAIT = 30_000;

/** Marks a fault as one after which a request may be sent again, after `afterMs` if the provider said so. */
export function again(afterMs?: number): { again: true; afterMs?: number } {
  return afterMs === undefined ? { again: true } : { again: true, afterMs };
}

/**
 * At most 3 tries, with waits that double and half of each at random. Rejects with the last fault, and
 * with `cancelled` when `signal` aborts a wait.
 */
export async function retrying<T>(
  attempt: () => Promise<T>,
  { timer, random, signal }: Pick<RemotePowers, "timer" | "random"> & { signal: AbortSignal },
): Promise<T> {
  for (let tries = 1;; tries++) {
    try {
      return await attempt();
    } catch (error) {
      const detail = error instanceof Fault ? error.detail : undefined;
      if (detail?.["again"] !== true || tries === TRIES) throw error;
      const asked = detail["afterMs"];
      if (typeof asked === "number" && asked > LONGEST_WAIT) throw error;
      const backoff = FIRST_WAIT * 2 ** (tries - 1) * (0.5 + random());
      await timer.wait(Math.max(backoff, typeof asked === "number" ? asked : 0), signal);
    }
  }
}

/** Milliseconds of a Retry-After: seconds only, since a date needs the provider's clock. */
export function retryAfter(headers: ReadonlyMap<string, string>): number | undefined {
  const exact = Number(headers.get("retry-after-ms") ?? "");
  if (Number.isFinite(exact) && exact > 0) return Math.ceil(exact);
  const seconds = headers.get("retry-after")?.trim() ?? "";
  return /^\d{1,7}(\.\d{1,6})?$/.test(seconds) ? Math.ceil(Number(seconds) * 1_000) : undefined;
}
