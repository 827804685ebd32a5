/** The real clock, randomness, next turn and key file, for a main program to hand on. @module */
import { open, readFile } from "node:fs/promises";
import type { LogPowers } from "./log.ts";
import type { KeyPowers } from "./signer.ts";

function random(length: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(length));
}

/** The powers of {@link openLog}. */
export const LOG_POWERS: LogPowers = Object.freeze({
  now: () => Date.now(),
  random,
  soon: (f: () => void) => void setImmediate(f),
  after(ms: number, f: () => void): () => void {
    const timer = setTimeout(f, ms);
    Deno.unrefTimer(timer);
    return () => clearTimeout(timer);
  },
});

/** Key files on disk. */
export const KEY_POWERS: KeyPowers = Object.freeze({
  async read(path: string): Promise<Uint8Array | undefined> {
    try {
      return await readFile(path);
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
      throw error;
    }
  },
  async writeNew(path: string, bytes: Uint8Array, mode: number): Promise<void> {
    const file = await open(path, "wx", mode);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
  },
  random,
});
