/** What was copied, remembered so that a change shows. @module */
import type { Digest } from "../../contracts/authority/ids.ts";
import type { Taint } from "../host/taint.ts";
import type { CopyStat } from "./copy_files.ts";

/** Most files, and bytes, of all copies together. */
export const COPY_FILES = 20_000;
export const COPY_BYTES = 512 * 1024 * 1024;

/** One thing that was copied. */
export interface Copied {
  /** `MOUNT/relative`. */
  readonly path: string;
  readonly kind: "file" | "link";
  /** Its particulars in the copy. */
  readonly stat: CopyStat;
  /** What it was made from, so that it need not be made again; undefined where nothing tells. */
  readonly origin: string | undefined;
  /** What the agent saw; undefined for a link, and for a file too large to be staged. */
  readonly seen: Digest | undefined;
  /** The folder's content that a change would be made for; undefined for a new file. */
  readonly base: Digest | undefined;
  /** Set where `seen` was staged: its bytes are kept already. */
  readonly staged: boolean;
}

/** The {@link Copied.origin} of staged content. */
export function stagedOrigin(next: Digest): string {
  return `staged:${next}`;
}

/** All of it. */
export interface Copies {
  /** The folder of this generation. */
  readonly place: string;
  readonly mounts: readonly string[];
  readonly entries: ReadonlyMap<string, Copied>;
  /** Particulars of the folders that were made, by path. */
  readonly folders: ReadonlyMap<string, CopyStat>;
  /** When they were ready; all that a program changes is changed later. */
  readonly sealedMs: number;
  /** Of the paths of all that was copied. */
  readonly taint: Taint;
  /** Contents that were copied, by digest. */
  readonly contents: ReadonlySet<string>;
  readonly bytes: number;
  readonly withheld: number;
}

/**
 * Tells whether a thing that stands there now surely is as it was when the copies were ready: one
 * that was made in that very second might have been changed, and its times put back.
 */
export function isSame(was: CopyStat, now: CopyStat | undefined, sealedMs: number): boolean {
  return was.mark === now?.mark && was.changedMs < sealedMs;
}
