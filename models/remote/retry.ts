/** Retries a request, while no part of an answer was passed on. @module */
import { Fault } from "../../contracts/base/fault.ts";
import type { RemotePowers } from "./endpoint.ts";

const MAX_TRIES = 3;
/** Milliseconds before the second try, without jitter; the third waits twice as long. */
const FIRST_WAIT = 500;
/** Milliseconds between two tries while a server loads its model, and in total. */
const LOADING_WAIT = 2_000;
const LOADING_MS = 600_000;
/** A longer wait asked for by the provider ends the retries. Milliseconds. */
const MAX_WAIT = 30_000;

/** Fault detail: the request may be repeated, after `afterMs` milliseconds if the provider said so. */
export function again(afterMs?: number): { again: true; afterMs?: number } {
  return afterMs === undefined ? { again: true } : { again: true, afterMs };
}

/**
 * At most 3 tries with exponential backoff and jitter; while a server loads its model, as many as fit in {@link
 * LOADING_MS}. Rejects with the last fault, and with `cancelled` when `signal` aborts a wait. The fault of an answer
 * that broke off after its first chunk (`broke`) is thrown after a wait: the caller makes the next try.
 */
export async function retrying<T>(
  attempt: () => Promise<T>,
  { timer, random, signal }: Pick<RemotePowers, "timer" | "random"> & { signal: AbortSignal },
): Promise<T> {
  let tries = 0;
  let loaded = 0;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      const detail = error instanceof Fault ? error.detail : undefined;
      const broke = detail?.["broke"] === true;
      const loading = detail?.["loading"] === true && loaded < LOADING_MS;
      if (!loading) tries += 1;
      if (!broke && (detail?.["again"] !== true || tries === MAX_TRIES)) throw error;
      const asked = detail?.["afterMs"];
      if (typeof asked === "number" && asked > MAX_WAIT) throw error;
      const backoff = loading ? LOADING_WAIT : FIRST_WAIT * 2 ** (tries - 1) * (0.5 + random());
      const wait = Math.max(backoff, typeof asked === "number" ? asked : 0);
      if (loading) loaded += wait;
      await timer.wait(wait, signal);
      if (broke) throw error;
    }
  }
}

/** Milliseconds of a Retry-After in seconds. {@link inSeconds} converts dates before. */
export function retryAfter(headers: ReadonlyMap<string, string>): number | undefined {
  const exact = Number(headers.get("retry-after-ms") ?? "");
  if (Number.isFinite(exact) && exact > 0) return Math.ceil(exact);
  const seconds = headers.get("retry-after")?.trim() ?? "";
  return /^\d{1,7}(\.\d{1,6})?$/.test(seconds) ? Math.ceil(Number(seconds) * 1_000) : undefined;
}

/** An HTTP date, also in its obsolete form. RFC 9110, 5.6.7; `asctime` dates have no time zone and are not accepted. */
const HTTP_DATE = /^[A-Z][a-z]+, \d{2}[ -][A-Z][a-z]{2}[ -]\d{2,4} \d{2}:\d{2}:\d{2} GMT$/;
/** The largest number that {@link retryAfter} reads. */
const MAX_SECONDS = 9_999_999;

/**
 * Converts a Retry-After date to seconds: by the provider's clock (its Date header), else by ours, `date`
 * (milliseconds since 1970). A recording keeps the seconds, so that a replay waits as long.
 */
export function inSeconds(
  headers: ReadonlyMap<string, string>,
  date: () => number,
): ReadonlyMap<string, string> {
  const until = dateOf(headers.get("retry-after"));
  if (until === undefined) return headers;
  const left = Math.ceil((until - (dateOf(headers.get("date")) ?? date())) / 1_000);
  const seconds = Math.max(0, Math.min(left, MAX_SECONDS));
  return new Map([...headers, ["retry-after", String(seconds)]]);
}

function dateOf(text: string | undefined): number | undefined {
  const said = text?.trim() ?? "";
  const at = HTTP_DATE.test(said) ? Date.parse(said) : NaN;
  return Number.isNaN(at) ? undefined : at;
}
