/** Attacks on the bytes of the database file and of its write-ahead log. */
import assert from "node:assert/strict";
import { Fault } from "../../contracts/base/fault.ts";
import type { Digest } from "../../contracts/authority/ids.ts";
import { checkSqliteFile, openSqliteStore, type SqliteStore } from "../../store/sqlite/mod.ts";
import { ALICE, fillSmallLog } from "./_fixture/small_log.ts";
import { exportLog, verifyLog } from "./mod.ts";

type Files = { readonly main: Uint8Array; readonly wal: Uint8Array | undefined };
type Verdict = "unchanged" | "detected";

interface Captured {
  readonly files: Files;
  readonly head: Digest;
  readonly lines: string;
}

/** The files of a small log, checkpointed or with everything still in the WAL. */
async function capture(dir: string, inWal: boolean): Promise<Captured> {
  const path = `${dir}/made.db`;
  const store = openSqliteStore({ path });
  const head = (await fillSmallLog(store)).head();
  const lines = (await Array.fromAsync(exportLog(store))).join("\n");
  if (!inWal) await store.close();
  const files = {
    main: await Deno.readFile(path),
    wal: inWal ? await Deno.readFile(`${path}-wal`) : undefined,
  };
  if (inWal) await store.close();
  return { files, head, lines };
}

async function judge(store: SqliteStore, { head, lines }: Captured): Promise<Verdict> {
  const report = await verifyLog({ store, publicKey: ALICE.publicKey, head });
  if (!report.ok) {
    assert.ok(report.bad, "a failed check names what is bad");
    return "detected";
  }
  if (report.contents.unexplained > 0) return "detected";
  const now = (await Array.fromAsync(exportLog(store))).join("\n");
  assert.equal(now, lines, "it passed, so the log must be what it was");
  return "unchanged";
}

/** Opens damaged files as `audit verify` does. Every failure must be a fault that says "damaged". */
async function attack(dir: string, files: Files, captured: Captured): Promise<Verdict> {
  const path = `${dir}/attacked.db`;
  for (const part of ["", "-wal", "-shm"]) {
    await Deno.remove(path + part).catch((error) =>
      assert.ok(error instanceof Deno.errors.NotFound)
    );
  }
  await Deno.writeFile(path, files.main, { mode: 0o600 });
  if (files.wal) await Deno.writeFile(`${path}-wal`, files.wal, { mode: 0o600 });
  let store: SqliteStore | undefined;
  try {
    store = openSqliteStore({ path, readOnly: true });
    return await judge(store, captured);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    assert.ok(["storeCorrupt", "unavailable", "refused"].includes(error.code), error.message);
    return "detected";
  } finally {
    await store?.close();
  }
}

async function flipAll(inWal: boolean, step: number): Promise<Record<Verdict, number>> {
  const dir = await Deno.makeTempDir({ prefix: "remit-bytes-" });
  try {
    const captured = await capture(dir, inWal);
    const { main, wal } = captured.files;
    assert.equal(await attack(dir, captured.files, captured), "unchanged");
    const counts: Record<Verdict, number> = { unchanged: 0, detected: 0 };
    const target = wal ?? main;
    // Zeros are mostly free space: skip most of them, so that the sample falls on what is used.
    const used = [...target.keys()].filter((at) => target[at] !== 0 || at % 97 === 0);
    for (let i = 0; i < used.length; i += step) {
      const at = used[i] ?? 0;
      const bytes = target.slice();
      bytes[at] = (bytes[at] ?? 0) ^ (1 << (i % 8));
      const files = wal === undefined ? { main: bytes, wal } : { main, wal: bytes };
      counts[await attack(dir, files, captured)]++;
    }
    return counts;
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

Deno.test("file attack: a flipped byte of the database is found, or changes nothing", async () => {
  const { unchanged, detected } = await flipAll(false, 7);
  assert.ok(detected > 500, `${detected} detected, ${unchanged} without effect`);
});

Deno.test("file attack: a flipped byte of the write-ahead log is found against a kept head", async () => {
  const { unchanged, detected } = await flipAll(true, 29);
  assert.ok(detected > 300, `${detected} detected, ${unchanged} without effect`);
});

Deno.test("file attack: a WAL cut at any length is an older log, and short of the head", async () => {
  const dir = await Deno.makeTempDir({ prefix: "remit-bytes-" });
  try {
    const captured = await capture(dir, true);
    const { main, wal } = captured.files;
    assert.ok(wal);
    let detected = 0;
    for (let length = 0; length < wal.length; length += 3_001) {
      const verdict = await attack(dir, { main, wal: wal.slice(0, length) }, captured);
      assert.equal(verdict, "detected", `cut to ${length}`);
      detected++;
    }
    assert.ok(detected > 10);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});

Deno.test("file attack: a file cut at any length is found, by the log or by its structure", async () => {
  const dir = await Deno.makeTempDir({ prefix: "remit-bytes-" });
  try {
    const captured = await capture(dir, false);
    const { main } = captured.files;
    for (let length = 0; length < main.length; length += 1_777) {
      const files = { main: main.slice(0, length), wal: undefined };
      if (await attack(dir, files, captured) === "detected") continue;
      // The end of the file may hold nothing of the log; the structure check still misses it.
      assert.notDeepEqual(checkSqliteFile(`${dir}/attacked.db`), [], `cut to ${length}`);
    }
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});
