/** The parts in use of llama.cpp's addon (`@node-llama-cpp/linux-x64`, `…-cuda`, `…-vulkan`). @module */
import { Fault } from "../../contracts/base/fault.ts";
import type { Gpu } from "../../contracts/model/model_config.ts";

/** A loaded model. */
export interface AddonModel {
  init(): Promise<boolean>;
  /** `controls`: whether texts of control tokens become control tokens. */
  tokenize(text: string, controls: boolean): Uint32Array;
  detokenize(tokens: Uint32Array, controls: boolean): string;
  tokenBos(): number;
  tokenEos(): number;
  getTokenString(token: number): string;
  isEogToken(token: number): boolean;
  shouldPrependBosToken(): boolean;
  shouldAppendEosToken(): boolean;
  dispose(): Promise<void>;
}

/** A context: several sequences of tokens with their KV cache. */
export interface AddonContext {
  init(): Promise<boolean>;
  initBatch(tokens: number): void;
  /** Returns the positions of the logits of the requested tokens. */
  addToBatch(
    sequence: number,
    position: number,
    tokens: Uint32Array,
    logits: Uint32Array,
  ): Uint32Array;
  /** Computes outside this thread. */
  decodeBatch(): Promise<void>;
  /** -1 if the grammar admits no token. */
  sampleToken(logits: number, sampler: AddonSampler): Promise<number>;
  /** The pooled vector of sequence 0, in a context for embeddings. */
  getEmbedding(tokens: number): Float64Array;
  disposeSequence(sequence: number): void;
  /** False if the architecture cannot remove a part of a sequence. */
  removeTokenCellsFromSequence(sequence: number, from: number, to: number): boolean;
  copySequenceStateFromOtherSequence(target: number, source: number): Promise<number>;
  dispose(): Promise<void>;
}

/** Samples tokens. */
export interface AddonSampler {
  applyConfig(config: {
    readonly temperature: number;
    readonly topK: number;
    readonly topP: number;
    readonly minP: number;
    readonly seed: number;
    readonly grammarEvaluationState?: object;
  }): void;
  dispose(): void;
}

/** Exports of the addon. */
export interface Addon {
  readonly AddonModel: new (
    path: string,
    options: {
      readonly addonExports: Addon;
      readonly gpuLayers: number;
      readonly useMmap: boolean;
      readonly vocabOnly: boolean;
    },
  ) => AddonModel;
  readonly AddonContext: new (
    model: AddonModel,
    options: {
      readonly contextSize: number;
      readonly batchSize: number;
      readonly sequences: number;
      readonly embeddings: boolean;
      readonly threads: number;
      readonly swaFullCache: boolean;
    },
  ) => AddonContext;
  readonly AddonSampler: new (model: AddonModel) => AddonSampler;
  readonly AddonGrammar: new (
    gbnf: string,
    options: { readonly addonExports: Addon; readonly rootRuleName: string },
  ) => object;
  readonly AddonGrammarEvaluationState: new (model: AddonModel, grammar: object) => object;
  readonly AddonJinjaRenderer: new (
    template: string,
  ) => { render(items: Readonly<Record<string, unknown>>): string };
  markLoaded(): boolean;
  setLogger(logger: (level: number, message: string) => void): void;
  setLoggerLogLevel(level: number): void;
  /** Devices that compute; software renderers are excluded. */
  getGpuDeviceInfo(): { readonly deviceNames: readonly string[] };
  getMathCores(): number;
  loadBackends(folder?: string): void;
  init(): Promise<void>;
}

/** Requirements of each kind of device, with the command that checks them. */
const NEEDS: Readonly<Record<Gpu, string>> = {
  cuda:
    "it needs NVIDIA's driver (`nvidia-smi` lists the card, /dev/nvidia-uvm is there) and the " +
    "libraries libcudart and libcublas of CUDA 13 or 12",
  vulkan:
    "it needs libvulkan.so.1 and the card's Vulkan driver (`vulkaninfo --summary` lists it), and " +
    "your right to /dev/dri (groups video, render)",
  npu: "it needs a build of the engine for this NPU and its driver (/dev/accel is there)",
};

/** Whether llama.cpp found a device to compute on. */
export function hasCard(addon: Pick<Addon, "getGpuDeviceInfo">): boolean {
  return addon.getGpuDeviceInfo().deviceNames.length > 0;
}

/** The fault `unavailable` for a build whose device or driver is missing. */
export function missingGpu(gpu: Gpu, why: string, options: ErrorOptions = {}): Fault {
  return new Fault(
    "unavailable",
    `Cannot start the accelerated engine for ${gpu}: ${why.slice(0, 300)}; ${
      NEEDS[gpu]
    }; or write ` +
      '"accelerated: cpu" for this model in remit.yaml',
    options,
  );
}
