import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { Fault } from "../../contracts/base/fault.ts";
import { Digest } from "../../contracts/authority/ids.ts";
import type { DocumentWrite, EventRow } from "../../contracts/task/store.ts";
import { rejectsWith, storeContract, type StoreUnderTest } from "../_fixture/contract_suite.ts";
import { eventQuery, headQueries, KERNEL_HEAD } from "./store.ts";
import { checkSqliteFile, openSqliteStore, replaceSqliteFile } from "./mod.ts";

const HASH = Digest.parse("ab".repeat(32));

function row(task: string, n: number, body = "{}"): EventRow {
  return { task, n, kind: "message", at: 1, hash: HASH, body };
}

function folder(): { readonly dir: string } & Disposable {
  const dir = Deno.makeTempDirSync({ prefix: "remit-store-" });
  return { dir, [Symbol.dispose]: () => Deno.removeSync(dir, { recursive: true }) };
}

function faultOf(f: () => unknown): Fault {
  try {
    f();
  } catch (error) {
    assert.ok(error instanceof Fault, String(error));
    return error;
  }
  assert.fail("nothing was thrown");
}

function make(): Promise<StoreUnderTest> {
  const dir = Deno.makeTempDirSync({ prefix: "remit-store-" });
  return Promise.resolve({
    open: () => Promise.resolve(openSqliteStore({ path: `${dir}/log.db` })),
    [Symbol.asyncDispose]: () => Deno.remove(dir, { recursive: true }),
  });
}

storeContract("sqlite", make, Deno.test);

Deno.test("store sqlite: its files are 0600 in a folder of 0700, whatever the umask", async () => {
  using at = folder();
  const before = Deno.umask(0o000);
  try {
    const store = openSqliteStore({ path: `${at.dir}/kernel/log.db` });
    await store.commit({ events: [row("alice", 0)], blobs: [], documents: [] });
    assert.equal((Deno.statSync(`${at.dir}/kernel`).mode ?? 0) & 0o777, 0o700);
    const names = [...Deno.readDirSync(`${at.dir}/kernel`)].map((e) => e.name).sort();
    assert.deepEqual(names, ["log.db", "log.db-shm", "log.db-wal"]);
    for (const name of names) {
      assert.equal((Deno.statSync(`${at.dir}/kernel/${name}`).mode ?? 0) & 0o777, 0o600, name);
    }
    await store.close();
  } finally {
    Deno.umask(before);
  }
});

Deno.test("store sqlite: a folder that others can enter, and a link, are refused", () => {
  using at = folder();
  Deno.mkdirSync(`${at.dir}/open`);
  Deno.chmodSync(`${at.dir}/open`, 0o755);
  assert.equal(faultOf(() => openSqliteStore({ path: `${at.dir}/open/log.db` })).code, "refused");
  Deno.writeTextFileSync(`${at.dir}/elsewhere`, "");
  Deno.symlinkSync(`${at.dir}/elsewhere`, `${at.dir}/log.db`);
  assert.equal(faultOf(() => openSqliteStore({ path: `${at.dir}/log.db` })).code, "refused");
  assert.equal(Deno.readTextFileSync(`${at.dir}/elsewhere`), "");
});

Deno.test("store sqlite: no statement changes, replaces or removes an event", async () => {
  using at = folder();
  const path = `${at.dir}/log.db`;
  const store = openSqliteStore({ path });
  await store.commit({ events: [row("alice", 0)], blobs: [], documents: [] });
  await store.close();
  const db = new DatabaseSync(path);
  db.exec("PRAGMA recursive_triggers=ON");
  for (
    const sql of [
      "UPDATE events SET body = x'00'",
      "UPDATE events SET seq = 9",
      "DELETE FROM events",
      "REPLACE INTO events SELECT * FROM events",
    ]
  ) assert.throws(() => db.exec(sql), /append-only/, sql);
  db.close();
});

