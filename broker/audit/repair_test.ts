import assert from "node:assert/strict";
import type { DocumentWrite } from "../../contracts/task/store.ts";
import { rejectsWith } from "../../store/_fixture/contract_suite.ts";
import { openSqliteStore, replaceSqliteFile } from "../../store/sqlite/mod.ts";
import { makeMemoryStore } from "./_fixture/memory_store.ts";
import { ALICE, fillSmallLog, handPowers, TASKS } from "./_fixture/small_log.ts";
import { openLog, repairTail, verifyLog } from "./mod.ts";

const PUBLIC = { publicKey: ALICE.publicKey };
const PARTS = { signer: ALICE, ...handPowers() };

Deno.test("repair: an intact log is left alone", async () => {
  const [store, fresh] = [makeMemoryStore(), makeMemoryStore()];
  await fillSmallLog(store);
  const before = structuredClone(store.rows);
  const report = await repairTail({ store, fresh, ...PARTS });
  assert.deepEqual([report.repaired, report.kept, report.cut], [false, 12, 0]);
  assert.deepEqual(store.rows, before);
  assert.equal(fresh.rows.length, 0);
});

Deno.test("repair: a torn tail is cut back to the last intact seal, and the log says so", async () => {
  const [store, fresh] = [makeMemoryStore(), makeMemoryStore()];
  await fillSmallLog(store);
  store.rows.pop();
  const before = structuredClone(store.rows);
  await rejectsWith("storeCorrupt", openLog({ store, ...PARTS }));
  const report = await repairTail({ store, fresh, ...PARTS });
  assert.deepEqual([report.repaired, report.kept, report.cut], [true, 9, 2]);
  assert.deepEqual([report.found.bad?.flaw, report.found.bad?.seq], ["unsealed", 10]);
  assert.deepEqual(store.rows, before, "the damaged store is only read");
  const after = await verifyLog({ store: fresh, ...PUBLIC, head: report.head });
  assert.equal(after.ok, true);
  assert.equal(after.contents.intact, 4);
  const repaired = fresh.rows.at(-2);
  assert.equal(repaired?.kind, "repaired");
  assert.deepEqual(JSON.parse(repaired?.body ?? ""), {
    flaw: "unsealed",
    at: 10,
    kept: 9,
    cut: 2,
    contentsDropped: 0,
    documentsLost: [],
    from: report.found.head,
  });
  const log = await openLog({ store: fresh, ...PARTS });
  const [place] = await log.append(TASKS[0], [{ kind: "message", body: {} }]);
  assert.equal(place?.n, 2, "the chain goes on after what was kept");
});

Deno.test("repair: false content is dropped, and costs no event", async () => {
  const [store, fresh] = [makeMemoryStore(), makeMemoryStore()];
  await fillSmallLog(store);
  const [first] = store.blobs.values();
  assert.ok(first);
  store.blobs.set(first.digest, { ...first, bytes: new Uint8Array() });
  const report = await repairTail({ store, fresh, ...PARTS });
  assert.deepEqual([report.kept, report.cut, report.contentsDropped], [12, 0, 1]);
  const { ok, contents } = await verifyLog({ store: fresh, ...PUBLIC });
  assert.deepEqual([ok, contents], [true, { intact: 4, erased: 0, unexplained: 1 }]);
});

Deno.test("repair: documents come along", async () => {
  const [store, fresh] = [makeMemoryStore(), makeMemoryStore()];
  const log = await fillSmallLog(store);
  const note = (expect: number): DocumentWrite => ({
    kind: "note",
    id: "x",
    task: TASKS[0],
    expect,
    body: { expect },
  });
  await log.append(TASKS[0], [], [note(0)]);
  await log.append(TASKS[0], [], [note(1)]);
  store.rows.pop();
  await repairTail({ store, fresh, ...PARTS });
  assert.deepEqual((await fresh.document("note", "x"))?.body, { expect: 1 });
  assert.deepEqual((await fresh.document("task", TASKS[0]))?.body, { status: "open" });
});

Deno.test("repair: a store that holds a log is never written over", async () => {
  const [store, fresh] = [makeMemoryStore(), makeMemoryStore()];
  await fillSmallLog(store);
  store.rows.pop();
  await fillSmallLog(fresh);
  await rejectsWith("alreadyExists", repairTail({ store, fresh, ...PARTS }));
});

Deno.test("repair: a torn page of a real file, end to end, with the old file kept", async () => {
  const dir = await Deno.makeTempDir({ prefix: "remit-repair-" });
  try {
    const [path, freshPath, keepAs] = ["log.db", "fresh.db", "log.db.broken"].map((n) =>
      `${dir}/${n}`
    );
    assert.ok(path && freshPath && keepAs);
    const writer = openSqliteStore({ path });
    const log = await openLog({ store: writer, ...PARTS });
    for (let i = 0; i < 200; i++) {
      await log.append(TASKS[0], [{ kind: "message", body: { i, text: "x".repeat(100) } }]);
    }
    await writer.close();
    const file = await Deno.readFile(path);
    const middle = Math.floor(file.length / 4096 / 2) * 4096;
    file.fill(0, middle, middle + 4096);
    await Deno.writeFile(path, file);
    const store = openSqliteStore({ path, readOnly: true });
    const fresh = openSqliteStore({ path: freshPath });
    const report = await repairTail({ store, fresh, ...PARTS });
    await Promise.all([store.close(), fresh.close()]);
    assert.equal(report.repaired, true);
    assert.ok(report.kept > 0 && report.kept < 400, `${report.kept}`);
    replaceSqliteFile(path, { fresh: freshPath, keepAs });
    assert.deepEqual(await Deno.readFile(keepAs), file);
    const again = openSqliteStore({ path });
    const { ok, events } = await verifyLog({ store: again, ...PUBLIC, head: report.head });
    assert.deepEqual([ok, events], [true, report.kept + 2]);
    await again.close();
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});
