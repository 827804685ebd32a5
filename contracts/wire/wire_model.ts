/**
 * Messages between the kernel and a model service. Kernel → model: `weights` (any number, local
 * models), `open` once, `infer` or `embed`; event `cancel`. Model → kernel: events `chunk` and
 * `wire`. The service keeps nothing of a request, except tables of tools, which many requests
 * share, by digest.
 * @module
 */
import type {
  InferenceRequest,
  InferenceResponse,
  ModelInfo,
  StreamChunk,
} from "../model/model.ts";
import type { Credential, Gpu } from "../model/model_config.ts";

/** Kernel → model, `weights`: a piece of the weights file, in order from 0. Answer `null`. */
export interface WeightsBody {
  /** Bytes before this piece. */
  readonly at: number;
  /** At most {@link WEIGHTS_PIECE} bytes, base64. */
  readonly base64: string;
}
/** Bytes in a piece of weights. */
export const WEIGHTS_PIECE = 1_048_576;

/** Kernel → model, `open`: which backend, and its configuration as JSON text. */
export interface OpenBody {
  readonly kind: string;
  readonly ref: string;
  readonly config: string;
  readonly credential?: Credential;
  /** Paths of the native engine's files within the service. */
  readonly native?: {
    readonly weights: string;
    readonly addon: string;
    /** Device that the addon is built for; without the device it is not opened. */
    readonly gpu?: Gpu;
    /** Layers on the device; absent: all. */
    readonly gpuLayers?: number;
  };
}
/** Answer to `open`. */
export type OpenAnswer = ModelInfo;

/** Kernel → model, `infer`. */
export interface ModelInferBody {
  readonly id: number;
  /** `tools` is empty if `table` names an earlier table. */
  readonly request: InferenceRequest;
  /** Digest of the table of tools. Fault `notFound` with detail `table`: send the table again. */
  readonly table?: string;
  /** Report only pieces of text and reading progress. */
  readonly textOnly?: boolean;
}
/** Answer to `infer`. */
export type ModelInferAnswer = InferenceResponse;

/** Kernel → model, `embed`: at most 256 texts. */
export interface ModelEmbedBody {
  readonly id: number;
  readonly texts: readonly string[];
}
/** Answer to `embed`: each vector as base64 of little-endian 32-bit floats. */
export interface ModelEmbedAnswer {
  readonly vectors: readonly string[];
  readonly inputTokens: number;
}

/** Kernel → model event `cancel`: cancels an `infer` or `embed`. */
export interface ModelCancel {
  readonly id: number;
}

/** Model → kernel event `chunk`. */
export interface ModelChunk {
  readonly id: number;
  readonly chunk: StreamChunk;
}

/** Model → kernel event `wire`: one exchange with a provider, a line of a recording. */
export interface ModelWire {
  readonly id: number;
  readonly exchange: string;
}
