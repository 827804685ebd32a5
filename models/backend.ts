/** Which kinds of model there are, and how each is made. A new backend is a line here. @module */
import type { LanguageModel } from "../contracts/model.ts";
import type { OpenBody } from "../contracts/wire_model.ts";
import type { Timer } from "./timer_powers.ts";

/** What a backend may use. */
export interface BackendPowers {
  readonly timer: Timer;
}

/** Opens a model. Throws `invalidInput` when `ref` or `config` is wrong. */
export type OpenBackend = (open: OpenBody, powers: BackendPowers) => Promise<LanguageModel>;

/** Kind → backend, loaded when it is opened: a service opens one and need not evaluate the others. */
export const BACKENDS: Readonly<Record<string, () => Promise<OpenBackend>>> = Object.freeze({
  scripted: async (): Promise<OpenBackend> => (await import("./scripted/open.ts")).openScripted,
});
