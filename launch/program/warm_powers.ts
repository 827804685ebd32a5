/**
 * Has Deno keep what it makes of a program: what it imports, and its compiled code. Of a large one
 * that is two thirds of a start. docs/decision/0028.
 * @module
 */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { CHILD_FLAGS } from "../../contracts/base/mod.ts";
import { WARMED } from "../../port/child_powers.ts";

/** A program as it will be started. */
export interface Warming {
  readonly bundle: string;
  /** WASM pages of its start line, if it names them: V8 takes no code that was compiled with others. */
  readonly pages?: number | undefined;
}

/** Of Deno's, in DENO_DIR. */
const CODE = "v8_code_cache_v2";
const CACHES = /_cache_v2$/;
/** Deno writes code at the second start; a busy machine may end one before it is written. */
const STARTS = 5;
/** Files beside a database that SQLite reads without being allowed to write. */
const BESIDE = ["-wal", "-shm"];

/** Starts a program without work until its code is in the cache. */
export async function warm({ bundle, pages }: Warming, denoDir: string): Promise<void> {
  const flags = pages === undefined ? [] : [`--v8-flags=--wasm-max-mem-pages=${pages}`];
  for (let n = 0; n < STARTS && !holdsCode(denoDir, bundle); n++) {
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
    // Absent, being written, or of a Deno that keeps code elsewhere: then it is started as often as may be.
    return false;
  }
}

/**
 * Leaves the caches so that children can use them who may only read them, as all do in a namespace:
 * with nothing to be taken over from a write-ahead log, and with an empty one beside each. Where that
 * cannot be done (a file system without links or such logs), starts take longer, and that is all.
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
      // Deno has SQLite look at its statistics whenever it opens one; who may not write can make none.
      cache.exec("ANALYZE; PRAGMA wal_checkpoint(TRUNCATE)");
      for (const { at, copy } of kept) Deno.copyFileSync(at, copy);
    }
    // The last one who closes a database takes both away; where they are there still, somebody else has
    // it open, and a link to a name that is taken fails.
    for (const { at, copy } of kept) Deno.linkSync(copy, at);
  } catch (error) {
    // Anything but a bug of ours is the file system's, or a lock's, word.
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
