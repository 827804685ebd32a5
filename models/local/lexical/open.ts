/** Opens the built-in embedder: lexical and semantic, no neural network. No rights, no settings. @module */
import { Fault } from "../../../contracts/fault.ts";
import type { Embeddings, ModelInfo, TextEmbedder } from "../../../contracts/model.ts";
import type { OpenBody } from "../../../contracts/wire_model.ts";
import { checkTexts } from "../../check_texts.ts";
import { type Lexicon, parseLexicon } from "./lexicon_file.ts";
import { MOST_WORDS, textVector } from "./text_vector.ts";
import { joinBytes } from "../../../port/join_bytes.ts";

/**
 * Opens the lexicon in `weights` (its bytes in pieces). `open.config` is JSON of LexicalConfig, whose
 * digest the kernel has checked. Throws `invalidInput` for another config or another file.
 */
export function openLexical(
  open: Pick<OpenBody, "config">,
  weights: readonly Uint8Array[],
): Promise<TextEmbedder> {
  return Promise.try(() => makeLexical(parseLexicon(joinBytes(weights)), digestOf(open.config)));
}

/** Makes the embedder of a lexicon; `digest` (hex) becomes its id. */
function makeLexical(lexicon: Lexicon, digest: string): TextEmbedder {
  const info: ModelInfo = Object.freeze({
    id: `lexical:${digest.slice(0, 16)}`,
    displayName: "built-in lexical-semantic embedder",
    arch: "lexical",
    contextTokens: MOST_WORDS,
    outputTokens: lexicon.dimensions,
    backend: "lexical",
    quantisation: "int8",
    supportsTools: false,
    remote: false,
  });
  return Object.freeze<TextEmbedder>({
    info: () => Promise.resolve(info),
    embed(texts, { signal }): Promise<Embeddings> {
      return Promise.try(() => {
        checkTexts(texts);
        if (signal.aborted) throw new Fault("cancelled", "Cannot embed: cancelled");
        const made = texts.map((text) => textVector(lexicon, text));
        return {
          vectors: made.map(({ vector }) => vector),
          inputTokens: made.reduce((sum, { words }) => sum + words, 0),
        };
      });
    },
  });
}

/** Digest of the weights, as the kernel checked it. */
function digestOf(config: string): string {
  let weights: unknown;
  try {
    const value: unknown = JSON.parse(config);
    weights = typeof value === "object" && value !== null && "weights" in value
      ? value.weights
      : undefined;
  } catch {
    // The same fault as for any other config that is none.
  }
  if (typeof weights !== "string" || !/^[0-9a-f]{64}$/.test(weights)) {
    throw new Fault(
      "invalidInput",
      "Cannot open the lexical embedder: its config names no weights",
    );
  }
  return weights;
}
