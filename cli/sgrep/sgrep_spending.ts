/** Limits what a command spends on a model, before and after each request. @module */
import type { Colour, Label } from "../../contracts/authority/mod.ts";
import type { Asked, AskedModel } from "../wiki/model/ask.ts";

/** A command's request to a model. */
export interface SemanticAsk {
  readonly system: string;
  readonly user: string;
  readonly responseSchema: string;
  readonly maxTokens: number;
}

/** Asks the model while the limit permits. */
export interface Spending {
  readonly spent: { readonly money: number; readonly tokens: number; readonly requests: number };
  /** The largest possible cost of a request. */
  worst(ask: SemanticAsk): number;
  /** Undefined, without a request, if the limit could be passed. */
  ask(ask: SemanticAsk): Promise<Asked | undefined>;
}

const CHARS_PER_TOKEN = 3;

/** Makes the spending for `max` US dollars. */
export function makeSpending(
  model: AskedModel,
  options: { readonly max: number | undefined; readonly label: Label; readonly colour: Colour },
): Spending {
  const { max, label, colour } = options;
  let [money, tokens, requests] = [0, 0, 0];
  const worst = ({ system, user, responseSchema, maxTokens }: SemanticAsk): number => {
    const length = system.length + user.length + responseSchema.length;
    return model.priceOf({ input: Math.ceil(length / CHARS_PER_TOKEN), output: maxTokens });
  };
  return Object.freeze<Spending>({
    get spent() {
      return { money, tokens, requests };
    },
    worst,
    async ask(request): Promise<Asked | undefined> {
      if (max !== undefined && money + worst(request) > max) return undefined;
      const answer = await model.ask({ ...request, label, colour });
      money += answer.money;
      tokens += answer.inputTokens + answer.outputTokens;
      requests += 1;
      return answer;
    },
  });
}
