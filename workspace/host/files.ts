/** What the toolhost may do with a file system: two small powers and their error. @module */

/** The kind of a directory entry. `other`: FIFO, socket, device. */
export type Kind = "file" | "folder" | "link" | "other";

/** A file's particulars. Links are not followed. */
export interface FileStat {
  readonly kind: Kind;
  readonly bytes: number;
  readonly modifiedMs: number;
  /** Time of the last change of any kind, renames included. */
  readonly changedMs: number;
  /** Permission bits. */
  readonly mode: number;
  readonly dev: number;
  readonly ino: number;
  /** Number of hard links. */
  readonly links: number;
}

/** A name in a folder; `kind` comes from the directory, without access to the file itself. */
export interface Entry {
  readonly name: string;
  readonly kind: Kind;
}

/** An open file. */
export interface OpenFile {
  stat(): FileStat;
  /** Reads from offset `at`; returns the number of bytes, 0 at the end. */
  readAt(at: number, into: Uint8Array): number;
  close(): void;
}

/** Reading. Every method throws {@link FsTrouble} on failure. */
export interface ReadFiles {
  /** Undefined when nothing is there. */
  stat(path: string): FileStat | undefined;
  /** The path without links; undefined when nothing is there. */
  real(path: string): string | undefined;
  list(path: string): readonly Entry[];
  open(path: string): OpenFile;
}

/** Writing. Every method throws {@link FsTrouble} on failure. */
export interface WriteFiles {
  /** Creates a new file, on the disk when it returns. `mode`: exact permission bits. */
  create(path: string, bytes: Uint8Array, mode?: number): void;
  rename(from: string, to: string): void;
  /** Removes a file or an empty folder. */
  remove(path: string): void;
  makeFolder(path: string): void;
  /** Syncs a folder's names to the disk, where the system can. */
  settle(folder: string): void;
}

/** Reading and writing. */
export interface Files extends ReadFiles, WriteFiles {}

/** Why an operation failed. */
export type TroubleCode =
  | "notFound"
  /** The kernel refused: no lease covers the path. */
  | "denied"
  /** The system's owner and mode refuse. */
  | "closed"
  | "noSpace"
  | "readOnly"
  | "exists"
  | "notFolder"
  | "tooLong"
  | "loop"
  /** The disk, or the machine with the folder, does not answer. */
  | "broken"
  | "other";

/** A failed operation. Its message may hold paths of the machine and never goes to an agent. */
export class FsTrouble extends Error {
  /** See {@link TroubleCode}. */
  readonly code: TroubleCode;

  constructor(code: TroubleCode, cause: unknown) {
    super(`Cannot use a file: ${code}`, { cause });
    this.name = "FsTrouble";
    this.code = code;
  }
}
