/** What the check of a tree needs of a disk. @module */

/** One entry of a folder, and what of it is seen without reading it. */
export interface TreeStat {
  readonly kind: "file" | "folder" | "link" | "other";
  /** `st_mode`, with the kind of file. */
  readonly mode: number;
  readonly bytes: number;
  /** Milliseconds since 1970, with fractions. */
  readonly mtime: number;
  readonly ctime: number;
  readonly ino: number;
}

/** Reads files, folders and links, following no link. Absolute paths. Throws what the system says. */
export interface TreeDisk {
  /** Names in a folder, in any order. */
  list(folder: string): Iterable<string>;
  stat(path: string): TreeStat;
  /** What a link says. */
  link(path: string): string;
  /** SHA-256 of a file's bytes, hex, and how many there are. */
  hash(path: string): { readonly sha256: string; readonly bytes: number };
}
