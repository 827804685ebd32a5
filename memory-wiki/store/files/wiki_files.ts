/** What the store asks of the file system. Real ones: wiki_files_powers.ts. @module */

/** What lies at a path, itself: a link is a link. */
export interface FileLook {
  readonly kind: "file" | "folder" | "link" | "other";
  readonly bytes: number;
  /** Equal while the same bytes lie in the same place, up to the clock's grain: device, inode, size and times. */
  readonly mark: string;
  /** When content or name last changed, milliseconds since 1970. */
  readonly changedAt: number;
  /** Device and inode. */
  readonly identity: string;
  /** How many names the file has. */
  readonly names: number;
}

/** A file that is open for reading. */
export interface OpenFile {
  readonly bytes: number;
  /** Reads into `into` from byte `at` on; gives how many, 0 at the end. */
  read(into: Uint8Array, at: number): number;
  close(): void;
}

/** A file to be made. */
export interface NewFile {
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly mode: number;
}

/** Files by absolute path. No method follows a link in the path's last place. Errors carry the system's `code`. */
export interface WikiFiles {
  look(path: string): FileLook | undefined;
  /** The path without links. */
  real(path: string): string;
  list(folder: string): readonly { readonly name: string; readonly kind: FileLook["kind"] }[];
  open(path: string): OpenFile;
  /** Makes a file that must not be there yet, and waits until its bytes are on the disk. */
  write(path: string, bytes: Uint8Array, mode: number): void;
  /** As {@link WikiFiles.write} for many, waiting for the disk once; where one fails, none is left. */
  writeAll(files: readonly NewFile[]): Promise<void>;
  /** Writes at the end of a file, made if need be, without waiting for the disk. */
  append(path: string, bytes: Uint8Array): void;
  /** Puts `from` in the place of `to`, whatever that was but a folder. */
  rename(from: string, to: string): void;
  /** Nothing happens where there is none. */
  remove(path: string): void;
  /** Makes a folder that must not be there yet. */
  makeFolder(path: string): void;
  /** Waits until the names in a folder are on the disk. */
  syncFolder(path: string): void;
}
