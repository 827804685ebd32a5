/** Wires the models of a kernel: their services, who may use which, keys that are lent. @module */
import type { EventLog, KernelConfig, Powers } from "../contracts/mod.ts";
import type { Children } from "./child/children.ts";
import type { EmbeddersParts } from "./model/embedders.ts";
import type { LentSecrets } from "./model/lent_secrets.ts";
import { makeModelRates, type ModelRates } from "./model/rates.ts";
import { makeModelServices, type ModelServices } from "./model/services.ts";
import { makeOperatorAsk } from "./control/operator_ask.ts";
import { makeOperatorEmbed } from "./control/operator_embed.ts";
import { WEIGHTS_POWERS } from "./model/weights_powers.ts";

/** What {@link wireModels} is handed. */
export interface MainModelsParts {
  readonly config: KernelConfig;
  readonly secrets: Pick<LentSecrets, "get" | "lend">;
  readonly children: Pick<Children, "model">;
  readonly powers: Powers;
  readonly log: EventLog;
  /** Why a session may not use a model with texts of a label; undefined when it may. */
  readonly modelRefused: EmbeddersParts["modelRefused"];
}

/** The models of a kernel. */
export interface MainModels {
  /** What tasks are given. */
  readonly models: ModelServices;
  readonly rates: ModelRates;
  /** What the operator does. */
  readonly lend: LentSecrets["lend"];
  readonly embed: ReturnType<typeof makeOperatorEmbed>;
  readonly ask: ReturnType<typeof makeOperatorAsk>;
}

/** Wires them. Providers' rates are shared by all who use them. */
export function wireModels(parts: MainModelsParts): MainModels {
  const { config, children, powers, log, modelRefused, secrets } = parts;
  const plans = { ...config, secret: secrets.get };
  const models = makeModelServices({ children, plans, powers, weights: WEIGHTS_POWERS });
  const rates = makeModelRates(powers);
  const operator = { rates, log, powers, modelRefused, provide: models.provide };
  return Object.freeze({
    ...{ models, rates, lend: secrets.lend },
    ...{ embed: makeOperatorEmbed(operator), ask: makeOperatorAsk(operator) },
  });
}
