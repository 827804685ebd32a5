/** What a task has paid lately: too much too fast asks a person. @module */
import type { Limits, Powers } from "../../contracts/mod.ts";
import { type Payment, recent, spendsTooFast } from "./signals.ts";

/** A task's payments, of all its processes together. */
export interface Purse {
  /** Books US dollars. */
  paid(money: number): void;
  /**
   * Counts US dollars that a request under way will probably cost, until the returned function is
   * called (then book what was paid): children that begin at the same moment count together.
   */
  pending(money: number): () => void;
  isSpentTooFast(limits: Pick<Limits, "moneyPerMinute">): boolean;
  /** {@link Purse.pending}, unless it is spent too fast: in one step, so that nobody comes between. */
  begin(money: number, limits: Pick<Limits, "moneyPerMinute">): (() => void) | undefined;
  /** A person let it go on: what was paid, or is under way, counts no more. */
  forgive(): void;
}

/** Makes an empty purse. */
export function makePurse({ now }: Pick<Powers, "now">): Purse {
  let payments: readonly Payment[] = [];
  const underway = new Map<symbol, number>();

  const pending = (money: number): () => void => {
    const request = Symbol();
    underway.set(request, money);
    return () => void underway.delete(request);
  };
  const isSpentTooFast = (limits: Pick<Limits, "moneyPerMinute">): boolean => {
    const money = underway.values().reduce((sum, each) => sum + each, 0);
    return spendsTooFast([...payments, { at: now(), money }], now(), limits);
  };
  return Object.freeze<Purse>({
    pending,
    isSpentTooFast,
    begin: (money, limits) => isSpentTooFast(limits) ? undefined : pending(money),
    paid(money: number): void {
      if (money > 0) payments = [...recent(payments, now()), { at: now(), money }];
    },
    forgive(): void {
      payments = [];
      underway.clear();
    },
  });
}
