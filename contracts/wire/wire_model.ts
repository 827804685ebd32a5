/**
 * What the kernel and a model service say to each other. Kernel → model: `weights` (any number, local
 * models), `open` once, `infer` or `embed`; event `cancel`. Model → kernel: events `chunk` and `wire`.
 * The service keeps nothing of a request; tables of tools, which many requests share, it knows again
 * by their digest.
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
  /** Where the native engine finds its files, as the service sees them. */
  readonly native?: {
    readonly weights: string;
    readonly addon: string;
    /** The addon is built for one: without its device it is not opened. */
    readonly gpu?: Gpu;
    /** Layers that it takes; absent: all. */
    readonly gpuLayers?: number;
  };
}
/** Answer to `open`. */
export type OpenAnswer = ModelInfo;

/** Kernel → model, `infer`. */
export interface ModelInferBody {
  readonly id: number;
  /** With an empty `tools` where `table` names a table that came before. */
  readonly request: InferenceRequest;
  /** Digest of the table of tools. Fault `notFound` with detail `table`: it is to be sent again. */
  readonly table?: string;
  /** Of the answer under way only pieces of text are told, and how far the request was read. */
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

/** Kernel → model event `cancel`: of an `infer` or `embed`. */
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
