/** What the store of weights is handed: files, a way to ask servers, who is asking. @module */
import type { HeaderFile } from "../../contracts/model/gguf_cursor.ts";

/** Small files of the operator's own, beside the weights. */
export interface EntryFiles {
  /** Undefined when there is no such file. */
  read(path: string): Uint8Array | undefined;
  /** Names in a folder; empty when there is none. */
  list(path: string): readonly string[];
  /** Whole or not at all; `mode` is 0600 when not given. */
  write(path: string, bytes: Uint8Array | string, options?: { readonly mode?: number }): void;
  remove(path: string): void;
}

/** The folder of the store: an absolute path. */
export interface WeightsPlace {
  readonly models: string;
}

/** Who takes weights in, when, and names for drafts. */
export interface WeightsOwner {
  env(name: string): string | undefined;
  readonly uid: number;
  /** Milliseconds since 1970. */
  now(): number;
  /** An id that begins with `kind`. */
  id(kind: string): string;
}

/** Tells a person how the work goes on. */
export interface WeightsReport {
  say(line: string): void;
  /** Replaces what the last hint said; empty: nothing. */
  hint(line: string): void;
}

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

/** One build of llama.cpp as native code, fetched once. */
export interface NativeEngine {
  /** What it is on this machine; undefined where there is none for it. */
  readonly offer: { readonly package: string; readonly about: string } | undefined;
  /** The folder in which it lies; undefined until it was fetched, or when it was changed since. */
  found(): string | undefined;
  /** Fetches and checks it. Throws `unavailable`, `refused` when it is not what was pinned. */
  fetch(): Promise<{ readonly folder: string; readonly bytes: number; readonly files: number }>;
}
