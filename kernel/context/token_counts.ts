/**
 * How the models of one process count tokens: learnt from what each of them says of its inputs, and
 * from what it refuses. Without it a window of Chinese would seem a quarter as full as it is.
 * @module
 */
import { Fault } from "../../contracts/fault.ts";
import type { InferenceRequest, InferenceResponse, ModelInfo } from "../../contracts/mod.ts";
import { makeTokenRatio, type TokenRatio } from "../../contracts/tokens.ts";
import { inputTokens } from "../model/money.ts";

/** The counts of one process. */
export interface TokenCounts {
  /** Of the model in use: another one counts otherwise. */
  ratio(): TokenRatio;
  /** The same inference; `window` is what the model is believed to hold, tokens. */
  learning(
    request: InferenceRequest,
    window: number,
    infer: () => Promise<InferenceResponse>,
  ): Promise<InferenceResponse>;
}

/** Makes the counts of a process: nothing is known. */
export function makeTokenCounts(model: { readonly info: Pick<ModelInfo, "id"> }): TokenCounts {
  const ratios = new Map<string, TokenRatio>();
  const ratio = (): TokenRatio => {
    const known = ratios.get(model.info.id) ?? makeTokenRatio();
    ratios.set(model.info.id, known);
    return known;
  };
  return Object.freeze<TokenCounts>({
    ratio,
    async learning(request, window, infer) {
      const estimate = inputTokens(request);
      const own = ratio();
      try {
        const response = await infer();
        own.learn(estimate, response.usage.inputTokens);
        return response;
      } catch (error) {
        if (error instanceof Fault && error.code === "contextOverflow") {
          const tokens = error.detail?.["tokens"];
          own.refused(estimate, typeof tokens === "number" ? tokens - 1 : window);
        }
        throw error;
      }
    },
  });
}
