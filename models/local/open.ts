/** Opens a GGUF file as a language model or as an embedder. Used by main.ts and models/native/open.ts. @module */
import { Fault } from "../../contracts/base/fault.ts";
import type { LanguageModel, TextEmbedder } from "../../contracts/model/model.ts";
import type { OpenBody } from "../../contracts/wire/wire_model.ts";
import type { Engine, EngineFile, StartEngine } from "./engine.ts";
import { contextTokensOf, type GgufParts, makeGgufEmbedder, makeGgufModel } from "./gguf_model.ts";
import { type GgufHeader, readGgufHeader } from "../../contracts/model/gguf_header.ts";
import { namedTemplate, readLocalConfig } from "./local_config.ts";

/** Opens kind `gguf`. `config` is a LocalConfig. Takes ownership of `weights`. Throws like {@link loadGguf}. */
export async function openGguf(
  open: Pick<OpenBody, "config">,
  weights: readonly Uint8Array[],
  powers: LocalPowers,
): Promise<LanguageModel> {
  const { engine, ...parts } = await loadGguf(open, weights, { powers, embedding: false });
  return makeGgufModel(engine, parts);
}

/** Opens kind `gguf-embed`: unit vectors, pooled as the file says. */
export async function openGgufEmbedder(
  open: Pick<OpenBody, "config">,
  weights: readonly Uint8Array[],
  powers: LocalPowers,
): Promise<TextEmbedder> {
  const { engine, ...parts } = await loadGguf(open, weights, { powers, embedding: true });
  return makeGgufEmbedder(engine, parts);
}

/** Powers of a local model. */
export interface LocalPowers {
  readonly startEngine: StartEngine;
  /** Called when the engine is unusable, so that the process can end. */
  readonly onEngineEnd?: (why: string) => void;
}

/** A loaded engine, and the parts it was loaded from. */
export interface Loaded extends GgufParts {
  readonly engine: Engine;
}

/**
 * Parses the header and starts the engine. Each piece is freed as soon as it was read, so that the weights
 * are never in memory twice as a whole. Takes ownership of the pieces.
 *
 * @throws Fault `invalidInput` for a wrong configuration or file, `upstream` when the engine ended
 */
async function loadGguf(
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

/** The engine reads this tensor a second time where the file has no separate output tensor. */
const TIED_TENSOR = "token_embd.weight";

/**
 * The file for a reader that reads each tensor once: a tensor is freed after its read. A read that begins at
 * a tensor ends with it, so that no tensor is read as part of its neighbour.
 */
function readingOnce(file: WeightsFile, { tensors }: GgufHeader): EngineFile {
  const ends = new Map<number, number>();
  const tied = !tensors.some(({ name }) => name === "output.weight");
  let first = file.length;
  for (const { name, at, end } of tensors) {
    file.hold(at, end);
    first = Math.min(first, at);
    if (!tied || name !== TIED_TENSOR) ends.set(at, end);
  }
  // The header is read repeatedly until the end.
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

/** A file in memory. */
interface WeightsFile {
  /** In bytes. */
  readonly length: number;
  /** A copy of the bytes; fewer at the end of the file. Throws `RangeError` for bytes that were freed. */
  read(at: number, length: number): Uint8Array<ArrayBuffer>;
  /** Removes a reader from the pieces between `at` and `end`; a piece without readers is freed. */
  letGo(at: number, end: number): void;
  /** Adds a reader to the pieces between `at` and `end`; the reader must call `letGo`. */
  hold(at: number, end: number): void;
  /** Frees everything. */
  close(): void;
}

/**
 * Makes a file of pieces and takes ownership of them. A freed piece is detached, which releases its memory at
 * once even if others still reference the array.
 */
export function makeWeightsFile(pieces: readonly Uint8Array[]): WeightsFile {
  const starts: number[] = [];
  let length = 0;
  for (const piece of pieces) {
    starts.push(length);
    length += piece.length;
  }
  const held: (Uint8Array | undefined)[] = [...pieces];
  const readers = new Array<number>(pieces.length).fill(0);

  /** Index of the piece that holds the byte at `at`. */
  function pieceAt(at: number): number {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= at) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  function each(at: number, end: number, work: (piece: number) => void): void {
    if (end <= at || at >= length) return;
    for (let piece = pieceAt(at); piece < pieces.length && (starts[piece] ?? 0) < end; piece++) {
      work(piece);
    }
  }

  function free(piece: number): void {
    const bytes = held[piece];
    held[piece] = undefined;
    // A view of part of a larger buffer must not be detached.
    if (bytes?.buffer instanceof ArrayBuffer && bytes.length === bytes.buffer.byteLength) {
      bytes.buffer.transfer(0);
    }
  }

  return Object.freeze<WeightsFile>({
    length,
    read(at, wanted) {
      const end = Math.min(length, at + wanted);
      const copy = new Uint8Array(Math.max(0, end - at));
      each(at, end, (piece) => {
        const bytes = held[piece];
        if (bytes === undefined) throw new RangeError(`Cannot read weights at ${at}: let go of`);
        const start = starts[piece] ?? 0;
        const from = Math.max(at, start);
        const to = Math.min(end, start + bytes.length);
        copy.set(bytes.subarray(from - start, to - start), from - at);
      });
      return copy;
    },
    hold(at, end) {
      each(at, end, (piece) => {
        readers[piece] = (readers[piece] ?? 0) + 1;
      });
    },
    letGo(at, end) {
      each(at, end, (piece) => {
        const left = (readers[piece] ?? 0) - 1;
        readers[piece] = left;
        if (left === 0) free(piece);
      });
    },
    close() {
      for (let piece = 0; piece < held.length; piece++) free(piece);
    },
  });
}
