/**
 * What an inference costs, in US dollars: by the operator's price, never by what a service says of
 * itself. Text that stays on this machine costs nothing; a provider without a price costs as the
 * dearest. Input of a prompt cache costs what the operator wrote, or what Anthropic takes for it; of
 * any other provider its full price, so that a budget errs towards stopping.
 * @module
 */
import { DEAREST, type Price, type TokenUsage } from "../../contracts/mod.ts";
import type { ModelPlan } from "./model_plan.ts";

/** Tokens of a usual answer in a tool loop: what a request under way is expected to cost. */
export const USUAL_OUTPUT = 512;

/** Parts of the input's price that Anthropic takes for input that it had kept, and that it keeps now. */
const KEPT_READ = 0.1, KEPT_WRITTEN = 1.25;

/** The price that counts; undefined where no text leaves this machine (a replay sends none). */
export function priceOf(
  { host, price = DEAREST, open: { kind } }: Pick<ModelPlan, "host" | "price" | "open">,
): Price | undefined {
  if (host === undefined) return undefined;
  if (kind !== "anthropic") return price;
  const { input } = price;
  return { cacheRead: input * KEPT_READ, cacheWrite: input * KEPT_WRITTEN, ...price };
}

/** What inferences of one model cost. */
export interface ModelCost {
  /** What a request's input may cost. Refuse it where that does not fit the budget. */
  ofInput(input: number): number;
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
  const { cacheRead: perRead = perInput, cacheWrite: perWrite = perInput } = price ?? {};
  // Before it is asked, a provider may have kept nothing and keep everything.
  const perUnread = Math.max(perInput, perWrite);
  const cost = (input: number, output: number): number =>
    (input * perUnread + output * perOutput) / 1e6;

  return Object.freeze<ModelCost>({
    ofInput: (input) => cost(input, 0),
    likely: (input, maxTokens) => cost(input, Math.min(maxTokens, USUAL_OUTPUT)),
    of({ inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 }): number {
      // TRUST: from the provider, which may count more of one kind than there was at all.
      const read = Math.min(cacheReadTokens, inputTokens);
      const written = Math.min(cacheWriteTokens, inputTokens - read);
      const plain = inputTokens - read - written;
      return (plain * perInput + read * perRead + written * perWrite + outputTokens * perOutput) /
        1e6;
    },
    mostOutput(input, { maxTokens, money }): number {
      if (perOutput === 0) return maxTokens;
      const left = (money - cost(input, 0)) * 1e6 / perOutput;
      return Math.max(1, Math.min(maxTokens, Math.floor(left)));
    },
    counted(usage, estimate): TokenUsage {
      // TRUST: a server that leaves usage out would otherwise be free.
      if (price === undefined) return usage;
      return {
        ...usage,
        inputTokens: usage.inputTokens || estimate.inputTokens,
        outputTokens: usage.outputTokens || estimate.outputTokens,
      };
    },
  });
}
