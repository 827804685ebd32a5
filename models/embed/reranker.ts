/** Puts texts in order by their vectors. @module */
import type { Reranker } from "../../contracts/model_aux.ts";
import type { TextEmbedder } from "../../contracts/model.ts";
import { cosine } from "./cosine.ts";
import { embedAll } from "./embed_all.ts";

/** Makes a reranker: the score of a text is the cosine between it and the query, from -1 to 1. */
export function makeReranker(embedder: Pick<TextEmbedder, "embed">): Reranker {
  return Object.freeze<Reranker>({
    async rank(query, texts, { signal }): Promise<readonly number[]> {
      const [wanted, ...vectors] = await embedAll(embedder, [query, ...texts], signal);
      return vectors.map((vector) => cosine(wanted ?? vector, vector));
    },
  });
}
