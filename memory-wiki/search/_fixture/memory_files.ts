/** Files of an index in memory. @module */
import type { IndexFiles } from "../search.ts";

export interface MemoryFiles extends IndexFiles {
  readonly held: Map<string, Uint8Array>;
}

/** Makes an empty folder of them. */
export function makeMemoryFiles(): MemoryFiles {
  const held = new Map<string, Uint8Array>();
  return {
    held,
    read: (name, most) => held.get(name)?.subarray(0, most),
    write: (name, bytes) => void held.set(name, bytes),
    remove: (name) => void held.delete(name),
  };
}
