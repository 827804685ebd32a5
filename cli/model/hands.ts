/** What the commands over models are handed: a way to ask servers, weights on the disk, engines. @module */
import type { HeaderFile } from "../../contracts/gguf_cursor.ts";
import type { NativeBuild } from "../../contracts/mod.ts";
import type { TextEmbedder } from "../../contracts/model.ts";
import type { Classifier, Reranker } from "../../contracts/model_aux.ts";

/** An answer whose body is read once. */
export interface HttpAnswer {
  readonly status: number;
  header(name: string): string | undefined;
  /** Rejects with a fault `upstream` when it breaks off, or when no byte comes for long. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Drops what was not read. */
  cancel(): Promise<void>;
}

/** Asks servers, with this process's own network. Redirects are answers like any other. */
export interface ModelHttp {
  /** Rejects with a fault `upstream` that says why; `cancelled` after `signal`. */
  get(
    url: string,
    options: {
      readonly headers?: Readonly<Record<string, string>>;
      readonly signal?: AbortSignal;
      /** Milliseconds until an answer must have begun. */
      readonly within?: number;
    },
  ): Promise<HttpAnswer>;
  /** Whether somebody listens at a host's port; asks for at most `ms` milliseconds. */
  knock(at: { readonly host: string; readonly port: number }, ms: number): Promise<boolean>;
}

/** A file of weights, as the disk knows it. */
export interface WeightsStat {
  readonly bytes: number;
  /** Changes whenever the file does, as far as the disk tells. */
  readonly mark: string;
}

/** How a long piece of work is going on, in bytes. */
export type OnBytes = (done: number) => void;

/** Large files of the operator's own: they never are in memory whole. */
export interface WeightsDisk {
  /** Undefined when there is no such file. */
  stat(path: string): WeightsStat | undefined;
  /** Gives a file to read from, in pieces, while `work` runs. */
  reading<T>(path: string, work: (file: HeaderFile) => T): T;
  /** SHA-256, hex. */
  hash(
    path: string,
    options: { readonly onBytes: OnBytes; readonly signal?: AbortSignal },
  ): Promise<string>;
  /**
   * Copies a file and hashes what it copies. The copy is whole or not there.
   * Throws `storeFull` when the disk is.
   */
  copy(
    from: string,
    to: string,
    options: { readonly onBytes: OnBytes; readonly signal?: AbortSignal },
  ): Promise<{ readonly sha256: string; readonly bytes: number }>;
  /** Writes from `at` on, cutting off what lies behind. Throws `storeFull` when the disk is full. */
  writer(path: string, at: number): WeightsWriter;
  /** Keeps others from the same work, until it is released or this process ends; undefined: another one holds it. */
  hold(path: string): (() => void) | undefined;
  /** Gives a finished file its name in the store: synced, 0400, by rename. */
  keep(from: string, to: string): void;
}

/** An open file that grows. */
export interface WeightsWriter {
  write(bytes: Uint8Array): void;
  close(): void;
}

/** A program of a model service, built when it is first needed. */
export type ModelProgram = "remote" | "local" | "native";

/** One build of llama.cpp as native code, fetched once. */
export interface NativeEngine {
  /** What it is on this machine; undefined where there is none for it. */
  readonly offer: { readonly package: string; readonly about: string } | undefined;
  /** The folder in which it lies; undefined until it was fetched, or when it was changed since. */
  found(): string | undefined;
  /** Fetches and checks it. Throws `unavailable`, `refused` when it is not what was pinned. */
  fetch(): Promise<{ readonly folder: string; readonly bytes: number; readonly files: number }>;
}

/** Makes vectors, wherever it runs. */
type Embeds = Pick<TextEmbedder, "embed">;

/** What can be done with vectors, whoever made them. Advice, never a permission. */
export interface VectorUses {
  makeReranker(embedder: Embeds): Reranker;
  makeClassifier(embedder: Embeds): Classifier;
  /** Of the angle between two vectors, -1 to 1. */
  cosine(a: Float32Array, b: Float32Array): number;
  embedAll(
    embedder: Embeds,
    texts: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly Float32Array[]>;
}

/** Everything about models that is not on the ordinary disk. */
export interface ModelHands {
  readonly http: ModelHttp;
  readonly weights: WeightsDisk;
  engine(build: NativeBuild): NativeEngine;
  /**
   * Builds a service's program unless these sources have it. For a kernel of other sources (by its
   * `harness`) it must be there. Throws `unavailable`, `conflict`.
   */
  provideProgram(program: ModelProgram, harness?: string): Promise<void>;
  /** Loaded when it is needed. */
  vectors(): Promise<VectorUses>;
}
