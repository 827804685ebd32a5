/**
 * Weights of local models: a store by digest (STATE/models), paths pinned at their first use, signatures, and
 * the builds of the native engine. A library without a terminal; powers.ts lists its powers.
 *
 * @example
 * ```ts
 * import { bytesText } from "./mod.ts";
 * if (bytesText(1_120_000_000) !== "1.12 GB") throw new Error("not as people write it");
 * ```
 * @module
 */
export { accelerateCommand, NATIVE_BUILDS, nativeAddon } from "./builds.ts";
export { addWeights, bytesText, pinnedWeights, progress, type WeightsParts } from "./pin.ts";
export type { HttpAnswer, ModelHttp, NativeEngine, WeightsDisk } from "./powers.ts";
export {
  checkWeights,
  dropWeights,
  findWeights,
  listWeights,
  needSignature,
  type StoredWeights,
  WeightsName,
  weightsPath,
  WeightsSignature,
  type WeightsSigned,
} from "./store.ts";
