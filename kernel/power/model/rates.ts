/**
 * Rates of model providers, shared by all tasks: requests wait in order of arrival, and a
 * provider's request to slow down applies to everyone.
 * @module
 */
import { Fault } from "../../../contracts/base/fault.ts";
import type { FaultCode } from "../../../contracts/base/mod.ts";
import type { Rates } from "../../../contracts/model/mod.ts";
import type { Powers } from "../../../contracts/task/mod.ts";

/** Options of a wait. */
interface EnterOptions {
  readonly signal: AbortSignal;
  /** Refuse with `rateLimited` instead of waiting. */
  readonly noWait: boolean;
  /** Called once before a wait, with about how many milliseconds. */
  readonly onWait?: (ms: number) => void;
}

/** A request that may be sent. */
export interface Entered {
  /** Corrects the estimate by the tokens that were really used. Only its first call counts. */
  settle(tokens: number): void;
  /** Called after a failure: the estimate stays, and a provider's Retry-After delays later requests. */
  failed(error: unknown): void;
}

/** The rates of all providers. */
export interface ModelRates {
  /**
   * Waits until a request of about `need.tokens` fits the rates of the provider `key` (its host).
   * Where waiting requests name several rates for one key, the lowest apply.
   *
   * @throws Fault `cancelled`; `rateLimited` with `noWait`, its detail `retryAfterMs`
   */
  enter(
    key: string,
    rates: Rates,
    need: { readonly tokens: number },
    options: EnterOptions,
  ): Promise<Entered>;
}

/** Milliseconds for which one answer of a provider may delay requests. */
const MAX_PAUSE = 10 * 60_000;

interface Waiting {
  readonly tokens: number;
  readonly rates: Rates;
  go(): void;
}

interface Line {
  readonly requests: RateBucket;
  readonly tokens: RateBucket;
  readonly queue: Waiting[];
  pause: { readonly until: number; readonly ms: number };
  disarm(): void;
}

/** Makes the rates, without any use yet. */
export function makeModelRates(powers: Pick<Powers, "now" | "after">): ModelRates {
  const lines = new Map<string, Line>();

  const lineOf = (key: string): Line => {
    const line = lines.get(key) ?? {
      requests: makeRateBucket(),
      tokens: makeRateBucket(),
      queue: [],
      pause: { until: 0, ms: 0 },
      disarm: () => undefined,
    };
    lines.set(key, line);
    return line;
  };

  const pauseOf = ({ pause }: Line): number =>
    Math.max(0, Math.min(pause.until - powers.now(), pause.ms));

  const waitOf = (line: Line, requests: number, tokens: number): Wait => {
    const now = powers.now();
    return longestWait([
      { ms: pauseOf(line), why: "pause" },
      { ms: line.requests.wait(requests, now), why: "requests" },
      { ms: line.tokens.wait(tokens, now), why: "tokens" },
    ]);
  };

  const take = (line: Line, tokens: number): void => {
    line.requests.count(1, powers.now());
    line.tokens.count(tokens, powers.now());
  };

  const setRates = (line: Line, rates: readonly Rates[]): void => {
    line.requests.setRate(lowest(rates.map((each) => each.requestsPerMinute)), powers.now());
    line.tokens.setRate(lowest(rates.map((each) => each.tokensPerMinute)), powers.now());
  };

  const serve = (line: Line): void => {
    line.disarm();
    line.disarm = () => undefined;
    for (let first = line.queue[0]; first !== undefined; first = line.queue[0]) {
      setRates(line, line.queue.map(({ rates }) => rates));
      const { ms } = waitOf(line, 1, first.tokens);
      if (ms > 0) {
        line.disarm = powers.after(ms, () => serve(line));
        return;
      }
      line.queue.shift();
      take(line, first.tokens);
      first.go();
    }
  };

  const entered = (line: Line, estimate: number): Entered => {
    let open = true;
    return Object.freeze({
      settle(tokens: number): void {
        if (!open) return;
        open = false;
        line.tokens.count(tokens - estimate, powers.now());
        serve(line);
      },
      failed(error: unknown): void {
        open = false;
        const ms = Math.min(retryAfter(error), MAX_PAUSE);
        if (ms > pauseOf(line)) line.pause = { until: powers.now() + ms, ms };
        serve(line);
      },
    });
  };

  const queue = (line: Line, waiting: Omit<Waiting, "go">, signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const leave = (): void => {
        line.queue.splice(line.queue.indexOf(place), 1);
        reject(new Fault("cancelled", "Cannot infer: cancelled while it waited for its rate"));
        serve(line);
      };
      const place: Waiting = {
        ...waiting,
        go(): void {
          signal.removeEventListener("abort", leave);
          resolve();
        },
      };
      signal.addEventListener("abort", leave, { once: true });
      line.queue.push(place);
      serve(line);
    });

  return Object.freeze({
    async enter(
      key: string,
      rates: Rates,
      { tokens }: { readonly tokens: number },
      { signal, noWait, onWait }: EnterOptions,
    ): Promise<Entered> {
      if (signal.aborted) throw new Fault("cancelled", "Cannot infer: cancelled");
      const line = lineOf(key);
      serve(line);
      setRates(line, [...line.queue.map((each) => each.rates), rates]);
      const [first] = line.queue;
      const ahead = line.queue.reduce((sum, each) => sum + each.tokens, 0);
      const wait = longestWait([
        waitOf(line, line.queue.length + 1, ahead + tokens),
        waitOf(line, 1, first?.tokens ?? tokens),
      ]);
      if (first === undefined && wait.ms === 0) {
        take(line, tokens);
        return entered(line, tokens);
      }
      if (noWait) throw refused(key, line, wait);
      onWait?.(wait.ms);
      await queue(line, { tokens, rates }, signal);
      return entered(line, tokens);
    },
  });
}

