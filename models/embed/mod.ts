/**
 * Similarity, ranking and classification over vectors of any embedder. The results are advice, never a
 * permission.
 *
 * @example
 * ```ts
 * import { cosine } from "./mod.ts";
 * const near = cosine(new Float32Array([1, 0]), new Float32Array([0.8, 0.6]));
 * if (Math.abs(near - 0.8) > 1e-6) throw new Error("the angle is known");
 * ```
 * @module
 */
export { cosine, embedAll, makeClassifier, makeReranker } from "./vectors.ts";
