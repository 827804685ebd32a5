/** Finds the label that fits a text by their vectors. @module */
import { Fault } from "../../contracts/base/fault.ts";
import type { Classifier, Reranker } from "../../contracts/model/model_aux.ts";
import type { TextEmbedder } from "../../contracts/model/model.ts";

const FEWEST = 2;
const MAX = 64;
/** A label that is nearer by this much is e times as likely. */
const STEP = 0.1;

/**
 * Makes a classifier without training: scores of a text sum to 1, and are all the same where it says
 * nothing. Labels serve best as short descriptions ("a complaint about a delivery"). `classify` rejects
 * with `invalidInput` for fewer than 2 or more than 64 labels, and as the embedder does.
 */
export function makeClassifier(embedder: Pick<TextEmbedder, "embed">): Classifier {
  return Object.freeze<Classifier>({
    async classify(text, labels, { signal }): Promise<readonly number[]> {
      if (labels.length < FEWEST || labels.length > MAX) {
        throw new Fault(
          "invalidInput",
          `Cannot classify: ${labels.length} labels, and ${FEWEST} to ${MAX} are possible`,
        );
      }
      const [subject, ...vectors] = await embedAll(embedder, [text, ...labels], signal);
      return shares(vectors.map((vector) => cosine(subject ?? vector, vector)));
    },
  });
}

function shares(nearness: readonly number[]): readonly number[] {
  const nearest = Math.max(...nearness);
  const weights = nearness.map((each) => Math.exp((each - nearest) / STEP));
  const sum = weights.reduce((a, b) => a + b, 0);
  return weights.map((weight) => weight / sum);
}

/** Makes a reranker: the score of a text is the cosine between it and the query, from -1 to 1. */
export function makeReranker(embedder: Pick<TextEmbedder, "embed">): Reranker {
  return Object.freeze<Reranker>({
    async rank(query, texts, { signal }): Promise<readonly number[]> {
      const [wanted, ...vectors] = await embedAll(embedder, [query, ...texts], signal);
      return vectors.map((vector) => cosine(wanted ?? vector, vector));
    },
  });
}

/** Texts of one request. */
const PORTION = 256;

/** One vector for each text. Rejects as the embedder does, and with `upstream` for fewer vectors than texts. */
export async function embedAll(
  embedder: Pick<TextEmbedder, "embed">,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<readonly Float32Array[]> {
  const all: Float32Array[] = [];
  for (let at = 0; at < texts.length; at += PORTION) {
    const portion = texts.slice(at, at + PORTION);
    const { vectors } = await embedder.embed(portion, { signal });
    if (vectors.length !== portion.length) {
      throw new Fault(
        "upstream",
        `Cannot embed: ${vectors.length} vectors for ${portion.length} texts`,
      );
    }
    all.push(...vectors);
  }
  return all;
}

/** The cosine of the angle between two vectors of one length, from -1 to 1; 0 where one is all zero. */
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
