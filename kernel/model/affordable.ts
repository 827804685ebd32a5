/** An answer is no longer than the money that is left pays for: the limit of money is hard. @module */
import type { InferenceRequest, ModelInfo } from "../../contracts/mod.ts";
import { estimateTokens, estimateToolTokens } from "../../contracts/tokens.ts";
import { makeModelCost } from "./cost.ts";

/**
 * The request with at most as many tokens of answer as `money` (US dollars) pays for beside its input
 * (`input` tokens, tools included; absent: estimated); at least 1, so that a limit is passed by no more than rounding and by what the
 * estimate of the input is wrong.
 */
export function affordable(
  request: InferenceRequest,
  { price }: Pick<ModelInfo, "price">,
  money: number,
  input: number = inputTokens(request),
): InferenceRequest {
  if (price === undefined) return request;
  const { maxTokens } = request;
  const most = makeModelCost(price).mostOutput(input, { maxTokens, money });
  return { ...request, maxTokens: most };
}

/** About how many tokens a request sends, tools included. */
export function inputTokens({ messages, tools }: InferenceRequest): number {
  return estimateTokens(messages) + estimateToolTokens(tools);
}
