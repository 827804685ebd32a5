/** What the copy service may do with files, beyond reading mounts. @module */
import { type Entry, FsTrouble, type Kind } from "../host/files.ts";

/** Those particulars of a file that reveal a change. Links are not followed. */
export interface CopyStat {
  readonly kind: Kind;
  readonly bytes: number;
  /** Permission bits and the other bits of the mode. */
  readonly mode: number;
  /** Number of hard links. */
  readonly links: number;
  readonly modifiedMs: number;
  /**
   * Differs after a change. A change that resets the modification time still shows, if it came in a
   * later second than `changedMs`.
   */
  readonly mark: string;
  /** Time of the last change of any kind, in whole seconds: no sandboxed program can set it. */
  readonly changedMs: number;
}

/** How a new file is created. */
export interface CopyAs {
  /** Exact permission bits. */
  readonly mode: number;
  /** Modification time; absent: now. */
  readonly modifiedMs?: number;
}

/** Files of copies. Every method throws `FsTrouble` on failure. */
export interface CopyFiles {
  /** Undefined when nothing is there. */
  stat(path: string): CopyStat | undefined;
  list(path: string): readonly Entry[];
  read(path: string): Uint8Array<ArrayBuffer>;
  /** Creates a new file from these pieces. */
  write(path: string, pieces: Iterable<Uint8Array>, as: CopyAs): void;
  /** Sets a file's modification time. */
  setTime(path: string, modifiedMs: number): void;
  makeFolder(path: string): void;
  /** Removes a file, a link or an empty folder. */
  remove(path: string): void;
  readLink(path: string): string;
  makeLink(target: string, path: string): void;
  rename(from: string, to: string): void;
  /** Restores a folder's permissions after a program changed them, if this process owns it. */
  reopen(folder: string): void;
  /** Writes to the file `probe`, created if missing, and returns the file system's current time. */
  touch(probe: string): { readonly modifiedMs: number; readonly changedMs: number };
}

/** Whether the mode has any executable bit. */
export function isProgram(mode: number): boolean {
  return (mode & 0o111) !== 0;
}

/** The particulars of a file. @throws FsTrouble `notFound` where nothing is there */
export function statOf(files: Pick<CopyFiles, "stat">, path: string): CopyStat {
  const stat = files.stat(path);
  if (stat === undefined) throw new FsTrouble("notFound", "it is gone");
  return stat;
}
