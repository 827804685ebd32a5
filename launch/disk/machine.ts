/** What a program of Remit's may do on its machine: its files, its surroundings, its words about what goes on. @module */

/** What stands at a path, behind links. */
export interface FileFacts {
  readonly folder: boolean;
  /** A file, no device, pipe or socket. */
  readonly plain: boolean;
  /** A unix socket. */
  readonly socket: boolean;
  /** The permission bits. */
  readonly mode: number;
  readonly uid: number;
}

/** What lies beneath a folder. */
export interface TreeFacts {
  readonly files: number;
  readonly bytes: number;
  /** Changes with whatever changes there: hex, of names, sizes and times. Quick. */
  readonly seen: string;
  /** SHA-256 of names and contents, hex: reads all of it. */
  digest(): string;
}

/** Reads files of the operator's own. */
export interface DiskRead {
  /** Looks through a folder. Throws Fault `tooLarge` past 200,000 files. */
  tree(path: string): TreeFacts;
  /**
   * Undefined when there is no such file. With `most`, of a file that anyone may have put there: a plain one of at most so
   * many bytes. Throws Fault `refused`, `tooLarge`.
   */
  read(path: string, options?: { readonly most?: number }): Uint8Array | undefined;
  /** Names in a folder; empty when there is none. */
  list(path: string): readonly string[];
  /** The real path behind links; undefined when there is nothing. */
  real(path: string): string | undefined;
  /** Undefined when there is nothing. */
  stat(path: string): FileFacts | undefined;
  /**
   * Why nothing can be written at `path`, which need not be there yet, in words for a person: no right to, a disk that is
   * full or read-only. Undefined where it can.
   */
  obstacle(path: string): string | undefined;
}

/** Writes files of the operator's own. */
export interface DiskWrite {
  /**
   * Whole or not at all, by rename. `mode` is 0600 when not given. `fresh` leaves a file that is
   * there already as it is.
   */
  write(
    path: string,
    bytes: Uint8Array | string,
    options?: { readonly mode?: number; readonly fresh?: boolean },
  ): void;
  /** A file, or a folder with all in it; nothing when there is none. */
  remove(path: string): void;
  /** With its parents. 0700 when not given. */
  makeFolder(path: string, mode?: number): void;
  /** To what is there, whose mode stays as it is; a new file is 0600. */
  append(path: string, text: string): void;
  /** Empties a file where it is: a pipe or a device stays one, and its mode as it was. */
  clear(path: string): void;
  /** A symbolic link at `path` to `target`, which need not be there. */
  link(path: string, target: string): void;
  /** A fresh folder of the system's temporary place. */
  temporary(prefix: string): string;
}

/** The caller's surroundings. */
export interface Environment {
  /** Absolute: what relative paths are taken against. */
  readonly cwd: string;
  env(name: string): string | undefined;
  readonly uid: number;
  /** Root is at work, and what it allows reaches all of this machine. */
  readonly root: boolean;
  readonly linux: boolean;
  /** How the person calls this program: `bin/remit`, or where it lies. */
  readonly command: string;
  /** Remit's own folder. */
  readonly home: string;
  now(): number;
  /** `prefix` and 12 characters of `[0-9a-z]`. */
  id(prefix: string): string;
  /** Why the folder that XDG_RUNTIME_DIR names is not used: words for a person. */
  readonly unusableRuntime?: string;
}

/** Where words about what goes on are said. Everything given to it must be safe text. */
export interface Progress {
  /** One line of the live view, on standard error. */
  say(line: string): void;
  /** A line that the next one replaces; does nothing off a terminal. */
  hint(line: string): void;
  readonly paint: { dim(text: string): string };
}
