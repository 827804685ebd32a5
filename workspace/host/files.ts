/** What the toolhost may do with a file system: two small powers and their one error. @module */

/** What stands at a path. `other`: FIFO, socket, device. */
export type Kind = "file" | "folder" | "link" | "other";

/** A file's particulars; links are not followed. */
export interface FileStat {
  readonly kind: Kind;
  readonly bytes: number;
  readonly modifiedMs: number;
  /** When anything of it last changed, its names included. */
  readonly changedMs: number;
  /** Permission bits. */
  readonly mode: number;
  readonly dev: number;
  readonly ino: number;
  /** Number of hard links. */
  readonly links: number;
}

/** One name in a folder; `kind` is the directory's word, no access to the file itself. */
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

/** Looking. Every method throws {@link FsTrouble} where it cannot. */
export interface ReadFiles {
  /** Undefined when nothing is there. */
  stat(path: string): FileStat | undefined;
  /** The path without links; undefined when nothing is there. */
  real(path: string): string | undefined;
  list(path: string): readonly Entry[];
  open(path: string): OpenFile;
}

/** Changing. Every method throws {@link FsTrouble} where it cannot. */
export interface WriteFiles {
  /** Makes a new file with these bytes, on the disk when it returns. `mode`: exact permission bits. */
  create(path: string, bytes: Uint8Array, mode?: number): void;
  rename(from: string, to: string): void;
  /** Removes a file or an empty folder. */
  remove(path: string): void;
  makeFolder(path: string): void;
  /** Puts a folder's names on the disk, where the system can. */
  settle(folder: string): void;
}

/** Both. */
export interface Files extends ReadFiles, WriteFiles {}

/** Why an operation failed. */
export type TroubleCode =
  | "notFound"
  /** No lease covers it: the kernel said no. */
  | "denied"
  /** The system's owner and mode say no. */
  | "closed"
  | "noSpace"
  | "readOnly"
  | "exists"
  | "notFolder"
  | "tooLong"
  | "loop"
  /** The disk, or the machine that the folder lies on, does not give it. */
  | "broken"
  | "other";

/** A failed operation. Its message may hold paths of the machine: never shown to an agent. */
export class FsTrouble extends Error {
  /** See {@link TroubleCode}. */
  readonly code: TroubleCode;

  constructor(code: TroubleCode, cause: unknown) {
    super(`Cannot use a file: ${code}`, { cause });
    this.name = "FsTrouble";
    this.code = code;
  }
}
