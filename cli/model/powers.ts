/** What the commands over models are handed: a way to ask servers, weights on the disk, engines. @module */
import type { NativeBuild } from "../../contracts/model/mod.ts";
import type { TextEmbedder } from "../../contracts/model/model.ts";
import type { Classifier, Reranker } from "../../contracts/model/model_aux.ts";
import type { ModelHttp, NativeEngine, WeightsDisk } from "../../models/weights/mod.ts";

/** A program of a model service, built when it is first needed. */
export type ModelProgram = "remote" | "local" | "native";

/** Makes vectors, wherever it runs. */
type Embeds = Pick<TextEmbedder, "embed">;

/** What can be done with vectors, whoever made them. Advice, never a permission. */
export interface VectorUses {
  makeReranker(embedder: Embeds): Reranker;
  makeClassifier(embedder: Embeds): Classifier;
  /** Of the angle between two vectors, -1 to 1. */
  cosine(a: Float32Array, b: Float32Array): number;
  embedAll(
    embedder: Embeds,
    texts: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly Float32Array[]>;
}

/** Everything about models that is not on the ordinary disk. */
export interface ModelPowers {
  readonly http: ModelHttp;
  readonly weights: WeightsDisk;
  engine(build: NativeBuild): NativeEngine;
  /**
   * Builds a service's program unless these sources have it. For a kernel of other sources (by its
   * `harness`) it must be there. Throws `unavailable`, `conflict`.
   */
  provideProgram(program: ModelProgram, harness?: string): Promise<void>;
  /** Loaded when it is needed. */
  vectors(): Promise<VectorUses>;
}