Deno.test("store sqlite: a newer schema, a foreign database and a text file are refused", () => {
  using at = folder();
  const path = (name: string): string => `${at.dir}/${name}.db`;
  void openSqliteStore({ path: path("newer") }).close();
  const newer = new DatabaseSync(path("newer"));
  newer.exec("PRAGMA journal_mode = DELETE; PRAGMA user_version = 99");
  newer.close();
  const before = Deno.readFileSync(path("newer"));
  const refusal = faultOf(() => openSqliteStore({ path: path("newer") }));
  assert.equal(refusal.code, "unavailable");
  assert.match(refusal.message, /version 99/);
  assert.deepEqual(Deno.readFileSync(path("newer")), before, "not a byte of it was changed");
  const foreign = new DatabaseSync(path("foreign"));
  foreign.exec("CREATE TABLE theirs(x)");
  foreign.close();
  assert.equal(faultOf(() => openSqliteStore({ path: path("foreign") })).code, "storeCorrupt");
  Deno.writeTextFileSync(path("text"), "not a database, but long enough to look at ".repeat(50));
  assert.equal(faultOf(() => openSqliteStore({ path: path("text") })).code, "storeCorrupt");
  assert.equal(
    faultOf(() => openSqliteStore({ path: path("none"), readOnly: true })).code,
    "notFound",
  );
});

Deno.test("store sqlite: a read-only store reads beside a writer and writes nothing", async () => {
  using at = folder();
  const path = `${at.dir}/log.db`;
  const writer = openSqliteStore({ path });
  await writer.commit({ events: [row("alice", 0)], blobs: [], documents: [] });
  const reader = openSqliteStore({ path, readOnly: true });
  await writer.commit({ events: [row("alice", 1)], blobs: [], documents: [] });
  assert.equal((await reader.events({})).length, 2);
  await rejectsWith(
    "refused",
    reader.commit({ events: [row("alice", 2)], blobs: [], documents: [] }),
  );
  await reader.close();
  await writer.close();
});

Deno.test("store sqlite: erased content is in no byte of any file", async () => {
  using at = folder();
  const path = `${at.dir}/log.db`;
  const store = openSqliteStore({ path });
  const secret = "the-secret-of-carol";
  const bytes = new TextEncoder().encode(secret.repeat(500));
  const salt = new Uint8Array(16);
  await store.commit({
    events: [row("alice", 0)],
    blobs: [{ task: "alice", digest: HASH, salt, bytes }],
    documents: [],
  });
  const holders = (): readonly string[] =>
    [...Deno.readDirSync(at.dir)].map((e) => e.name).filter((name) =>
      new TextDecoder("latin1").decode(Deno.readFileSync(`${at.dir}/${name}`)).includes(secret)
    );
  assert.notDeepEqual(holders(), []);
  assert.equal(await store.eraseBlobs("alice"), 1);
  assert.deepEqual(holders(), []);
  await store.close();
  assert.deepEqual(holders(), []);
});

Deno.test("store sqlite: the write-ahead log is folded in as it grows", async () => {
  using at = folder();
  const path = `${at.dir}/log.db`;
  const store = openSqliteStore({ path });
  for (let n = 0; n < 12_000; n += 500) {
    const events = Array.from({ length: 500 }, (_, i) => row("alice", n + i, "x".repeat(500)));
    await store.commit({ events, blobs: [], documents: [] });
  }
  assert.ok(Deno.statSync(`${path}-wal`).size < 5_000_000);
  assert.ok(Deno.statSync(path).size > 4_000_000);
  await store.close();
});

Deno.test("store sqlite: full means storeFull, no half commit, and it goes on with room", async () => {
  using at = folder();
  const path = `${at.dir}/log.db`;
  const store = openSqliteStore({ path, maxPages: 40 });
  await store.commit({ events: [row("alice", 0)], blobs: [], documents: [] });
  const salt = new Uint8Array(16);
  const bytes = new Uint8Array(1_000_000);
  const big = { task: "alice", digest: HASH, salt, bytes };
  const doc = { kind: "note", id: "x", task: "alice", expect: 0, body: {} };
  await rejectsWith(
    "storeFull",
    store.commit({
      events: [row("alice", 1)],
      blobs: [big],
      documents: [doc],
    }),
  );
  assert.equal((await store.events({})).length, 1);
  assert.equal(await store.document("note", "x"), undefined);
  await store.commit({ events: [row("alice", 1)], blobs: [], documents: [doc] });
  assert.deepEqual((await store.events({})).map((e) => e.seq), [1, 2]);
  await store.close();
  assert.deepEqual(checkSqliteFile(path), []);
});

