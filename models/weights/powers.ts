/** Powers of the store of weights: files, HTTP, the operator. @module */
import type { HeaderFile } from "../../contracts/model/gguf_cursor.ts";

/** The operator's small files beside the weights. */
export interface EntryFiles {
  /** Undefined for a missing file. */
  read(path: string): Uint8Array | undefined;
  /** Names in a folder; empty for a missing one. */
  list(path: string): readonly string[];
  /** Atomic; `mode` is 0600 by default. */
  write(path: string, bytes: Uint8Array | string, options?: { readonly mode?: number }): void;
  remove(path: string): void;
}

/** The absolute path of the store. */
export interface WeightsPlace {
  readonly models: string;
}

/** The operator, the clock, and names for drafts. */
export interface WeightsOwner {
  env(name: string): string | undefined;
  readonly uid: number;
  /** Milliseconds since 1970. */
  now(): number;
  /** A new id with prefix `kind`. */
  id(kind: string): string;
}

/** Reports to a person. */
export interface WeightsReport {
  say(line: string): void;
  /** Replaces the last hint; empty: removes it. */
  hint(line: string): void;
}

/** An answer whose body is read once. */
export interface HttpAnswer {
  readonly status: number;
  header(name: string): string | undefined;
  /** Rejects with `upstream` when the answer breaks off or stalls. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Discards the unread rest. */
  cancel(): Promise<void>;
}

/** HTTP with this process's network permission. Redirects are not followed. */
export interface ModelHttp {
  /** Rejects with `upstream` and the reason; `cancelled` after `signal`. */
  get(
    url: string,
    options: {
      readonly headers?: Readonly<Record<string, string>>;
      readonly signal?: AbortSignal;
      /** Milliseconds until the answer must begin. */
      readonly within?: number;
    },
  ): Promise<HttpAnswer>;
  /** Whether a port accepts connections; waits at most `ms` milliseconds. */
  canConnect(at: { readonly host: string; readonly port: number }, ms: number): Promise<boolean>;
}

/** Size and change marker of a file of weights. */
export interface WeightsStat {
  readonly bytes: number;
  /** Changes whenever the file does, as far as its metadata shows. */
  readonly mark: string;
}

/** Receives the bytes done so far. */
export type OnBytes = (done: number) => void;

/** The operator's large files, which are never in memory as a whole. */
export interface WeightsDisk {
  /** Undefined for a missing file. */
  stat(path: string): WeightsStat | undefined;
  /** Opens a file for reading in pieces while `work` runs. */
  reading<T>(path: string, work: (file: HeaderFile) => T): T;
  /** SHA-256, hex. */
  hash(
    path: string,
    options: { readonly onBytes: OnBytes; readonly signal?: AbortSignal },
  ): Promise<string>;
  /** Copies a file, whole or not at all, and hashes the copied bytes. Throws `storeFull` when the disk is full. */
  copy(
    from: string,
    to: string,
    options: { readonly onBytes: OnBytes; readonly signal?: AbortSignal },
  ): Promise<{ readonly sha256: string; readonly bytes: number }>;
  /** Writes from `at` on; truncates the file there. Throws `storeFull` when the disk is full. */
  writer(path: string, at: number): WeightsWriter;
  /** Takes an exclusive lock until it is released or this process ends; undefined if it is taken. */
  hold(path: string): (() => void) | undefined;
  /** Renames a finished file into the store: synced, mode 0400. */
  keep(from: string, to: string): void;
}

/** An open file that is appended to. */
export interface WeightsWriter {
  write(bytes: Uint8Array): void;
  close(): void;
}

/** A build of llama.cpp as native code. */
export interface NativeEngine {
  /** The build for this machine; undefined for none. */
  readonly offer: { readonly package: string; readonly about: string } | undefined;
  /** The folder of the build; undefined if it was not fetched, or was changed since. */
  found(): string | undefined;
  /** Fetches and verifies the build. Throws `unavailable`, and `refused` if it differs from the pinned one. */
  fetch(): Promise<{ readonly folder: string; readonly bytes: number; readonly files: number }>;
}
