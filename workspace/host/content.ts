/** Contents named by their SHA-256: written once, never changed. @module */
import { Fault } from "../../contracts/base/fault.ts";
import type { Digest } from "../../contracts/authority/ids.ts";
import { about } from "./_trouble.ts";
import { type Files, FsTrouble, type OpenFile } from "./files.ts";

/** SHA-256 of bytes, lower-case hex. */
export type Sha256 = (bytes: Uint8Array<ArrayBuffer>) => Promise<string>;

/** A folder of contents. */
export interface ContentStore {
  /** Stores bytes; they are on the disk when the promise resolves. Throws Fault `storeFull`. */
  put(bytes: Uint8Array<ArrayBuffer>): Promise<Digest>;
  /** Reads a content. Throws Fault `notFound`, or `storeCorrupt` if bytes and digest differ. */
  get(digest: string): Promise<Uint8Array<ArrayBuffer>>;
  remove(digest: string): void;
}

/** Hashes bytes; the only place where the toolhost makes a {@link Digest}. */
export async function digestBytes(
  sha256: Sha256,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<Digest> {
  return await sha256(bytes) as Digest;
}

/** Makes the store of one folder, which is created at first use. */
export function makeContentStore(files: Files, folder: string, sha256: Sha256): ContentStore {
  const at = (digest: string): string => `${folder}/${digest}`;

  const write = (digest: string, bytes: Uint8Array): void => {
    const partial = `${at(digest)}.tmp`;
    // A crash may have left a partial file under this name; no other process writes it.
    if (files.stat(partial) !== undefined) files.remove(partial);
    try {
      files.create(partial, bytes, 0o600);
      files.rename(partial, at(digest));
      files.settle(folder);
    } catch (error) {
      if (files.stat(partial) !== undefined) files.remove(partial);
      throw error;
    }
  };

  return Object.freeze({
    async put(bytes: Uint8Array<ArrayBuffer>): Promise<Digest> {
      const digest = await digestBytes(sha256, bytes);
      about("stage", "content", () => {
        if (files.stat(folder) === undefined) files.makeFolder(folder);
        if (files.stat(at(digest))?.bytes !== bytes.length) write(digest, bytes);
      });
      return digest;
    },
    async get(digest: string): Promise<Uint8Array<ArrayBuffer>> {
      const bytes = about("read", "staged content", () => readFile(files, at(digest)));
      if (await sha256(bytes) !== digest) {
        throw new Fault("storeCorrupt", `Cannot read staged content: ${digest} has other bytes`);
      }
      return bytes;
    },
    remove(digest: string): void {
      try {
        files.remove(at(digest));
      } catch (error) {
        if (!(error instanceof FsTrouble)) throw error;
      }
    },
  });
}

/** Reads one of Remit's own files whole. Throws {@link FsTrouble}. */
export function readFile(files: Files, path: string): Uint8Array<ArrayBuffer> {
  const file = files.open(path);
  try {
    return wholeOf(file, file.stat().bytes);
  } finally {
    file.close();
  }
}

/** The first `size` bytes of an open file, or all if the file is shorter. */
export function wholeOf(file: Pick<OpenFile, "readAt">, size: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size);
  let at = 0;
  while (at < bytes.length) {
    const count = file.readAt(at, bytes.subarray(at));
    if (count === 0) break;
    at += count;
  }
  return bytes.subarray(0, at);
}
