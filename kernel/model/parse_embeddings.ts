/** Vectors as a model service gives them: semi-trusted bytes, parsed once. @module */
import { type Embeddings, Fault, type Json } from "../../contracts/mod.ts";

/**
 * Parses the answer to `embed` (contracts/wire_model.ts).
 *
 * @throws Fault `upstream` for another number of vectors, another length, or a number that is none
 */
export function parseEmbeddings(
  answer: Json,
  { texts, dimensions }: { readonly texts: number; readonly dimensions: number },
): Embeddings {
  const broken = (why: string): Fault =>
    new Fault("upstream", `Cannot read the embedder's answer: ${why}`);
  if (answer === null || typeof answer !== "object" || Array.isArray(answer)) {
    throw broken("it is no object");
  }
  const { vectors, inputTokens } = answer as { vectors?: unknown; inputTokens?: unknown };
  if (!Array.isArray(vectors) || vectors.length !== texts) {
    throw broken(`there are not ${texts} vectors`);
  }
  if (typeof inputTokens !== "number" || !Number.isSafeInteger(inputTokens) || inputTokens < 0) {
    throw broken("its count of tokens is none");
  }
  return { vectors: vectors.map((each) => parseVector(each, dimensions, broken)), inputTokens };
}

function parseVector(
  text: unknown,
  dimensions: number,
  broken: (why: string) => Fault,
): Float32Array {
  if (typeof text !== "string" || text.length !== Math.ceil(dimensions * 4 / 3) * 4) {
    throw broken(`a vector is not of ${dimensions} numbers`);
  }
  let bytes: Uint8Array;
  try {
    bytes = Uint8Array.fromBase64(text);
  } catch {
    throw broken("a vector is not base64");
  }
  if (bytes.length !== dimensions * 4) throw broken(`a vector is not of ${dimensions} numbers`);
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const vector = Float32Array.from(
    { length: dimensions },
    (_, n) => view.getFloat32(n * 4, true),
  );
  if (!vector.every(Number.isFinite)) throw broken("a vector holds what is no number");
  return vector;
}
