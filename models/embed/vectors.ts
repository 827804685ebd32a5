/** Similarity, ranking and classification of texts by their vectors. @module */
import { Fault } from "../../contracts/base/fault.ts";
import type { Classifier, Reranker } from "../../contracts/model/model_aux.ts";
import type { TextEmbedder } from "../../contracts/model/model.ts";

const MIN_LABELS = 2;
const MAX_LABELS = 64;
/** Softmax temperature: a label whose cosine is larger by this much scores e times as high. */
const TEMPERATURE = 0.1;

/**
 * Makes a zero-shot classifier. The scores of a text sum to 1, and are equal where no label fits better than
 * another. Short descriptions serve best as labels ("a complaint about a delivery"). `classify` rejects with
 * `invalidInput` for fewer than 2 or more than 64 labels, and with every fault of the embedder.
 */
export function makeClassifier(embedder: Pick<TextEmbedder, "embed">): Classifier {
  return Object.freeze<Classifier>({
    async classify(text, labels, { signal }): Promise<readonly number[]> {
      if (labels.length < MIN_LABELS || labels.length > MAX_LABELS) {
        throw new Fault(
          "invalidInput",
          `Cannot classify: ${labels.length} labels, and ${MIN_LABELS} to ${MAX_LABELS} are possible`,
        );
      }
      const [subject, ...vectors] = await embedAll(embedder, [text, ...labels], signal);
      return softmax(vectors.map((vector) => cosine(subject ?? vector, vector)));
    },
  });
}

function softmax(nearness: readonly number[]): readonly number[] {
  const nearest = Math.max(...nearness);
  const weights = nearness.map((each) => Math.exp((each - nearest) / TEMPERATURE));
  const sum = weights.reduce((a, b) => a + b, 0);
  return weights.map((weight) => weight / sum);
}

/** Makes a reranker. The score of a text is the cosine between text and query, from -1 to 1. */
export function makeReranker(embedder: Pick<TextEmbedder, "embed">): Reranker {
  return Object.freeze<Reranker>({
    async rank(query, texts, { signal }): Promise<readonly number[]> {
      const [wanted, ...vectors] = await embedAll(embedder, [query, ...texts], signal);
      return vectors.map((vector) => cosine(wanted ?? vector, vector));
    },
  });
}

/** Texts per request. */
const BATCH = 256;

/** One vector per text. Rejects with every fault of the embedder, and with `upstream` for a wrong number of vectors. */
export async function embedAll(
  embedder: Pick<TextEmbedder, "embed">,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<readonly Float32Array[]> {
  const all: Float32Array[] = [];
  for (let at = 0; at < texts.length; at += BATCH) {
    const batch = texts.slice(at, at + BATCH);
    const { vectors } = await embedder.embed(batch, { signal });
    if (vectors.length !== batch.length) {
      throw new Fault(
        "upstream",
        `Cannot embed: ${vectors.length} vectors for ${batch.length} texts`,
      );
    }
    all.push(...vectors);
  }
  return all;
}

/** Cosine similarity of two vectors of equal length, from -1 to 1; 0 if one is all zero. */
export function cosine(a: Float32Array, b: Float32Array): number {
  if (a.length !== b.length) {
    throw new RangeError(`Cannot compare vectors: of ${a.length} and ${b.length} numbers`);
  }
  let [inner, ofA, ofB] = [0, 0, 0];
  for (let n = 0; n < a.length; n++) {
    const [x, y] = [a[n] ?? 0, b[n] ?? 0];
    inner += x * y;
    ofA += x * x;
    ofB += y * y;
  }
  if (ofA === 0 || ofB === 0) return 0;
  return Math.max(-1, Math.min(1, inner / Math.sqrt(ofA * ofB)));
}
