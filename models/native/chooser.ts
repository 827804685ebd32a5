/** How tokens are chosen for one request. @module */
import { Fault } from "../../contracts/fault.ts";
import type { EngineRequest } from "../local/engine.ts";
import type { Addon, AddonModel, AddonSampler } from "./addon.ts";

/** As llama.cpp's own server chooses, so that both engines do. */
const SAMPLING = { topK: 40, topP: 0.95, minP: 0.05 };

/** Makes it. Throws `invalidInput` for a grammar that llama.cpp does not take. */
export function makeChooser(
  { addon, model }: { readonly addon: Addon; readonly model: AddonModel },
  { temperature, seed, grammar }: EngineRequest,
  failed: (doing: string) => Fault,
): { readonly sampler: AddonSampler } & Disposable {
  let grammarEvaluationState: object | undefined;
  if (grammar !== undefined) {
    try {
      const parsed = new addon.AddonGrammar(grammar, {
        addonExports: addon,
        rootRuleName: "root",
      });
      grammarEvaluationState = new addon.AddonGrammarEvaluationState(model, parsed);
    } catch (cause) {
      throw new Fault("invalidInput", failed("take the grammar").message, { cause });
    }
  }
  const sampler = new addon.AddonSampler(model);
  sampler.applyConfig({
    temperature,
    seed,
    ...SAMPLING,
    ...(grammarEvaluationState === undefined ? {} : { grammarEvaluationState }),
  });
  return { sampler, [Symbol.dispose]: () => sampler.dispose() };
}
