/** llama.cpp's addon (`@node-llama-cpp/linux-x64`, `…-cuda`, `…-vulkan`), as far as it is used here. @module */
import { Fault } from "../../contracts/base/fault.ts";
import type { Gpu } from "../../contracts/model/model_config.ts";

/** A loaded model. */
export interface AddonModel {
  init(): Promise<boolean>;
  /** `controls`: texts of control tokens become those tokens. */
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

/** A context: several sequences of tokens with what was computed of them. */
export interface AddonContext {
  init(): Promise<boolean>;
  initBatch(tokens: number): void;
  /** Where the logits of the asked tokens will be. */
  addToBatch(
    sequence: number,
    position: number,
    tokens: Uint32Array,
    logits: Uint32Array,
  ): Uint32Array;
  /** Computes off this thread. */
  decodeBatch(): Promise<void>;
  /** -1 where the grammar lets nothing follow. */
  sampleToken(logits: number, sampler: AddonSampler): Promise<number>;
  /** Of the sequence 0, of a context for vectors: as the weights' pooling makes it. */
  getEmbedding(tokens: number): Float64Array;
  disposeSequence(sequence: number): void;
  /** False where the architecture cannot forget a part. */
  removeTokenCellsFromSequence(sequence: number, from: number, to: number): boolean;
  copySequenceStateFromOtherSequence(target: number, source: number): Promise<number>;
  dispose(): Promise<void>;
}

/** Chooses tokens. */
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

/** The module. */
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
  /** Cards that work is given to; those that only pretend to be one (software) are none. */
  getGpuDeviceInfo(): { readonly deviceNames: readonly string[] };
  getMathCores(): number;
  loadBackends(folder?: string): void;
  init(): Promise<void>;
}

/** What must be there, and what shows whether it is. */
const NEEDS: Readonly<Record<Gpu, string>> = {
  cuda:
    "it needs NVIDIA's driver (`nvidia-smi` lists the card, /dev/nvidia-uvm is there) and the " +
    "libraries libcudart and libcublas of CUDA 13 or 12",
  vulkan:
    "it needs libvulkan.so.1 and the card's Vulkan driver (`vulkaninfo --summary` lists it), and " +
    "your right to /dev/dri (groups video, render)",
  npu: "it needs a build of the engine for this NPU and its driver (/dev/accel is there)",
};

/** Whether llama.cpp found a card that it gives work to. */
export function hasCard(addon: Pick<Addon, "getGpuDeviceInfo">): boolean {
  return addon.getGpuDeviceInfo().deviceNames.length > 0;
}

/** The fault `unavailable` for a build whose card or driver is not there. */
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
