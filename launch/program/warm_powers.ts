/**
 * Fills Deno's caches for a program: its import graph and compiled code, two thirds of a large program's start.
 * docs/decision/0028. Used by bundles_powers.ts and program_cache_powers.ts.
 * @module
 */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { CHILD_FLAGS } from "../../contracts/base/mod.ts";
import { WARMED } from "../../port/child_powers.ts";

/** A program and the part of its start line that its cache depends on. */
export interface Warming {
  readonly bundle: string;
  /** WASM pages of its start line, if any: V8 rejects code compiled with another number. */
  readonly pages?: number | undefined;
}

/** Deno's code cache in DENO_DIR. */
const CODE = "v8_code_cache_v2";
const CACHES = /_cache_v2$/;
/** Deno writes code at the second start; on a busy machine the process may end before the write. */
const MAX_STARTS = 5;
/** Files beside a database that SQLite needs for reading without write permission. */
const BESIDE = ["-wal", "-shm"];

/** Starts a program without work until its code is in the cache. */
export async function warm({ bundle, pages }: Warming, denoDir: string): Promise<void> {
  const flags = pages === undefined ? [] : [`--v8-flags=--wasm-max-mem-pages=${pages}`];
  for (let n = 0; n < MAX_STARTS && !holdsCode(denoDir, bundle); n++) {
    await new Deno.Command(Deno.execPath(), {
      args: ["run", ...CHILD_FLAGS, ...flags, bundle, WARMED],
      clearEnv: true,
      env: { DENO_DIR: denoDir, NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" },
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).output();
  }
}

function holdsCode(denoDir: string, bundle: string): boolean {
  try {
    using cache = new DatabaseSync(join(denoDir, CODE), { readOnly: true });
    const row = cache.prepare("SELECT 1 FROM codecache WHERE specifier = ?");
    return row.get(pathToFileURL(bundle).href) !== undefined;
  } catch {
    // Absent, being written, or of a Deno that caches elsewhere: count as missing.
    return false;
  }
}

/**
 * Prepares the caches for children that may only read them, as all do in a namespace: nothing pending in a write-ahead
 * log, and an empty log beside each. Where that fails (a file system without links or such logs), starts take longer,
 * and nothing else changes.
 */
export function settleCaches(denoDir: string): void {
  for (const { name } of [...Deno.readDirSync(denoDir)]) {
    if (CACHES.test(name)) settle(join(denoDir, name));
  }
}

function settle(path: string): void {
  const copied = `.${crypto.randomUUID()}`;
  const kept = BESIDE.map((end) => ({ at: `${path}${end}`, copy: `${path}${end}${copied}` }));
  try {
    {
      using cache = new DatabaseSync(path);
      // Deno has SQLite read its statistics on opening a database; a reader cannot create them.
      cache.exec("ANALYZE; PRAGMA wal_checkpoint(TRUNCATE)");
      for (const { at, copy } of kept) Deno.copyFileSync(at, copy);
    }
    // The last connection to close deletes both files. Where they still exist, another process has the database open, and
    // a link to a taken name fails.
    for (const { at, copy } of kept) Deno.linkSync(copy, at);
  } catch (error) {
    // Only a TypeError is a bug; any other error comes from the file system or a lock.
    if (error instanceof TypeError) throw error;
  } finally {
    for (const { copy } of kept) removeIfThere(copy);
  }
}

function removeIfThere(path: string): void {
  try {
    Deno.removeSync(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
