/** Vectors of any number of texts, in portions that an embedder takes. @module */
import type { TextEmbedder } from "../../contracts/model.ts";
import { Fault } from "../../contracts/fault.ts";

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
