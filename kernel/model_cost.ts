/**
 * What an inference costs, in US dollars: by the operator's price, never by what a service says of
 * itself. Text that stays on this machine costs nothing; a provider without a price costs as the
 * dearest. What providers say of cached tokens is left aside on purpose: each is counted at its full
 * price, so that a budget errs towards stopping. Issue 4, Policy.
 * @module
 */
import { DEAREST, type Price, type TokenUsage } from "../contracts/mod.ts";
import type { ModelPlan } from "./model_plan.ts";

/** Tokens of a usual answer in a tool loop: what a request under way is expected to cost. */
export const USUAL_OUTPUT = 512;

/** The price that counts; undefined where no text leaves this machine (a replay sends none). */
export function priceOf({ host, price }: Pick<ModelPlan, "host" | "price">): Price | undefined {
  return host === undefined ? undefined : price ?? DEAREST;
}

/** What inferences of one model cost. */
export interface ModelCost {
  /** What a request costs at least: its input. Refuse it where that does not fit the budget. */
  least(input: number): number;
  /** What it probably costs: counts while it is under way, so that many at once count together. */
  likely(input: number, maxTokens: number): number;
  of(usage: TokenUsage): number;
  /**
   * Most output tokens that `money` pays for beside the input, at most `maxTokens` and at least 1:
   * a budget is then passed by no more than rounding.
   */
  mostOutput(input: number, { maxTokens, money }: {
    readonly maxTokens: number;
    readonly money: number;
  }): number;
  /** What counts as used: where a provider that is paid says nothing, the estimate. */
  counted(usage: TokenUsage, estimate: TokenUsage): TokenUsage;
}

/** Makes the costs of a model of this price; undefined: free. */
export function makeModelCost(price: Price | undefined): ModelCost {
  const { input: perInput, output: perOutput } = price ?? { input: 0, output: 0 };
  const cost = (input: number, output: number): number =>
    (input * perInput + output * perOutput) / 1e6;

  return Object.freeze<ModelCost>({
    least: (input) => cost(input, 0),
    likely: (input, maxTokens) => cost(input, Math.min(maxTokens, USUAL_OUTPUT)),
    of: ({ inputTokens, outputTokens }) => cost(inputTokens, outputTokens),
    mostOutput(input, { maxTokens, money }): number {
      if (perOutput === 0) return maxTokens;
      const left = (money - cost(input, 0)) * 1e6 / perOutput;
      return Math.max(1, Math.min(maxTokens, Math.floor(left)));
    },
    counted(usage, estimate): TokenUsage {
      // TRUST: a server that leaves usage out would otherwise be free.
      if (price === undefined) return usage;
      return {
        inputTokens: usage.inputTokens || estimate.inputTokens,
        outputTokens: usage.outputTokens || estimate.outputTokens,
      };
    },
  });
}
