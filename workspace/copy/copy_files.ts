/** What the copy service may do with files, beyond looking at mounts. @module */
import { type Entry, FsTrouble, type Kind } from "../host/files.ts";

/** A file's particulars as far as a change shows in them. Links are not followed. */
export interface CopyStat {
  readonly kind: Kind;
  readonly bytes: number;
  /** Permission bits, and others of the mode. */
  readonly mode: number;
  /** Number of hard links. */
  readonly links: number;
  readonly modifiedMs: number;
  /**
   * Tells a change. One that put the time of the last write back shows where it came in a later
   * second than `changedMs`.
   */
  readonly mark: string;
  /** Time of the last change of any kind, in whole seconds: no program here can set it. */
  readonly changedMs: number;
}

/** How a new file is made. */
export interface CopyAs {
  /** Exact permission bits. */
  readonly mode: number;
  /** Time of its last change; absent: now. */
  readonly modifiedMs?: number;
}

/** Files of copies. Every method throws `FsTrouble` where it cannot. */
export interface CopyFiles {
  /** Undefined when nothing is there. */
  stat(path: string): CopyStat | undefined;
  list(path: string): readonly Entry[];
  read(path: string): Uint8Array<ArrayBuffer>;
  /** Makes a new file of these pieces. */
  write(path: string, pieces: Iterable<Uint8Array>, as: CopyAs): void;
  /** Sets the time of a file's last change. */
  setTime(path: string, modifiedMs: number): void;
  makeFolder(path: string): void;
  /** Removes a file, a link or an empty folder. */
  remove(path: string): void;
  readLink(path: string): string;
  makeLink(target: string, path: string): void;
  rename(from: string, to: string): void;
  /** Takes back what a program did to a folder's permissions, where this process owns it. */
  reopen(folder: string): void;
  /** Writes to a file, made if need be: what this file system's clock says now. */
  touch(probe: string): { readonly modifiedMs: number; readonly changedMs: number };
}

/** Whether anybody may run a file of this mode. */
export function isProgram(mode: number): boolean {
  return (mode & 0o111) !== 0;
}

/** What stands there. @throws FsTrouble `notFound` where nothing does */
export function statOf(files: Pick<CopyFiles, "stat">, path: string): CopyStat {
  const stat = files.stat(path);
  if (stat === undefined) throw new FsTrouble("notFound", "it is gone");
  return stat;
}
