/**
 * Budgets and rates that several kernels share: reservations in the database that they have in common. Each kernel's own
 * count is what the database answered last; whether a request may go is decided there, in one transaction.
 * docs/decision/0117.
 * @module
 */
import { Fault } from "../../../contracts/base/fault.ts";
import { isObject, type Json } from "../../../contracts/base/json.ts";
import type { Rates } from "../../../contracts/model/mod.ts";
import type { Powers } from "../../../contracts/task/mod.ts";
import type { FleetAsk } from "../../../contracts/wire/wire_store.ts";
import { type Entered, type ModelRates, retryAfter } from "./rates.ts";

/** What all kernels have of a budget, US dollars. */
export interface SumNow {
  readonly spent: number;
  readonly held: number;
}

/** Sums of budgets that kernels share, by their keys. */
export interface SharedSums {
  /** How they stand; one that is not there begins with its seed. */
  look(keys: readonly string[], seeds: readonly number[]): Promise<ReadonlyMap<string, SumNow>>;
  /** Those whose keys begin so. */
  all(prefixes: readonly string[]): Promise<ReadonlyMap<string, SumNow>>;
  /** Holds `money` of each where `need` more fits `most` of each, or of none; how they stand then, and which it was. */
  hold(
    id: string,
    wanted: {
      readonly keys: readonly string[];
      readonly most: readonly number[];
      readonly need: number;
      readonly money: number;
    },
  ): Promise<{ readonly fits: boolean; readonly sums: ReadonlyMap<string, SumNow> }>;
  /** What was held is held no more, and so much of it was paid. */
  settle(id: string, paid: number): Promise<void>;
}

/** Says something to the table that kernels share. */
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

/** Longest wait between two looks at a rate, milliseconds: another kernel may use less than it thought. */
const LOOK_MS = 5_000;

/** The rates of `own` over all kernels: who may go by this kernel's count asks the database, in turn. */
export function sharingRates(
  own: ModelRates,
  { fleet, powers }: { readonly fleet: Ask; readonly powers: Pick<Powers, "after"> },
): ModelRates {
  /** Whoever asks for the same provider waits for those before. */
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
    for (let told = false;; told = true) {
      const ms = Number(await fleet({ kind: "takeRate", key, ...asked }));
      if (ms === 0) return;
      if (noWait) {
        throw new Fault(
          "rateLimited",
          `Cannot infer: the kernels of the fleet together use what ${key} gives; without --no-wait it waits`,
          { detail: { retryAfterMs: ms } },
        );
      }
      if (!told) onWait?.(ms);
      await wait(Math.min(ms, LOOK_MS), signal);
    }
  };

  const tell = (key: string, more: number, pauseMs: number): void => {
    // Where this is lost, the estimate stands: rates err towards waiting.
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
