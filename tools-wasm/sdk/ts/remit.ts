/**
 * What a script tool is handed: types for `tool.ts`, and nothing that runs.
 *
 * @example
 * ```ts
 * import type { Tools } from "./remit.ts";
 *
 * export const tools: Tools = {
 *   word_count: async (args, remit) => {
 *     const file = await remit.fs.read({ path: String(args.path) });
 *     return { words: (file.text ?? "").split(/\s+/).filter(Boolean).length };
 *   },
 * };
 * ```
 * @module
 */

/** Any JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | {
  readonly [key: string]: Json;
};

/** A part of a file, or all of it. */
export interface FilePart {
  /** Set unless `encoding` was `base64`. */
  readonly text?: string;
  readonly base64?: string;
  /** Size of the whole file. */
  readonly bytes: number;
  /** The byte after the last one of this part: `from` of the next. */
  readonly next: number;
  /** Nothing comes after this part. */
  readonly end: boolean;
  /** The file is not UTF-8 here, and what is not became U+FFFD. */
  readonly lossy?: true;
}

/** A file or folder in a listing. */
export interface FileEntry {
  /** `MOUNT/relative`. */
  readonly path: string;
  readonly kind: "file" | "folder";
  readonly bytes: number;
}

/** An answer from the web: always untrusted. */
export interface WebAnswer {
  readonly status: number;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly text?: string;
  readonly base64?: string;
  /** There was more than was asked for. */
  readonly cut: boolean;
  /** A redirect that was not followed. */
  readonly stopped?: { readonly location: string; readonly why: string };
}

/**
 * What a script may ask for. Each function answers only where the plugin's `tool.yaml` names it and the task was
 * granted it; else its promise is rejected with an `Error` whose `code` says why (`refused`, `notFound`, …).
 *
 * Host calls are made one after another, in the order in which they were begun; each is done when its function returns.
 */
export interface Remit {
  readonly fs: {
    /** At most 4 MiB at once; `from` is a byte. */
    readonly read: (
      args: {
        readonly path: string;
        readonly from?: number;
        readonly bytes?: number;
        readonly encoding?: "text" | "base64";
      },
    ) => Promise<FilePart>;
    readonly list: (
      args: { readonly path: string; readonly depth?: number; readonly limit?: number },
    ) => Promise<{ readonly entries: readonly FileEntry[]; readonly cut: boolean }>;
    /** Staged: a person reviews it with the task's other changes. */
    readonly write: (
      args: { readonly path: string; readonly text: string } | {
        readonly path: string;
        readonly base64: string;
      },
    ) => Promise<null>;
    readonly delete: (args: { readonly path: string }) => Promise<null>;
  };
  readonly http: {
    readonly fetch: (
      args: {
        readonly url: string;
        readonly method?: string;
        readonly headers?: Readonly<Record<string, string>>;
        readonly body?: string;
        readonly bytes?: number;
      },
    ) => Promise<WebAnswer>;
  };
  readonly model: {
    readonly complete: (
      args: { readonly prompt: string; readonly maxTokens?: number },
    ) => Promise<{ readonly text: string }>;
  };
  readonly memory: {
    /** Passages of the task's wiki that fit best, `k` of them (6 if absent, at most 20); each with its file and lines. */
    readonly query: (
      args: { readonly query: string; readonly k?: number },
    ) => Promise<{ readonly hits: readonly Json[]; readonly fit: Json }>;
  };
  readonly secret: {
    /** A handle for a header's value; the secret itself is put in outside the plugin. */
    readonly use: (args: { readonly name: string }) => Promise<{ readonly handle: string }>;
  };
  /**
   * Calls a tool, through the gate, and gives the text that a model would see (JSON text where a tool's result is
   * JSON). Throws an `Error` whose `code` is the outcome (`refusedByPolicy`, `deniedByUser`, …) where that is not `ok`.
   */
  readonly tool: (name: string, args?: Readonly<Record<string, Json>>) => Promise<string>;
  readonly log: (text: string) => Promise<null>;
  readonly progress: (text: string) => Promise<null>;
  /** Milliseconds since 1970, really; `Date.now()` starts on 1 January 2026 in every call. */
  readonly clock: () => Promise<number>;
  /** Random bytes, really; `Math.random()` is the same in every run. */
  readonly random: (bytes: number) => Promise<Uint8Array>;
}

/** One tool: what it returns, or what its promise resolves to, is the result, as JSON. */
// deno-lint-ignore no-explicit-any -- arguments fit the tool's own schema, which TypeScript does not see
export type Tool = (args: any, remit: Remit) => unknown;

/** What `tool.ts` exports as `tools`: its names are those of `tool.yaml`. */
export type Tools = Readonly<Record<string, Tool>>;
