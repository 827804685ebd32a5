/** How the files that are taken in are read. @module */

/** What tells one state of a file from another without reading it. Milliseconds; bytes. */
export interface FileFacts {
  readonly size: number;
  readonly mtime: number;
  readonly ctime: number;
  readonly inode: number;
}

/** Reads regular files, never through a link. */
export interface SourceReader {
  /**
   * Facts of the regular file at a real, absolute path.
   * @throws Fault `notFound`; `refused` for a link, a folder, a pipe or a device, or where a folder above it is a link.
   */
  look(path: string): Promise<FileFacts>;
  /**
   * Its bytes, and the facts that held before and after they were read.
   * @throws Fault as {@link SourceReader.look}; `tooLarge` past `maxBytes`; `conflict` when it was changed meanwhile.
   */
  read(
    path: string,
    maxBytes: number,
  ): Promise<{ readonly bytes: Uint8Array; readonly facts: FileFacts }>;
}
