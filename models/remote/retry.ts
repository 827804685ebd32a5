/** Trying again where it is safe: nothing of an answer was given on yet. @module */
import { Fault } from "../../contracts/base/fault.ts";
import type { RemotePowers } from "./endpoint.ts";

/** Tries in all. */
const TRIES = 3;
/** Milliseconds before the second try, without its jitter; the third waits twice as long. */
const FIRST_WAIT = 500;
/** Milliseconds between two tries while an engine loads its model, and of all of them. */
const LOADING_WAIT = 2_000;
const LOADING_MS = 600_000;
/** A provider that asks for more milliseconds than this is not waited for. */
const LONGEST_WAIT = 30_000;

/** Marks a fault as one after which a request may be sent again, after `afterMs` if the provider said so. */
export function again(afterMs?: number): { again: true; afterMs?: number } {
  return afterMs === undefined ? { again: true } : { again: true, afterMs };
}

/**
 * At most 3 tries, with waits that double and half of each at random; while an engine loads its model as many as it takes
 * within {@link LOADING_MS}. Rejects with the last fault, and with `cancelled` when `signal` aborts a wait. One whose
 * answer broke after its first words (`broke`) is given back after a wait: the next try is that of who asked.
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
      if (!broke && (detail?.["again"] !== true || tries === TRIES)) throw error;
      const asked = detail?.["afterMs"];
      if (typeof asked === "number" && asked > LONGEST_WAIT) throw error;
      const backoff = loading ? LOADING_WAIT : FIRST_WAIT * 2 ** (tries - 1) * (0.5 + random());
      const wait = Math.max(backoff, typeof asked === "number" ? asked : 0);
      if (loading) loaded += wait;
      await timer.wait(wait, signal);
      if (broke) throw error;
    }
  }
}

/** Milliseconds of a Retry-After in seconds: {@link inSeconds} makes these of a date. */
export function retryAfter(headers: ReadonlyMap<string, string>): number | undefined {
  const exact = Number(headers.get("retry-after-ms") ?? "");
  if (Number.isFinite(exact) && exact > 0) return Math.ceil(exact);
  const seconds = headers.get("retry-after")?.trim() ?? "";
  return /^\d{1,7}(\.\d{1,6})?$/.test(seconds) ? Math.ceil(Number(seconds) * 1_000) : undefined;
}

/** A date as HTTP writes it, its older form too. RFC 9110, 5.6.7; C's `asctime` names no zone. */
const HTTP_DATE = /^[A-Z][a-z]+, \d{2}[ -][A-Z][a-z]{2}[ -]\d{2,4} \d{2}:\d{2}:\d{2} GMT$/;
/** Most seconds that {@link retryAfter} reads. */
const MAX_SECONDS = 9_999_999;

/**
 * The headers of an answer with a Retry-After that is a date turned into seconds: by the provider's
 * own clock where it tells it, else by ours, `date` (milliseconds since 1970). A recording keeps the
 * seconds, so that its replay does as was done.
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
