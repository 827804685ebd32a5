/** Files of the index, written atomically. Used by memory-wiki/open_wiki_powers.ts. @module */
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

/** A write takes less than this. Milliseconds. */
const DRAFT_MS = 600_000;
/** Bytes of an index file. */
const MAX_BYTES = 1_000_000_000;

/** Index files in `folder`, created with mode 0700 on the first write. File names are fixed, never a user's. */
export function makeIndexFiles(folder: string): IndexFiles {
  return Object.freeze<IndexFiles>({
    open: (name) => openBytes(join(folder, name)),
    write(name, bytes) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      sweepDrafts(folder);
      // Concurrent processes write separate drafts; the later rename wins.
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

/** Opens the current file, which stays the same even if it is replaced; undefined if missing or too large. */
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

/** Removes drafts of killed processes, which are older than any current write. */
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
