/** The part of a script's `remit` that these programs use. @module */

/** One piece of a file. */
export interface Piece {
  readonly text?: string;
  readonly base64?: string;
  /** Bytes of the whole file. */
  readonly bytes: number;
  /** Byte offset of the next piece of text. */
  readonly next?: number;
  /** Whether some bytes were not UTF-8. */
  readonly lossy?: boolean;
}

/** One entry of a folder. */
export interface Entry {
  /** `MOUNT/relative`. */
  readonly path: string;
  readonly kind: "file" | "folder";
  readonly bytes: number;
}

/** The contents of a folder. */
export interface Listing {
  readonly entries: readonly Entry[];
  /** Whether entries are missing: a folder could not be read, or there are more. */
  readonly cut?: boolean;
}

/** Files of the task; the kernel checks each call. */
export interface Files {
  read(
    args: { path: string; from?: number; bytes?: number; encoding?: "text" | "base64" },
  ): Promise<Piece>;
  list(
    args: { path: string; depth?: number; limit?: number },
  ): Promise<Listing>;
  write(args: { path: string; text: string }): Promise<unknown>;
}

/** The functions available to programs. */
export interface Remit {
  readonly fs: Files;
  /** Milliseconds since 1970, bare or as `now`. */
  clock(): Promise<number | { readonly now: number }>;
}
