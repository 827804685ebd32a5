import assert from "node:assert/strict";
import { startWriter } from "./_fixture/processes.ts";
import { assertSound } from "./_fixture/sound.ts";
import { makeRig, named } from "./_fixture/wiki_rig.ts";

Deno.test("two processes write the same pages at once: conflicts, no word lost, and a third sees the changes", async () => {
  using rig = makeRig();
  const { store } = await rig.open();
  const generation = store.generation();
  const writers = ["alice", "bob"].map((name) => startWriter(rig, "append", name));
  for (const writer of writers) assert.equal(await writer.line(), "ready");
  const conflicts = await Promise.all(writers.map(async (writer) => {
    const said = await writer.line();
    const stderr = await writer.ended();
    assert.match(said ?? stderr, /^conflicts \d+$/);
    return Number(said?.slice("conflicts ".length));
  }));
  assert.ok(store.generation() >= generation + 30);
  for (const page of ["left", "right"]) {
    const text = store.pages.text(named(page)) ?? "";
    for (const name of ["alice", "bob"]) {
      for (let word = 0; word < 15; word++) {
        assert.ok(text.includes(`${name}${word}.`), `${name}${word} is lost in ${page}`);
      }
    }
    assert.equal(store.pages.get(named(page))?.version, 30);
  }
  const refused = store.patches.list("conflict");
  assert.equal(refused.length, (conflicts[0] ?? 0) + (conflicts[1] ?? 0));
  assert.equal(store.patches.list("applied").length, 30);
  await assertSound(rig, store);
  store.close();
});
