import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { makeRig } from "./_fixture/wiki_rig.ts";

const step = (text: string) => ({ kind: "query", by: "carol", text });

Deno.test("each step is one line of log.md, whatever it says, and the chain holds", async () => {
  using rig = makeRig();
  const { store } = await rig.open();
  store.log.append(step("plain"));
  store.log.append(step("two\nlines\u001b[2J `x` <b> [[a]] \u202e"));
  store.log.append(step("y".repeat(5_000)));
  const text = Deno.readTextFileSync(`${rig.folder}/log.md`);
  const lines = text.split("\n").filter((line) => line.startsWith("- "));
  assert.deepEqual(lines.length, 3);
  assert.match(lines[0] ?? "", /^- 1 \d{4}-\S+Z \*\*query\*\* carol: plain `[0-9a-f]{12}`$/);
  for (const bad of ["\u001b", "\u202e", "<b>", "[["]) assert.ok(!text.includes(bad), bad);
  assert.ok((lines[2] ?? "").length < 700);
  assert.deepEqual(store.log.list({ afterN: 1, limit: 1 }).map(({ n }) => n), [2]);
  assert.equal(store.log.verify(), undefined);
  store.close();
});

Deno.test("a log.md that a crash cut is completed from the record; also one that is gone", async () => {
  using rig = makeRig();
  const first = (await rig.open()).store;
  for (let n = 0; n < 5; n++) first.log.append(step(`step ${n}`));
  first.close();
  const path = `${rig.folder}/log.md`;
  const whole = Deno.readTextFileSync(path);
  for (const length of [0, 10, whole.length - 7, whole.length - 1]) {
    Deno.writeTextFileSync(path, whole.slice(0, length));
    const { store, repaired } = await rig.open();
    assert.match(repaired.join(), /log\.md/);
    assert.ok(Deno.readTextFileSync(path).startsWith(whole));
    assert.equal(store.log.verify(), undefined);
    store.close();
  }
  Deno.removeSync(path);
  const { store } = await rig.open();
  assert.ok(Deno.readTextFileSync(path).startsWith(whole));
  assert.equal(store.log.verify(), undefined);
  store.close();
});

Deno.test("a log.md that was altered is told and kept, and goes on", async () => {
  using rig = makeRig();
  const first = (await rig.open()).store;
  first.log.append(step("mallory came"));
  first.log.append(step("two"));
  first.close();
  const path = `${rig.folder}/log.md`;
  const altered = Deno.readTextFileSync(path).replace("mallory came", "nobody came");
  for (const text of [altered, altered.replace("nobody came", "mallory CAME")]) {
    Deno.writeTextFileSync(path, text);
    const { store } = await rig.open();
    assert.match(store.log.verify() ?? "", /log\.md differs from the record at line 5/);
    store.log.append(step("three"));
    assert.ok(Deno.readTextFileSync(path).startsWith(text));
    assert.match(Deno.readTextFileSync(path), /three `[0-9a-f]{12}`\n$/);
    assert.match(store.log.verify() ?? "", /at line 5/);
    store.close();
  }
});

Deno.test("a record that was altered in the database is told", async () => {
  using rig = makeRig();
  const { store } = await rig.open();
  for (let n = 0; n < 3; n++) store.log.append(step(`step ${n}`));
  const db = new DatabaseSync(`${rig.stateFolder}/wiki.db`);
  assert.throws(() => db.exec("UPDATE log SET text = 'x' WHERE n = 2"), /append-only/);
  db.exec("DROP TRIGGER log_no_update; DROP TRIGGER log_no_delete");
  db.exec("UPDATE log SET text = 'x' WHERE n = 2");
  assert.match(store.log.verify() ?? "", /Step 2 .* altered/);
  db.exec("DELETE FROM log WHERE n = 2");
  assert.match(store.log.verify() ?? "", /no step 2/);
  db.close();
  store.close();
});
