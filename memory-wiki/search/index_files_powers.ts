/** The index's files: whole or not at all. @module */
import {
  closeSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import type { IndexBytes } from "./index_file.ts";
import type { IndexFiles } from "./kept_indexes.ts";

/** Nothing is written for so long, milliseconds. */
const DRAFT_MS = 600_000;
/** Most bytes of an index file that is read. */
const MAX_BYTES = 1_000_000_000;

/** Files of the index in `folder`, made with mode 0700 at the first write. Names are our own, never a user's. */
export function makeIndexFiles(folder: string): IndexFiles {
  return Object.freeze<IndexFiles>({
    open: (name) => openBytes(join(folder, name)),
    write(name, bytes) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      sweepDrafts(folder);
      // Two processes may write at once: each its own draft, and the later rename stands.
      const draft = join(folder, `.${name}.${crypto.randomUUID()}`);
      const file = openSync(draft, "wx", 0o600);
      try {
        for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at);
        fsyncSync(file);
      } finally {
        closeSync(file);
      }
      renameSync(draft, join(folder, name));
    },
    remove: (name) => rmSync(join(folder, name), { force: true }),
  });
}

/** A file as it is now, whatever takes its name later; undefined when it is not there, or is longer than an index can be. */
function openBytes(path: string): IndexBytes | undefined {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
  const { size } = fstatSync(file);
  if (size > MAX_BYTES) {
    closeSync(file);
    return undefined;
  }
  let open = true;
  return Object.freeze<IndexBytes>({
    size,
    read(from, length) {
      const bytes = new Uint8Array(Math.max(0, Math.min(length, size - from)));
      let at = 0;
      while (at < bytes.length) {
        const count = readSync(file, bytes, at, bytes.length - at, from + at);
        if (count === 0) break;
        at += count;
      }
      return bytes.subarray(0, at);
    },
    close() {
      if (open) closeSync(file);
      open = false;
    },
  });
}

/** Takes away drafts of processes that were killed; one that is being written is younger. */
function sweepDrafts(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (!name.startsWith(".")) continue;
    const path = join(folder, name);
    const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Infinity);
    if (age > DRAFT_MS) rmSync(path, { force: true });
  }
}

function isNotFound(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
