/** The record of what was copied, so that changes show. @module */
import type { Digest } from "../../contracts/authority/ids.ts";
import type { Taint } from "../host/taint.ts";
import type { CopyStat } from "./copy_files.ts";

/** Maximum number of files and bytes of all copies together. */
export const COPY_FILES = 20_000;
export const COPY_BYTES = 512 * 1024 * 1024;

/** One copied file or link. */
export interface Copied {
  /** `MOUNT/relative`. */
  readonly path: string;
  readonly kind: "file" | "link";
  /** The particulars of the copy. */
  readonly stat: CopyStat;
  /** Identifies the source's state: an equal one is not copied again; undefined if unknown. */
  readonly origin: string | undefined;
  /** The content that the agent saw; undefined for a link and for a file too large to stage. */
  readonly seen: Digest | undefined;
  /** The folder's content that a change would replace; undefined for a new file. */
  readonly base: Digest | undefined;
  /** True where `seen` is staged: its bytes are stored already. */
  readonly staged: boolean;
}

/** The {@link Copied.origin} of staged content. */
export function stagedOrigin(next: Digest): string {
  return `staged:${next}`;
}

/** All copies of one run. */
export interface Copies {
  /** The folder of this generation. */
  readonly place: string;
  readonly mounts: readonly string[];
  readonly entries: ReadonlyMap<string, Copied>;
  /** Particulars of the copied folders, by path. */
  readonly folders: ReadonlyMap<string, CopyStat>;
  /** Completion time of the copies, in ms since 1970; every change by a program is later. */
  readonly sealedMs: number;
  /** Taint of all copied paths together. */
  readonly taint: Taint;
  /** Digests of the copied contents. */
  readonly contents: ReadonlySet<string>;
  readonly bytes: number;
  readonly withheld: number;
}

/**
 * Tells whether a file or folder is certainly unchanged since the copies were complete. One made in
 * the same second may have been changed and its times reset, so it does not count as unchanged.
 */
export function isSame(was: CopyStat, now: CopyStat | undefined, sealedMs: number): boolean {
  return was.mark === now?.mark && was.changedMs < sealedMs;
}
