/** What was copied, remembered so that a change shows. @module */
import type { Digest } from "../../contracts/ids.ts";
import type { Taint } from "../host/taint.ts";

/** Most files, and bytes, of all copies together. */
export const COPY_FILES = 20_000;
/** See {@link COPY_FILES}. */
export const COPY_BYTES = 512 * 1024 * 1024;

/** One thing that was copied. */
export interface Copied {
  /** `MOUNT/relative`. */
  readonly path: string;
  readonly kind: "file" | "link";
  /** Its mark in the copy. */
  readonly mark: string;
  /** What the agent saw; undefined for a link, and for a file too large to be staged. */
  readonly seen: Digest | undefined;
  /** The folder's content that a change would be made for; undefined for a new file. */
  readonly base: Digest | undefined;
  /** Set where `seen` was staged: its bytes are kept already. */
  readonly staged: boolean;
}

/** All of it. */
export interface Copies {
  readonly work: string;
  readonly mounts: readonly string[];
  readonly entries: ReadonlyMap<string, Copied>;
  readonly taint: Taint;
  readonly bytes: number;
  readonly withheld: number;
}
