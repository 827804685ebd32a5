/** What the copy service may do with files, beyond looking at mounts. @module */
import type { Entry, Kind } from "../host/files.ts";

/** A file's particulars as far as a change shows in them. Links are not followed. */
export interface CopyStat {
  readonly kind: Kind;
  readonly bytes: number;
  /** Identity and time of the last change of any kind, which no program here can set. */
  readonly mark: string;
}

/** Files of copies. Every method throws `FsTrouble` where it cannot. */
export interface CopyFiles {
  /** Undefined when nothing is there. */
  stat(path: string): CopyStat | undefined;
  list(path: string): readonly Entry[];
  read(path: string): Uint8Array<ArrayBuffer>;
  /** Makes a new file of these pieces; `mode`: exact permission bits. */
  write(path: string, pieces: Iterable<Uint8Array>, mode: number): void;
  makeFolder(path: string): void;
  readLink(path: string): string;
  makeLink(target: string, path: string): void;
  rename(from: string, to: string): void;
  /** Takes back what a program did to a folder's permissions, where this process owns it. */
  reopen(folder: string): void;
}