interface Wait {
  readonly ms: number;
  readonly why: "pause" | "requests" | "tokens";
}

function longestWait(waits: readonly [Wait, ...Wait[]]): Wait {
  return waits.reduce((found, wait) => wait.ms > found.ms ? wait : found);
}

function lowest(rates: readonly (number | undefined)[]): number | undefined {
  const named = rates.filter((rate) => rate !== undefined);
  return named.length === 0 ? undefined : Math.min(...named);
}

function refused(host: string, line: Line, { ms, why }: Wait): Fault {
  const reason = why === "pause"
    ? `${host} asked to wait ${Math.ceil(ms / 1_000)} s`
    : `it would exceed ${line[why].rate()} ${why} a minute to ${host}`;
  return new Fault("rateLimited", `Cannot infer: ${reason}; without --no-wait it waits`, {
    detail: { retryAfterMs: ms },
  });
}

/**
 * Milliseconds that a provider asked to wait (429, or 5xx with Retry-After); 0 where it did not.
 * TRUST: the provider's number, bounded by {@link MAX_PAUSE}.
 */
export function retryAfter(error: unknown): number {
  if (!(error instanceof Fault) || !BUSY.has(error.code)) return 0;
  const ms = error.detail?.["retryAfterMs"] ?? error.detail?.["afterMs"];
  return typeof ms === "number" && ms > 0 ? ms : 0;
}

const BUSY: ReadonlySet<FaultCode> = new Set<FaultCode>(["rateLimited", "upstream"]);

/** A token bucket that holds one minute's worth. Times are milliseconds since 1970. */
interface RateBucket {
  /** Sets the limit a minute; undefined: unlimited. */
  setRate(perMinute: number | undefined, now: number): void;
  rate(): number | undefined;
  /**
   * Milliseconds until `need` fits, 0 where it does. An amount above the whole bucket fits when
   * nothing else was used; it counts whole, and the next one waits longer.
   */
  wait(need: number, now: number): number;
  /** Counts `amount`; a negative amount corrects an overcount. */
  count(amount: number, now: number): void;
}

const MINUTE = 60_000;

/** Makes an unused bucket. */
function makeRateBucket(): RateBucket {
  let perMinute: number | undefined;
  // Usage drains at the last known rate, also while no rate is set.
  let draining = 0;
  let used = 0;
  let at = 0;

  const drain = (now: number): void => {
    // A clock that was set back gives no time, and continues from its new value.
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
      // Rounding must not cost another timer.
      return over <= perMinute * 1e-9 ? 0 : Math.ceil(over * MINUTE / perMinute);
    },
    count(amount: number, now: number): void {
      drain(now);
      // Requests without a rate leave no debt for later ones with a rate.
      if (perMinute !== undefined) used = Math.max(0, used + amount);
    },
  });
}
