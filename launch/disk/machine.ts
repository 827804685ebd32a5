/**
 * Interfaces of a program's access to its machine: files, environment, progress messages. Implemented in
 * disk_powers.ts and environment_powers.ts, faked in tests.
 * @module
 */

/** Facts about a path, with links followed. */
export interface FileFacts {
  readonly folder: boolean;
  /** A regular file: no device, pipe or socket. */
  readonly plain: boolean;
  /** A unix socket. */
  readonly socket: boolean;
  /** The permission bits. */
  readonly mode: number;
  /** The owner's user id. */
  readonly uid: number;
}

/** Facts about a folder's tree. */
export interface TreeFacts {
  readonly files: number;
  readonly bytes: number;
  /** Hex digest of names, sizes and times: changes with any change in the tree. Quick. */
  readonly fingerprint: string;
  /** SHA-256 of names and contents, hex: reads every file. */
  digest(): string;
}

/** Reads the operator's files. */
export interface DiskRead {
  /** Walks a folder. Throws Fault `tooLarge` past 200,000 files. */
  tree(path: string): TreeFacts;
  /**
   * Undefined when there is no such file. With `most`, for paths that others can write: reads only a plain file of at most
   * so many bytes. Throws Fault `refused`, `tooLarge`.
   */
  read(path: string, options?: { readonly most?: number }): Uint8Array | undefined;
  /** Names in a folder; empty when there is none. */
  list(path: string): readonly string[];
  /** The real path behind links; undefined when there is nothing. */
  real(path: string): string | undefined;
  /** Undefined when there is nothing. */
  stat(path: string): FileFacts | undefined;
  /**
   * Why nothing can be written at `path`, which need not exist, in words for a person: no permission, a disk that is full
   * or read-only. Undefined where writing works.
   */
  obstacle(path: string): string | undefined;
}

/** Writes the operator's files. */
export interface DiskWrite {
  /**
   * Writes whole or not at all, by rename. `mode` is 0600 by default. `fresh` only creates: an existing file stays as it is.
   */
  write(
    path: string,
    bytes: Uint8Array | string,
    options?: { readonly mode?: number; readonly fresh?: boolean },
  ): void;
  /** Removes a file, or a folder with its content; does nothing when there is none. */
  remove(path: string): void;
  /** Makes a folder and its parents; mode 0700 by default. */
  makeFolder(path: string, mode?: number): void;
  /** Appends to a file, whose mode stays; a new file is 0600. */
  append(path: string, text: string): void;
  /** Empties a file in place: pipes and devices stay what they are, modes stay. */
  clear(path: string): void;
  /** Makes a symbolic link at `path` to `target`, which need not exist. */
  link(path: string, target: string): void;
  /** Makes a fresh folder in the system's temporary place. */
  temporary(prefix: string): string;
}

/** The caller's environment. */
export interface Environment {
  /** Absolute folder against which relative paths resolve. */
  readonly cwd: string;
  env(name: string): string | undefined;
  /** The user id that the program runs as. */
  readonly uid: number;
  /** Whether this runs as root, so that a grant may reach the whole machine. Used only to warn. */
  readonly root: boolean;
  readonly linux: boolean;
  /** The command that the person types for this program: `bin/remit`, or its path. */
  readonly command: string;
  /** Remit's own folder. */
  readonly home: string;
  now(): number;
  /** `prefix` and 12 characters of `[0-9a-z]`. */
  id(prefix: string): string;
  /** Why the folder in XDG_RUNTIME_DIR is not used, in words for a person. */
  readonly unusableRuntime?: string;
}

/** Shows progress. Callers pass safe text only. */
export interface Progress {
  /** One line of the live view, on standard error. */
  say(line: string): void;
  /** A line that the next one replaces; does nothing off a terminal. */
  hint(line: string): void;
  readonly paint: { dim(text: string): string };
}
