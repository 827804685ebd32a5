/**
 * The types of a script tool's `remit`; this file has no code.
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
  /** Present unless `encoding` was `base64`. */
  readonly text?: string;
  readonly base64?: string;
  /** Bytes of the whole file. */
  readonly bytes: number;
  /** The offset after this part's last byte: `from` of the next part. */
  readonly next: number;
  /** Whether this is the last part. */
  readonly end: boolean;
  /** Present when bytes of this part were not UTF-8 and became U+FFFD. */
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
  /** Whether the answer was longer than requested. */
  readonly cut: boolean;
  /** A redirect that was not followed. */
  readonly stopped?: { readonly location: string; readonly why: string };
}

/**
 * The requests of a script. Each function works only if the plugin's `tool.yaml` names it and the
 * task was granted it; otherwise its promise is rejected with an `Error` whose `code` gives the
 * reason (`refused`, `notFound`, …).
 *
 * Host calls run one after another in the order of their calls; each is complete when its function
 * returns.
 */
export interface Remit {
  readonly fs: {
    /** At most 4 MiB at once; `from` is a byte offset. */
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
    /** The `k` best passages of the task's wiki (default 6, at most 20), with file and lines. */
    readonly query: (
      args: { readonly query: string; readonly k?: number },
    ) => Promise<{ readonly hits: readonly Json[]; readonly fit: Json }>;
  };
  readonly secret: {
    /** A handle for a header's value; the secret itself is inserted outside the plugin. */
    readonly use: (args: { readonly name: string }) => Promise<{ readonly handle: string }>;
  };
  /**
   * Calls a tool through the gate and returns the text that a model would see (JSON text for a JSON
   * result). Throws an `Error` whose `code` is the outcome (`refusedByPolicy`, `deniedByUser`, …)
   * unless it is `ok`.
   */
  readonly tool: (name: string, args?: Readonly<Record<string, Json>>) => Promise<string>;
  readonly log: (text: string) => Promise<null>;
  readonly progress: (text: string) => Promise<null>;
  /** The real time, ms since 1970; `Date.now()` starts on 1 January 2026 in every call. */
  readonly clock: () => Promise<number>;
  /** Truly random bytes; `Math.random()` is the same in every run. */
  readonly random: (bytes: number) => Promise<Uint8Array>;
}

/** One tool: its return value, or the value of its promise, is the result, as JSON. */
// deno-lint-ignore no-explicit-any -- arguments fit the tool's own schema, which TypeScript does not see
export type Tool = (args: any, remit: Remit) => unknown;

/** The export `tools` of `tool.ts`: its names are those of `tool.yaml`. */
export type Tools = Readonly<Record<string, Tool>>;
