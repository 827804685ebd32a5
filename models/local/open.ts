/** Opens a GGUF file as a language model or as an embedder. @module */
import { Fault } from "../../contracts/fault.ts";
import type { Embeddings, LanguageModel, TextEmbedder } from "../../contracts/model.ts";
import type { OpenBody } from "../../contracts/wire_model.ts";
import type { Engine } from "./engine.ts";
import { ggufInfo, type GgufParts, makeGgufModel } from "./gguf_model.ts";
import { makeInTurn } from "./in_turn.ts";
import { loadGguf, type LocalPowers } from "./load.ts";

/** Kind `gguf`. `config` is a LocalConfig; takes `weights` over. Throws as {@link loadGguf}. */
export async function openGguf(
  open: Pick<OpenBody, "config">,
  weights: readonly Uint8Array[],
  powers: LocalPowers,
): Promise<LanguageModel> {
  const { engine, ...parts } = await loadGguf(open, weights, { powers, embedding: false });
  return makeGgufModel(engine, parts);
}

/** A text that is too long is cut to this share of what fits, and tried again. */
const SHARE = 0.95;
const TRIES = 8;

/** Kind `gguf-embed`: vectors of length 1, as the file's pooling makes them. */
export async function openGgufEmbedder(
  open: Pick<OpenBody, "config">,
  weights: readonly Uint8Array[],
  powers: LocalPowers,
): Promise<TextEmbedder> {
  const { engine, ...parts } = await loadGguf(open, weights, { powers, embedding: true });
  return makeGgufEmbedder(engine, parts);
}

/** Makes an embedder on any engine: one text at a time, in the order of asking. */
export function makeGgufEmbedder(engine: Pick<Engine, "embed">, parts: GgufParts): TextEmbedder {
  const base = ggufInfo(parts);
  const info = { ...base, outputTokens: parts.header.width, supportsTools: false, knobs: [] };
  const turn = makeInTurn();

  async function vectorOf(text: string): Promise<Awaited<ReturnType<typeof engine.embed>>> {
    let cut = text;
    for (let tries = 0; tries < TRIES; tries++) {
      try {
        return await engine.embed(cut);
      } catch (error) {
        const tokens = error instanceof Fault ? error.detail?.["tokens"] : undefined;
        if (typeof tokens !== "number") throw error;
        const share = Math.min(SHARE, SHARE * info.contextTokens / tokens);
        cut = cut.slice(0, Math.floor(cut.length * share)).replace(/[\ud800-\udbff]$/, "");
      }
    }
    throw new Fault("tooLarge", "Cannot embed: the text does not fit, however it is cut");
  }

  return Object.freeze<TextEmbedder>({
    info: () => Promise.resolve(info),
    embed(texts, { signal }) {
      return turn.run(async (): Promise<Embeddings> => {
        const vectors: Float32Array[] = [];
        let inputTokens = 0;
        for (const text of texts) {
          if (signal.aborted) throw new Fault("cancelled", "Cannot embed: cancelled");
          if (text.trim() === "") {
            vectors.push(new Float32Array(info.outputTokens));
            continue;
          }
          const one = await vectorOf(text);
          vectors.push(one.vector);
          inputTokens += one.inputTokens;
        }
        return { vectors, inputTokens };
      }, signal);
    },
  });
}
