/** An attack on every byte of every row of a real database. */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { openSqliteStore } from "../../store/sqlite/mod.ts";
import { ALICE, fillSmallLog } from "./_fixture/small_log.ts";
import { verifyLog } from "./mod.ts";

const PUBLIC = { publicKey: ALICE.publicKey };

Deno.test("verify: every byte of every record and content in the database is covered", async () => {
  const dir = await Deno.makeTempDir({ prefix: "remit-attack-" });
  const path = `${dir}/log.db`;
  const made = openSqliteStore({ path });
  const { head } = await fillSmallLog(made);
  await made.close();
  const db = new DatabaseSync(path);
  const store = openSqliteStore({ path, readOnly: true });
  try {
    db.exec(
      "PRAGMA synchronous=OFF; DROP TRIGGER events_no_update;" +
        "DROP INDEX events_chain; CREATE INDEX events_chain ON events(task, n) WHERE task <> 1;" +
        "DROP INDEX names_name; CREATE INDEX names_name ON names(name)",
    );
    const missed: string[] = [];
    let flips = 0;
    const attack = async (sql: string, value: Uint8Array | bigint, seq: number): Promise<void> => {
      db.exec("BEGIN");
      db.prepare(sql).run(value, seq);
      db.exec("COMMIT");
      const { ok, bad } = await verifyLog({ store, ...PUBLIC, head: head() });
      if (ok || bad?.seq !== seq) missed.push(`${sql} ${seq}: ${JSON.stringify(bad)}`);
      flips++;
    };
    const rows = db.prepare("SELECT seq, hash, body, task, kind, n, at FROM events").all();
    for (const row of rows) {
      const seq = Number(row["seq"]);
      for (const column of ["hash", "body"]) {
        const original = row[column];
        assert.ok(original instanceof Uint8Array);
        const sql = `UPDATE events SET ${column} = ? WHERE seq = ?`;
        for (let i = 0; i < original.length; i++) {
          const flipped = original.slice();
          flipped[i] = (flipped[i] ?? 0) ^ (1 << (i % 8));
          await attack(sql, flipped, seq);
        }
        db.prepare(sql).run(original, seq);
      }
      for (const column of ["n", "at", "task", "kind"]) {
        const sql = `UPDATE events SET ${column} = ? WHERE seq = ?`;
        const original = BigInt(Number(row[column]));
        for (let bit = 0n; bit < 63n; bit += 3n) await attack(sql, original ^ (1n << bit), seq);
        db.prepare(sql).run(original, seq);
      }
    }
    const names = db.prepare("SELECT id, CAST(name AS BLOB) AS name FROM names").all();
    for (const { id, name } of names) {
      assert.ok(name instanceof Uint8Array);
      const first = rows.find((row) => row["task"] === id || row["kind"] === id);
      assert.ok(first, "each name is some event's");
      const change = db.prepare("UPDATE names SET name = CAST(? AS TEXT) WHERE id = ?");
      for (let i = 0; i < name.length; i++) {
        const flipped = name.slice();
        flipped[i] = (flipped[i] ?? 0) ^ (1 << (i % 8));
        change.run(flipped, Number(id));
        const { ok, bad } = await verifyLog({ store, ...PUBLIC, head: head() });
        if (ok || bad?.seq !== first["seq"]) missed.push(`name ${id} ${i}: ${JSON.stringify(bad)}`);
        flips++;
      }
      change.run(name, Number(id));
    }
    const blobs = db.prepare("SELECT rowid AS id, digest, salt, bytes FROM blobs").all();
    for (const blob of blobs) {
      const digest = blob["digest"];
      assert.ok(digest instanceof Uint8Array);
      const events = await store.events({});
      const seq = events.find((event) => event.body.includes(digest.toHex()))?.seq;
      for (const column of ["salt", "bytes"]) {
        const original = blob[column];
        assert.ok(original instanceof Uint8Array);
        const change = db.prepare(`UPDATE blobs SET ${column} = ? WHERE rowid = ?`);
        for (let i = 0; i < original.length; i++) {
          const flipped = original.slice();
          flipped[i] = (flipped[i] ?? 0) ^ (1 << (i % 8));
          change.run(flipped, Number(blob["id"]));
          const { ok, bad } = await verifyLog({ store, ...PUBLIC });
          if (ok || bad?.seq !== seq || bad?.flaw !== "content") missed.push(`${column} ${i}`);
          flips++;
        }
        change.run(original, Number(blob["id"]));
      }
    }
    assert.deepEqual(missed.slice(0, 10), []);
    assert.ok(flips > 2_000, `${flips} bytes were tried`);
    assert.equal((await verifyLog({ store, ...PUBLIC, head: head() })).ok, true, "restored");
  } finally {
    await store.close();
    db.close();
    await Deno.remove(dir, { recursive: true });
  }
});
