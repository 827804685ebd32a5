/** The part of a script's `remit` that these programs use. @module */
import type { FileEntry, FilePart, Remit as Whole } from "../sdk/mod.ts";

/** One piece of a file. */
export type Piece = FilePart;

/** One entry of a folder. */
export type Entry = FileEntry;

/** Files of the task; the kernel checks each call. */
export type Files = Pick<Whole["fs"], "read" | "list" | "write">;

/** The contents of a folder. */
export type Listing = Awaited<ReturnType<Files["list"]>>;

/** The functions available to programs. */
export interface Remit extends Pick<Whole, "clock"> {
  readonly fs: Files;
}
