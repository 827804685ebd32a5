/** What a task has paid lately: too much too fast asks a person. Seed 004, SIGBRAKE. @module */
import type { Limits, Powers } from "../contracts/mod.ts";
import { type Payment, recent, spendsTooFast } from "./signals.ts";

/** A task's payments. */
export interface Purse {
  /** Books US dollars. */
  paid(money: number): void;
  isSpentTooFast(limits: Limits): boolean;
  /** A person let it go on: what was paid counts no more. */
  forgive(): void;
}

/** Makes an empty purse. */
export function makePurse({ now }: Pick<Powers, "now">): Purse {
  let payments: readonly Payment[] = [];
  return Object.freeze({
    paid(money: number): void {
      if (money > 0) payments = [...recent(payments, now()), { at: now(), money }];
    },
    isSpentTooFast: (limits: Limits) => spendsTooFast(payments, now(), limits),
    forgive(): void {
      payments = [];
    },
  });
}
