/**
 * Budgets and rates that several kernels share: reservations in their common database. Each
 * kernel's own count is the database's last answer; whether a request may go is decided in the
 * database, in one transaction. docs/decision/0117.
 * @module
 */
import { Fault } from "../../../contracts/base/fault.ts";
import { isObject, type Json } from "../../../contracts/base/json.ts";
import type { Rates } from "../../../contracts/model/mod.ts";
import type { Powers } from "../../../contracts/task/mod.ts";
import type { FleetAsk } from "../../../contracts/wire/wire_store.ts";
import { type Entered, type ModelRates, retryAfter } from "./rates.ts";

/** A budget's sums over all kernels, US dollars or other units. */
export interface SumNow {
  readonly spent: number;
  readonly held: number;
}

/** Sums of budgets that kernels share, by their keys. */
export interface SharedSums {
  /** The current sums; a missing one starts with its seed. */
  look(keys: readonly string[], seeds: readonly number[]): Promise<ReadonlyMap<string, SumNow>>;
  /** All sums whose keys have one of these prefixes. */
  all(prefixes: readonly string[]): Promise<ReadonlyMap<string, SumNow>>;
  /** Holds `money` in each sum if `need` more fits `most` of every sum, else in none; resolves with the outcome and the sums. */
  hold(
    id: string,
    wanted: {
      readonly keys: readonly string[];
      readonly most: readonly number[];
      readonly need: number;
      readonly money: number;
    },
  ): Promise<{ readonly fits: boolean; readonly sums: ReadonlyMap<string, SumNow> }>;
  /** Ends a hold and counts `paid` as spent. */
  settle(id: string, paid: number): Promise<void>;
}

/** Sends a request to the kernels' shared table. */
type Ask = (ask: FleetAsk) => Promise<Json>;

/** Makes the sums over that table. */
export function makeSharedSums(fleet: Ask): SharedSums {
  return Object.freeze<SharedSums>({
    look: async (keys, seeds) => sumsIn(await fleet({ kind: "sums", keys, seeds })),
    all: async (prefixes) => sumsIn(await fleet({ kind: "allSums", prefixes })),
    async hold(id, wanted) {
      const answer = await fleet({ kind: "hold", id, ...wanted });
      const rows = Array.isArray(answer) ? answer.filter(isObject) : [];
      return { fits: rows.some(({ fits }) => fits === 1), sums: sumsIn(answer) };
    },
    settle: async (id, paid) => void await fleet({ kind: "settle", id, paid }),
  });
}

/** TRUST: from this kernel's own store process, which has checked its rows. */
function sumsIn(answer: Json): ReadonlyMap<string, SumNow> {
  const rows = Array.isArray(answer) ? answer.filter(isObject) : [];
  return new Map(rows.map(({ key, spent, held }) => [
    String(key),
    { spent: Number(spent), held: Number(held) },
  ]));
}

/** Milliseconds between two attempts at a shared rate, at most: another kernel may use less than it reserved. */
const MAX_RETRY_MS = 5_000;

/** Shares rates over all kernels: a request that fits this kernel's own count then asks the database, in order. */
export function sharingRates(
  own: ModelRates,
  { fleet, powers }: { readonly fleet: Ask; readonly powers: Pick<Powers, "after"> },
): ModelRates {
  /** Requests to one provider wait for earlier ones. */
  const lines = new Map<string, Promise<unknown>>();

  const wait = (ms: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const leave = (): void => {
        disarm();
        reject(new Fault("cancelled", "Cannot infer: cancelled while it waited for its rate"));
      };
      const disarm = powers.after(ms, () => {
        signal.removeEventListener("abort", leave);
        resolve();
      });
      if (signal.aborted) leave();
      else signal.addEventListener("abort", leave, { once: true });
    });

  const take = async (
    key: string,
    { requestsPerMinute = 0, tokensPerMinute = 0 }: Rates,
    need: number,
    { signal, noWait, onWait }: Parameters<ModelRates["enter"]>[3],
  ): Promise<void> => {
    const asked = { requests: requestsPerMinute, tokens: tokensPerMinute, need };
    for (let announced = false;; announced = true) {
      const ms = Number(await fleet({ kind: "takeRate", key, ...asked }));
      if (ms === 0) return;
      if (noWait) {
        throw new Fault(
          "rateLimited",
          `Cannot infer: the kernels of the fleet together use what ${key} gives; without --no-wait it waits`,
          { detail: { retryAfterMs: ms } },
        );
      }
      if (!announced) onWait?.(ms);
      await wait(Math.min(ms, MAX_RETRY_MS), signal);
    }
  };

  const tell = (key: string, more: number, pauseMs: number): void => {
    // When this fails, the estimate stays: rates err towards waiting.
    void fleet({ kind: "tellRate", key, more, pauseMs: Math.ceil(pauseMs) }).catch(() => undefined);
  };

  return Object.freeze<ModelRates>({
    async enter(key, rates, need, options): Promise<Entered> {
      const entered = await own.enter(key, rates, need, options);
      const before = lines.get(key) ?? Promise.resolve();
      const taken = before.then(() => take(key, rates, need.tokens, options));
      lines.set(key, taken.catch(() => undefined));
      try {
        await taken;
      } catch (error) {
        entered.settle(0);
        throw error;
      }
      return Object.freeze<Entered>({
        settle(tokens): void {
          entered.settle(tokens);
          if (tokens !== need.tokens) tell(key, tokens - need.tokens, 0);
        },
        failed(error): void {
          entered.failed(error);
          const ms = retryAfter(error);
          if (ms > 0) tell(key, 0, ms);
        },
      });
    },
  });
}
