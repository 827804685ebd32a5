/** The powers of the commands over models: HTTP, weights, engines. @module */
import type { NativeBuild } from "../../contracts/model/mod.ts";
import type { TextEmbedder } from "../../contracts/model/model.ts";
import type { Classifier, Reranker } from "../../contracts/model/model_aux.ts";
import type { ModelHttp, NativeEngine, WeightsDisk } from "../../models/weights/mod.ts";

/** A program of a model service, built when it is first needed. */
export type ModelProgram = "remote" | "local" | "native";

/** Any embedder. */
type Embeds = Pick<TextEmbedder, "embed">;

/** Uses of vectors from any embedder. Their results are advice, never a permission. */
export interface VectorUses {
  makeReranker(embedder: Embeds): Reranker;
  makeClassifier(embedder: Embeds): Classifier;
  /** Cosine of the angle between two vectors, -1 to 1. */
  cosine(a: Float32Array, b: Float32Array): number;
  embedAll(
    embedder: Embeds,
    texts: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly Float32Array[]>;
}

/** The powers over models beyond the ordinary disk. */
export interface ModelPowers {
  readonly http: ModelHttp;
  readonly weights: WeightsDisk;
  engine(build: NativeBuild): NativeEngine;
  /**
   * Builds a service's program if it is missing. For a kernel of another version (by its `harness`) it
   * must exist already. Throws `unavailable`, `conflict`.
   */
  provideProgram(program: ModelProgram, harness?: string): Promise<void>;
  /** Loads the uses of vectors. */
  vectors(): Promise<VectorUses>;
}
