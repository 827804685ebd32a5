/** Money that a command spends on a model, counted before and after each request. @module */
import type { Colour, Label } from "../../contracts/authority/mod.ts";
import type { Asked, AskedModel } from "../wiki/model/ask.ts";

/** A request of a command's own. */
export interface SemanticAsk {
  readonly system: string;
  readonly user: string;
  readonly responseSchema: string;
  readonly maxTokens: number;
}

/** A purse: asks while there is money. */
export interface Spending {
  readonly spent: { readonly money: number; readonly tokens: number; readonly requests: number };
  /** The most that a request may cost. */
  worst(ask: SemanticAsk): number;
  /** Undefined when it could pass the limit: then nothing was asked. */
  ask(ask: SemanticAsk): Promise<Asked | undefined>;
}

const CHARS_A_TOKEN = 3;

/** Makes one. `most` is US dollars. */
export function makeSpending(
  model: AskedModel,
  options: { readonly most: number | undefined; readonly label: Label; readonly colour: Colour },
): Spending {
  const { most, label, colour } = options;
  let [money, tokens, requests] = [0, 0, 0];
  const worst = ({ system, user, responseSchema, maxTokens }: SemanticAsk): number => {
    const length = system.length + user.length + responseSchema.length;
    return model.priceOf({ input: Math.ceil(length / CHARS_A_TOKEN), output: maxTokens });
  };
  return Object.freeze<Spending>({
    get spent() {
      return { money, tokens, requests };
    },
    worst,
    async ask(request): Promise<Asked | undefined> {
      if (most !== undefined && money + worst(request) > most) return undefined;
      const answer = await model.ask({ ...request, label, colour });
      money += answer.money;
      tokens += answer.inputTokens + answer.outputTokens;
      requests += 1;
      return answer;
    },
  });
}
