/** The part of a script's `remit` that these programs use. @module */

/** One piece of a file. */
export interface Piece {
  readonly text?: string;
  readonly base64?: string;
  /** Size of the whole file. */
  readonly bytes: number;
  /** Where the next piece of text begins, a byte offset. */
  readonly next?: number;
  /** Set when bytes were not UTF-8. */
  readonly lossy?: boolean;
}

/** One thing in a folder. */
export interface Entry {
  /** `MOUNT/relative`. */
  readonly path: string;
  readonly kind: "file" | "folder";
  readonly bytes: number;
}

/** What lies in a folder. */
export interface Listing {
  readonly entries: readonly Entry[];
  /** Set when something was left out: a folder could not be read, or there is more. */
  readonly cut?: boolean;
}

/** Files of the task: each call is checked by the kernel. */
export interface Files {
  read(
    args: { path: string; from?: number; bytes?: number; encoding?: "text" | "base64" },
  ): Promise<Piece>;
  list(
    args: { path: string; depth?: number; limit?: number },
  ): Promise<Listing>;
  write(args: { path: string; text: string }): Promise<unknown>;
}

/** What the programs are handed. */
export interface Remit {
  readonly fs: Files;
  /** Milliseconds since 1970, bare or as `now`. */
  clock(): Promise<number | { readonly now: number }>;
}
