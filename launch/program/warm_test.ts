import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { settleCaches, warm } from "./warm_powers.ts";

/** A child that waits in the read, as most do, and has something to compile. */
const CHILD = `const add = (a, b) => a + b;
if (Deno.args[0] === "warmed") await new Promise((resolve) => setTimeout(resolve, 30));
Deno.stdin.readSync(new Uint8Array(1));
Deno.exit(add(0, 0));
`;

async function withWarmed(f: (denoDir: string, bundle: string) => void): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "remit-warm-" });
  try {
    const bundle = join(folder, "a child.js"), denoDir = join(folder, "deno");
    await Deno.writeTextFile(bundle, CHILD);
    await Deno.mkdir(denoDir);
    await warm({ bundle, pages: 64 }, denoDir);
    settleCaches(denoDir);
    f(denoDir, bundle);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** What Deno has SQLite do with each cache that it opens; one failure, and it goes on without it. */
const OPENING = "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA temp_store=memory; " +
  "PRAGMA page_size=4096; PRAGMA mmap_size=6000000; PRAGMA optimize;";

Deno.test("a child's compiled code, and what it imports, are there for who may only read the caches", async () => {
  await withWarmed((denoDir, bundle) => {
    const rows = (name: string, table: string): number => {
      using cache = new DatabaseSync(join(denoDir, name), { readOnly: true });
      cache.exec(OPENING);
      const count = cache.prepare(`SELECT count(*) AS n FROM ${table} WHERE specifier = ?`);
      return Number(count.get(pathToFileURL(bundle).href)?.["n"]);
    };
    assert.equal(rows("v8_code_cache_v2", "codecache"), 1);
    assert.equal(rows("dep_analysis_cache_v2", "moduleinfocache"), 1);
  });
});

Deno.test("beside each cache lies an empty log, without which nobody opens it who may not write", async () => {
  await withWarmed((denoDir) => {
    const names = [...Deno.readDirSync(denoDir)].map(({ name }) => name);
    const caches = names.filter((name) => name.endsWith("_cache_v2"));
    assert.ok(caches.length >= 2, names.join(" "));
    for (const name of caches) {
      assert.equal(Deno.statSync(join(denoDir, `${name}-wal`)).size, 0);
      assert.ok(Deno.statSync(join(denoDir, `${name}-shm`)).size > 0);
    }
    assert.deepEqual(names.filter((name) => /-(wal|shm)\./.test(name)), []);
  });
});

Deno.test("caches that somebody else has open are left to them", async () => {
  await withWarmed((denoDir) => {
    const path = join(denoDir, "v8_code_cache_v2");
    using theirs = new DatabaseSync(path);
    theirs.exec("CREATE TABLE theirs(n INTEGER)");
    settleCaches(denoDir);
    theirs.exec("INSERT INTO theirs VALUES(7)");
    using others = new DatabaseSync(path);
    assert.equal(others.prepare("SELECT n FROM theirs").get()?.["n"], 7);
  });
});
