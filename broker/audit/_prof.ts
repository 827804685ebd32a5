import { LOG_POWERS, makeSigner, openLog } from "./mod.ts";
import { openSqliteStore } from "../../store/sqlite/mod.ts";
import { DatabaseSync } from "node:sqlite";
const dir = Deno.makeTempDirSync();
const base = openSqliteStore({ path: `${dir}/log.db` });
let commitMs = 0, n = 0;
const ts: number[] = [];
const tot: number[] = [];
const probe: number[] = [];
const store = {
  ...base,
  commit: async (b: any) => {
    const t = performance.now();
    await base.commit(b);
    ts.push(performance.now() - t);
  },
};
const db = new DatabaseSync(`${dir}/p.db`);
db.exec(
  "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE t(a INTEGER PRIMARY KEY, b)",
);
const ins = db.prepare("INSERT INTO t(b) VALUES(?)");
const signer = makeSigner(LOG_POWERS.random(32));
const log = await openLog({ store, signer, ...LOG_POWERS });
const H = "5f".repeat(32);
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
for (let i = 0; i < 3000; i++) {
  let t = performance.now();
  await log.append("t000000000000", [{ kind: "intent", body }]);
  tot.push(performance.now() - t);
  t = performance.now();
  ins.run("x".repeat(200));
  probe.push(performance.now() - t);
}
const q = (a: number[], p: number) =>
  a.slice(500).sort((x, y) => x - y)[Math.floor((a.length - 500) * p)];
console.log(
  "append",
  q(tot, .5),
  "commit",
  q(ts, .5),
  "probe",
  q(probe, .5),
  "p90",
  q(tot, .9),
  q(ts, .9),
  q(probe, .9),
);
// pieces
const t0 = performance.now();
for (let i = 0; i < 3000; i++) await new Promise<void>((r) => setImmediate(r));
console.log("setImmediate us", (performance.now() - t0) / 3);
const none = { ...base, commit: async () => {} };
const log2 = await openLog({
  store: { ...none, heads: async () => [] } as any,
  signer,
  ...LOG_POWERS,
});
const t1 = performance.now();
for (let i = 0; i < 3000; i++) await log2.append("t000000000000", [{ kind: "intent", body }]);
console.log("append no disk us", (performance.now() - t1) / 3);
