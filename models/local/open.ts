/** Opens a GGUF file as a language model or as an embedder. @module */
import { Fault } from "../../contracts/base/fault.ts";
import type { LanguageModel, TextEmbedder } from "../../contracts/model/model.ts";
import type { OpenBody } from "../../contracts/wire/wire_model.ts";
import type { Engine, EngineFile, StartEngine } from "./engine.ts";
import { contextTokensOf, type GgufParts, makeGgufEmbedder, makeGgufModel } from "./gguf_model.ts";
import { type GgufHeader, readGgufHeader } from "../../contracts/model/gguf_header.ts";
import { namedTemplate, readLocalConfig } from "./local_config.ts";

/** Kind `gguf`. `config` is a LocalConfig; takes `weights` over. Throws as {@link loadGguf}. */
export async function openGguf(
  open: Pick<OpenBody, "config">,
  weights: readonly Uint8Array[],
  powers: LocalPowers,
): Promise<LanguageModel> {
  const { engine, ...parts } = await loadGguf(open, weights, { powers, embedding: false });
  return makeGgufModel(engine, parts);
}

/** Kind `gguf-embed`: vectors of length 1, as the file's pooling makes them. */
export async function openGgufEmbedder(
  open: Pick<OpenBody, "config">,
  weights: readonly Uint8Array[],
  powers: LocalPowers,
): Promise<TextEmbedder> {
  const { engine, ...parts } = await loadGguf(open, weights, { powers, embedding: true });
  return makeGgufEmbedder(engine, parts);
}

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

/** A file in memory. */
interface WeightsFile {
  /** In bytes. */
  readonly length: number;
  /** A copy of bytes; fewer at the end of the file. Throws `RangeError` when they were let go of. */
  read(at: number, length: number): Uint8Array<ArrayBuffer>;
  /** The pieces that hold bytes from `at` to `end` have one reader less; with none left they go. */
  letGo(at: number, end: number): void;
  /** Counts a reader of the bytes from `at` to `end`, who will let go of them. */
  hold(at: number, end: number): void;
  /** Lets go of everything. */
  close(): void;
}

/**
 * Makes a file of pieces, which it takes over: a piece that is let go of is detached, so that its
 * memory is free at once, whoever else still knows the array.
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

  /** The piece that holds the byte at `at`. */
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
    // A view of a part of something larger is not ours to detach.
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
