/** Opens weights with llama.cpp's native engine: kind `gguf`, `engine: native`. Used by main.ts. @module */
import { Fault } from "../../contracts/base/fault.ts";
import type { LanguageModel, TextEmbedder } from "../../contracts/model/model.ts";
import type { OpenBody } from "../../contracts/wire/wire_model.ts";
import { type GgufHeader, readGgufHeader } from "../../contracts/model/gguf_header.ts";
import { contextTokensOf, makeGgufEmbedder, makeGgufModel } from "../local/gguf_model.ts";
import type { Loaded } from "../local/open.ts";
import { namedTemplate, readLocalConfig } from "../local/local_config.ts";
import type { NativePowers } from "./addon_powers.ts";
import { startNative } from "./engine.ts";

/** Memory and number of cached prompt prefixes, at most. */
const CACHE_BYTES = 512 * 1024 * 1024;
const MAX_SEQUENCES = 4;
/** Bytes per cached number: 16-bit floats. */
const CACHE_NUMBER_BYTES = 2;
/** All layers, for a GPU build. */
const ALL_LAYERS = 9_999;

/**
 * Opens the weights at `native.weights` with the addon at `native.addon`. Answers equal those of the engine
 * without permissions, but come faster: threads, native instructions, cached prefixes. `stops` receives a
 * function that stops the idle reading, to be awaited before the process exits. Throws `invalidInput` for a
 * wrong configuration or file, `unavailable` when the addon does not load.
 */
export async function openNative(
  open: Pick<OpenBody, "config" | "native">,
  powers: NativePowers,
  stops?: (stop: () => Promise<void>) => void,
): Promise<LanguageModel> {
  const { engine, ...parts } = await loadNative(open, powers, { embedding: false, stops });
  return makeGgufModel(engine, parts);
}

/** Opens kind `gguf-embed`. Throws like {@link openNative}. */
export async function openNativeEmbedder(
  open: Pick<OpenBody, "config" | "native">,
  powers: NativePowers,
): Promise<TextEmbedder> {
  const { engine, ...parts } = await loadNative(open, powers, { embedding: true });
  return makeGgufEmbedder(engine, parts);
}

async function loadNative(
  { config, native }: Pick<OpenBody, "config" | "native">,
  powers: NativePowers,
  { embedding, stops }: {
    readonly embedding: boolean;
    readonly stops?: ((stop: () => Promise<void>) => void) | undefined;
  },
): Promise<Loaded> {
  const settings = readLocalConfig(config);
  if (native === undefined) {
    throw new Fault("invalidInput", "Cannot open the accelerated model: its files are not named");
  }
  const header = headerOf(native.weights, settings.bytes, powers);
  const contextTokens = contextTokensOf({ header, settings });
  const template = embedding ? undefined : namedTemplate(settings, header.chatTemplate);
  let complaint: string | undefined;
  const { gpu, gpuLayers = ALL_LAYERS } = native;
  const addon = await powers.load(native.addon, { gpu, complain: (why) => complaint = why });
  const engine = await startNative(addon, {
    weights: native.weights,
    template: template?.jinja ?? header.chatTemplate ?? "",
    contextTokens,
    embedding,
    thoughts: settings.dialect?.includes("think") === true,
    sequences: embedding ? 1 : sequencesOf(header, contextTokens),
    gpuLayers: gpu === undefined ? 0 : gpuLayers,
    complaint: () => complaint,
    stops,
  });
  return { engine, header, settings, template, backend: `gguf-${gpu ?? "native"}` };
}

/** Parses the header before llama.cpp opens the file. */
function headerOf(path: string, bytes: number, powers: NativePowers): GgufHeader {
  using file = powers.open(path);
  if (file.length !== bytes) {
    const why = `the file has ${file.length} bytes, ${bytes} were named`;
    throw new Fault("invalidInput", `Cannot open the accelerated model: ${why}`);
  }
  return readGgufHeader(file);
}

function sequencesOf({ layers, kept }: GgufHeader, contextTokens: number): number {
  const each = layers * kept * CACHE_NUMBER_BYTES * contextTokens;
  return Math.max(1, Math.min(MAX_SEQUENCES, Math.floor(CACHE_BYTES / each)));
}
