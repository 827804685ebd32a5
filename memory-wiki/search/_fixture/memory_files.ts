/** Files of an index in memory. @module */
import type { IndexFiles } from "../kept_indexes.ts";

export interface MemoryFiles extends IndexFiles {
  readonly held: Map<string, Uint8Array>;
}

/** Makes an empty folder in memory. */
export function makeMemoryFiles(): MemoryFiles {
  const held = new Map<string, Uint8Array>();
  return {
    held,
    open(name) {
      const bytes = held.get(name);
      return bytes === undefined ? undefined : {
        size: bytes.length,
        read: (at, length) => bytes.subarray(at, at + length),
        close: () => undefined,
      };
    },
    write: (name, bytes) => void held.set(name, bytes),
    remove: (name) => void held.delete(name),
  };
}