Deno.test("store sqlite: a damaged index is found by the structure check", async () => {
  using at = folder();
  const path = `${at.dir}/log.db`;
  const store = openSqliteStore({ path });
  const events = Array.from({ length: 300 }, (_, n) => row("alice", n));
  await store.commit({ events, blobs: [], documents: [] });
  await store.close();
  assert.deepEqual(checkSqliteFile(path), []);
  const db = new DatabaseSync(path);
  const root = db.prepare("SELECT rootpage AS p FROM sqlite_schema WHERE name='events_chain'")
    .get();
  db.close();
  const file = Deno.readFileSync(path);
  const start = (Number(root?.["p"]) - 1) * 4096;
  const page = file.subarray(start, start + 4096);
  page[page.lastIndexOf("a".charCodeAt(0))] = "b".charCodeAt(0);
  Deno.writeFileSync(path, file);
  assert.notDeepEqual(checkSqliteFile(path), []);
});

Deno.test("store sqlite: replacing keeps the old file, and never over another", async () => {
  using at = folder();
  const [path, fresh, keepAs] = [`${at.dir}/log.db`, `${at.dir}/fresh.db`, `${at.dir}/old.db`];
  for (const [file, task] of [[path, "alice"], [fresh, "bob"]] as const) {
    const store = openSqliteStore({ path: file });
    await store.commit({ events: [row(task, 0)], blobs: [], documents: [] });
    await store.close();
  }
  replaceSqliteFile(path, { fresh, keepAs });
  const tasks = async (file: string): Promise<readonly string[]> => {
    const store = openSqliteStore({ path: file });
    const found = (await store.events({})).map((e) => e.task);
    await store.close();
    return found;
  };
  assert.deepEqual(await tasks(path), ["bob"]);
  assert.deepEqual(await tasks(keepAs), ["alice"]);
  const again = faultOf(() => replaceSqliteFile(path, { fresh, keepAs }));
  assert.equal(again.code, "alreadyExists");
});

Deno.test("store sqlite: two writers of one file: the second meets a conflict, also on other chains", async () => {
  using at = folder();
  const path = `${at.dir}/log.db`;
  const [first, second] = [openSqliteStore({ path }), openSqliteStore({ path })];
  await first.commit({ events: [row("kernel", 0)], blobs: [], documents: [] });
  const commit = second.commit({ events: [row("bob", 0)], blobs: [], documents: [] });
  await rejectsWith("conflict", commit);
  await first.close();
  await second.close();
});

Deno.test("store sqlite: a state of the first schema opens with its content, which is erased with its task", async () => {
  using at = folder();
  const path = `${at.dir}/log.db`;
  const content = (task: string, digest: string) => ({
    ...{ task, digest: Digest.parse(digest.repeat(32)) },
    ...{ salt: new Uint8Array([1]), bytes: new Uint8Array([2, 3]) },
  });
  const [alices, bobs] = [content("alice", "a1"), content("bob", "b2")];
  const before = openSqliteStore({ path });
  await before.commit({
    ...{ events: [row("alice", 0), row("bob", 0)], blobs: [alices, bobs], documents: [] },
  });
  await before.close();
  const old = new DatabaseSync(path);
  old.exec(
    "DROP INDEX documents_state; ALTER TABLE documents DROP COLUMN state;" +
      "DROP INDEX blobs_task; CREATE UNIQUE INDEX blobs_digest ON blobs(digest); PRAGMA user_version=1",
  );
  old.close();

  const reader = openSqliteStore({ path, readOnly: true });
  assert.notEqual(await reader.blob("alice", alices.digest), undefined);
  await reader.close();
  const store = openSqliteStore({ path });
  for (const { task, digest, bytes } of [alices, bobs]) {
    const kept = await store.blob(task, digest);
    assert.deepEqual(kept && new Uint8Array(kept.bytes), bytes);
  }
  assert.equal(await store.blob("alice", bobs.digest), undefined);
  assert.equal(await store.eraseBlobs("alice"), 1);
  assert.equal(await store.blob("alice", alices.digest), undefined);
  assert.notEqual(await store.blob("bob", bobs.digest), undefined);
  await store.close();
  const db = new DatabaseSync(path);
  const indexes = db.prepare("SELECT name FROM sqlite_schema WHERE name LIKE 'blobs_%'").all();
  assert.deepEqual(indexes.map(({ name }) => name), ["blobs_task"]);
  db.close();
  checkSqliteFile(path);
});

