import { DatabaseSync } from "node:sqlite";
import { createHash, createPrivateKey, sign } from "node:crypto";
import { makeSigner } from "./mod.ts";
import { GENESIS, hashEvent } from "./hash_event.ts";
import { sealMessage, sealText } from "./seal.ts";
import { canonicalJson } from "../../port/mod.ts";
import { draftEvents } from "./_draft.ts";
import { openSqliteStore } from "../../store/sqlite/mod.ts";
const bench = (name: string, f: () => unknown, n = 5000) => {
  for (let i = 0; i < 500; i++) f();
  const rs: number[] = [];
  for (let r = 0; r < 5; r++) {
    const t = performance.now();
    for (let i = 0; i < n; i++) f();
    rs.push((performance.now() - t) * 1e3 / n);
  }
  console.log(name, Math.min(...rs).toFixed(2), "us");
};
const s = makeSigner(new Uint8Array(32).fill(1));
const H = "5f".repeat(32) as any;
const body = {
  argumentsHash: H,
  descriptor: H,
  call: "call_1",
  conversation: "main",
  tool: "file_read",
  rule: "built-in: read",
  session: "s00000000000a",
  x: "y".repeat(200),
};
const text = canonicalJson(body);
const msg = sealMessage(GENESIS, [H]);
const sig = s.sign(msg);
bench("sign", () => s.sign(msg));
bench(
  "hashEvent",
  () =>
    hashEvent({
      prev: GENESIS,
      task: "t000000000000",
      n: 5,
      kind: "intent",
      at: 1795304786563,
      body: text,
    }),
);
bench("sealMessage", () => sealMessage(GENESIS, [H]));
bench("sealText", () => sealText({ hashes: [H], signature: sig }));
bench("canon", () => canonicalJson(body));
bench(
  "draft",
  () =>
    draftEvents("t000000000000", [{ kind: "intent", body }], {
      at: 1,
      random: (n) => new Uint8Array(n),
    }),
);
bench("fromHex", () => Uint8Array.fromHex(H));
bench("sha 1 update", () => createHash("sha256").update(text).digest("hex"));
bench("sha bytes", () => createHash("sha256").update(sig).digest());
bench(
  "sha 4 up",
  () =>
    createHash("sha256").update("remit event 1\n").update(sig).update("x\n").update(text).digest(
      "hex",
    ),
);
bench("createHash only", () => createHash("sha256"));
const d = Deno.makeTempDirSync();
const db = new DatabaseSync(d + "/a.db");
db.exec(
  "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF; PRAGMA wal_autocheckpoint=0; CREATE TABLE events(seq INTEGER PRIMARY KEY, task TEXT NOT NULL, n INTEGER NOT NULL, kind TEXT, at INTEGER, hash BLOB NOT NULL CHECK(length(hash) = 32), body TEXT NOT NULL) STRICT; CREATE UNIQUE INDEX ec ON events(task,n); CREATE TABLE t(a INTEGER PRIMARY KEY, b); CREATE TABLE e2(seq INTEGER PRIMARY KEY, body BLOB) STRICT; CREATE TABLE e3(seq INTEGER PRIMARY KEY, task INT NOT NULL, n INTEGER NOT NULL, kind INT, at INTEGER, hash BLOB NOT NULL, body TEXT NOT NULL) STRICT; CREATE UNIQUE INDEX ec3 ON e3(task,n);",
);
const b = db.prepare("BEGIN IMMEDIATE"),
  c = db.prepare("COMMIT"),
  ins = db.prepare("INSERT INTO events(task, n, kind, at, hash, body) VALUES(?,?,?,?,?,?)"),
  i2 = db.prepare("INSERT INTO t(b) VALUES(?)"),
  i3 = db.prepare("INSERT INTO e2(body) VALUES(?)"),
  i4 = db.prepare(
    "INSERT INTO e3(task, n, kind, at, hash, body) VALUES(?,?,?,?,?,?),(?,?,?,?,?,?)",
  ),
  i5 = db.prepare("INSERT INTO e3(task, n, kind, at, hash, body) VALUES(?,?,?,?,?,?)");
let n = 0;
const hb = Uint8Array.fromHex(H);
bench("probe", () => i2.run("x".repeat(200)), 3000);
bench("begin+commit empty", () => {
  b.run();
  c.run();
}, 3000);
bench("2 rows txn", () => {
  b.run();
  ins.run("t000000000000", n, "intent", 1795304786563, hb, text);
  ins.run("kernel", n++, "seal", 1795304786563, hb, text.slice(0, 150));
  c.run();
}, 3000);
bench("2 rows txn int", () => {
  b.run();
  i5.run(1, n, 3, 1795304786563, hb, text);
  i5.run(2, n++, 4, 1795304786563, hb, text.slice(0, 150));
  c.run();
}, 3000);
bench("2 rows one stmt int", () => {
  i4.run(1, n, 3, 1795304786563, hb, text, 2, n++, 4, 1795304786563, hb, text.slice(0, 150));
}, 3000);
bench("1 blob", () => {
  i3.run(hb);
}, 3000);
