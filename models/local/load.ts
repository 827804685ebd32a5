/** From pieces of weights to an engine that runs them. @module */
import { Fault } from "../../contracts/fault.ts";
import type { OpenBody } from "../../contracts/wire_model.ts";
import type { Engine, EngineFile, StartEngine } from "./engine.ts";
import { type GgufHeader, readGgufHeader } from "../../contracts/gguf_header.ts";
import { contextTokensOf, type GgufParts } from "./gguf_model.ts";
import { namedTemplate, readLocalConfig } from "./local_config.ts";
import { makeWeightsFile, type WeightsFile } from "./weights_file.ts";

/** What a local model is opened with. */
export interface LocalPowers {
  readonly startEngine: StartEngine;
  /** Hears that an engine is beyond use: the process may as well end. */
  readonly onEngineEnd?: (why: string) => void;
}

/** A loaded model's engine, and what it was loaded from. */
export interface Loaded extends GgufParts {
  readonly engine: Engine;
}

/**
 * Looks at the header, starts the engine, and lets go of each piece as soon as it was read: weights
 * are in memory twice only in part. Takes the pieces over.
 *
 * @throws Fault `invalidInput` when configuration or file are wrong, `upstream` when the engine ended.
 */
export async function loadGguf(
  { config }: Pick<OpenBody, "config">,
  weights: readonly Uint8Array[],
  { powers, embedding }: { readonly powers: LocalPowers; readonly embedding: boolean },
): Promise<Loaded> {
  const settings = readLocalConfig(config);
  const file = makeWeightsFile(weights);
  try {
    if (file.length !== settings.bytes) {
      const why = `${file.length} bytes came, ${settings.bytes} were named`;
      throw new Fault("invalidInput", `Cannot open the local model: ${why}`);
    }
    const header = readGgufHeader(file);
    const contextTokens = contextTokensOf({ header, settings });
    const template = embedding ? undefined : namedTemplate(settings, header.chatTemplate);
    const engine = await powers.startEngine(readingOnce(file, header), {
      contextTokens,
      embedding,
      thoughts: settings.dialect?.includes("think") === true,
      template: template?.jinja,
      end: header.end,
    });
    void engine.ended.then(powers.onEngineEnd ?? (() => {}));
    return { engine, header, settings, template, backend: "gguf-wasm" };
  } catch (error) {
    if (error instanceof Fault && error.code === "upstream") powers.onEngineEnd?.(error.message);
    throw error;
  } finally {
    file.close();
  }
}

/** The tensor that an engine reads a second time where there is no other one for its output. */
const TWICE = "token_embd.weight";

/**
 * The file for one reader, who reads each tensor once: what was read is let go of. A read that begins
 * with a tensor ends with it, as if the file did, so that none is read as another's neighbour.
 */
function readingOnce(file: WeightsFile, { tensors }: GgufHeader): EngineFile {
  const ends = new Map<number, number>();
  const tied = !tensors.some(({ name }) => name === "output.weight");
  let first = file.length;
  for (const { name, at, end } of tensors) {
    file.hold(at, end);
    first = Math.min(first, at);
    if (!tied || name !== TWICE) ends.set(at, end);
  }
  // The header is read again and again until the end.
  file.hold(0, first);
  return {
    length: file.length,
    read(at, length) {
      const end = ends.get(at);
      if (end === undefined) return file.read(at, length);
      const bytes = file.read(at, Math.min(length, end - at));
      if (bytes.length === end - at) {
        ends.delete(at);
        file.letGo(at, end);
      }
      return bytes;
    },
  };
}
