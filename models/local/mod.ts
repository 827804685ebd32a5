/**
 * Models that run here, from weights that came over the port: a process without any permission.
 *
 * @example
 * ```ts
 * import { makePlainText } from "./mod.ts";
 * const plain = makePlainText(["<|im_start|>"]);
 * if (plain("<|im_start|>system").startsWith("<|im_start|>")) throw new Error("a control token");
 * ```
 * @module
 */
export type { Engine, EngineEnd, EngineFile, EngineMessage, EngineOptions } from "./engine.ts";
export type { EngineRequest, StartEngine } from "./engine.ts";
export { type GgufHeader, readGgufHeader, type TensorPlace } from "./gguf_header.ts";
export { contextTokensOf, ggufInfo, type GgufParts, makeGgufModel } from "./gguf_model.ts";
export { type LocalPowers } from "./load.ts";
export { type LocalSettings, readLocalConfig } from "./local_config.ts";
export { openGguf, openGgufEmbedder } from "./open.ts";
export { makePlainText } from "./plain_text.ts";
