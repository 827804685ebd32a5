/**
 * What the kernel and a model service say to each other. Kernel → model: `open` once, `infer`;
 * event `cancel`. Model → kernel: event `chunk`. The service keeps nothing of a request; tables of
 * tools, which many requests share, it knows again by their digest.
 * @module
 */
import type { InferenceRequest, InferenceResponse, ModelInfo, StreamChunk } from "./model.ts";

/** Kernel → model, `open`: which backend, and its configuration as JSON text. */
export interface OpenBody {
  readonly kind: string;
  readonly ref: string;
  readonly config: string;
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
}
/** Answer to `infer`. */
export type ModelInferAnswer = InferenceResponse;

/** Kernel → model event `cancel`. */
export interface ModelCancel {
  readonly id: number;
}

/** Model → kernel event `chunk`. */
export interface ModelChunk {
  readonly id: number;
  readonly chunk: StreamChunk;
}