Deno.test("store sqlite: finding a chain's events and its head does not read the whole table", () => {
  using at = folder();
  const path = `${at.dir}/log.db`;
  void openSqliteStore({ path }).close();
  const db = new DatabaseSync(path);
  const plan = (sql: string): string =>
    db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all().map((step) => step["detail"]).join("; ");
  const chain = plan(eventQuery({ task: "alice", fromN: 3, kinds: ["intent"] }).sql);
  assert.match(chain, /SEARCH e USING INDEX events_chain \(task=\? AND n>\?\)/);
  assert.doesNotMatch(chain, /TEMP B-TREE/);
  assert.match(plan(eventQuery({ afterSeq: 3, kinds: ["seal"] }).sql), /PRIMARY KEY \(rowid>\?\)/);
  for (const query of [{}, { after: "alice", untilSeq: 3, limit: 2 }]) {
    for (const { sql } of headQueries(query)) {
      assert.doesNotMatch(plan(sql.replace(KERNEL_HEAD, "SELECT 1")), /SCAN e\b/);
    }
  }
  db.close();
});

Deno.test("store sqlite: a state that the second schema's own code wrote is found by how its tasks stand", async () => {
  using at = folder();
  const path = `${at.dir}/log.db`;
  const packed = await Deno.readFile(
    new URL("../_fixture/state_of_schema_2.db.gz", import.meta.url),
  );
  const bytes = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  await Deno.writeFile(path, bytes, { mode: 0o600 });
  const store = openSqliteStore({ path });
  const ids = async (states: readonly string[]): Promise<readonly string[]> =>
    (await store.documents({ kind: "task", states })).map(({ id }) => id);
  assert.deepEqual(await ids(["needsApproval", "open"]), ["tb00000000004", "tc00000000005"]);
  assert.deepEqual(await ids(["done", "failed"]), ["tz00000000001", "ta00000000002"]);
  assert.deepEqual(await ids(["archived"]), ["tm00000000003"]);
  const exchange = (id: string, body: DocumentWrite["body"]) =>
    ({ kind: "exchange", id, task: id, expect: 0, body }) as const;
  await store.commit({
    ...{ events: [], blobs: [] },
    documents: [
      exchange("x1", { state: "completed", pushes: [] }),
      exchange("x2", { state: "working", pushes: [] }),
      exchange("x3", { state: "failed", pushes: [{ delivered: 1 }] }),
      exchange("x4", { erased: true }),
    ],
  });
  const exchanges = async (state: string): Promise<readonly string[]> =>
    (await store.documents({ kind: "exchange", states: [state] })).map(({ id }) => id);
  assert.deepEqual(await exchanges("over"), ["x1", "x4"]);
  assert.deepEqual(await exchanges(""), ["x2", "x3"], "also one of which somebody is to be told");
  const newest = await store.documents({ kind: "task", newest: true, limit: 1 });
  assert.equal(newest[0]?.id, "tc00000000005");
  assert.equal((await store.head("tb00000000004"))?.kind, "taskStatus");
  await store.close();
  checkSqliteFile(path);
});
