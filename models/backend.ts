/** How a service makes what it serves. A new backend is a line in the `main.ts` of its service. @module */
import type { LanguageModel, TextEmbedder } from "../contracts/model.ts";
import type { OpenBody } from "../contracts/wire_model.ts";

/**
 * Opens a model or an embedder. `weights` are the pieces that came before, in order; empty for most.
 * Throws `invalidInput` when `ref` or `config` is wrong, `upstream` or `unavailable` when it cannot.
 */
export type OpenBackend = (
  open: OpenBody,
  weights: readonly Uint8Array[],
) => Promise<LanguageModel | TextEmbedder>;

/** Kind → backend, loaded when it is opened: a service opens one and need not evaluate the others. */
export type Backends = Readonly<Record<string, () => Promise<OpenBackend>>>;
