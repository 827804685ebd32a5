import assert from "node:assert/strict";
import { dyingPowers } from "./_fixture/dying_powers.ts";
import { faultOf } from "./_fixture/faults.ts";
import { assertSound } from "./_fixture/sound.ts";
import { makeRig, named, sourceFrom, writePages, writing } from "./_fixture/wiki_rig.ts";
import { wikiStorePowers } from "./store_powers.ts";

function leftovers(folder: string): readonly string[] {
  return ["raw", "pages", "."].flatMap((part) =>
    [...Deno.readDirSync(`${folder}/${part}`)].map(({ name }) => name).filter((name) =>
      name.startsWith(".remit-")
    )
  );
}

Deno.test("a disk that is full while files are written: storeFull, nothing half, and it goes on with room", async () => {
  using rig = makeRig();
  const dying = dyingPowers();
  const { store } = await rig.open({ powers: dying.powers });
  await writePages(store, [writing("a", "one\n"), writing("b", "one\n")]);
  const patch = store.patches.propose({
    author: "x",
    reason: "y",
    changes: [writing("a", "two\n", 1), writing("b", "two\n", 1), writing("c", "two\n")],
    colour: "BLUE",
    label: "public",
  });
  for (const writes of [0, 1, 2]) {
    dying.fullAfter(writes);
    const refused = await faultOf(() => store.patches.apply(patch.id, "operator"));
    assert.deepEqual([refused.code, /full; make room/.test(refused.message)], ["storeFull", true]);
    const ingest = await faultOf(() =>
      store.sources.addAll(["p", "q", "r"].map((key) => sourceFrom(`file:/${key}`, `${key}\n`)))
    );
    assert.equal(ingest.code, "storeFull");
    dying.heal();
    assert.equal(store.patches.get(patch.id)?.state, "proposed");
    assert.equal(store.pages.get(named("a"))?.version, 1);
    assert.deepEqual(store.sources.list({}), []);
    assert.deepEqual(leftovers(rig.folder), []);
    await assertSound(rig, store);
  }
  assert.equal((await store.patches.apply(patch.id, "operator")).state, "applied");
  await assertSound(rig, store);
  store.close();
});

Deno.test("index.md and log.md that find no room follow with the next change", async () => {
  using rig = makeRig();
  const dying = dyingPowers();
  const { store } = await rig.open({ powers: dying.powers });
  // Room for the page's own file and no more.
  dying.fullAfter(1);
  const patch = await writePages(store, [writing("a", "one\n")]);
  assert.equal(patch.state, "applied");
  assert.doesNotMatch(Deno.readTextFileSync(`${rig.folder}/index.md`), /\[\[a\]\]/);
  dying.heal();
  store.log.append({ kind: "lint", by: "carol", text: "looked" });
  assert.match(Deno.readTextFileSync(`${rig.folder}/index.md`), /\[\[a\]\]/);
  await assertSound(rig, store);
  store.close();
});

Deno.test("a database that may not grow: storeFull, nothing half, and it goes on with room", async () => {
  using rig = makeRig();
  const real = wikiStorePowers();
  let limit: (pages: number) => void = () => assert.fail("no database was opened");
  const powers = {
    ...real,
    openDatabase: (options: Parameters<typeof real.openDatabase>[0]) => {
      const db = real.openDatabase(options);
      limit = (pages) => void db.get(`PRAGMA max_page_count=${pages}`);
      return db;
    },
  };
  const { store } = await rig.open({ powers });
  await store.sources.add(sourceFrom("file:/first.md", "first\n"));
  limit(1);
  const words = Array.from({ length: 20_000 }, (_, n) => `word${n}`).join(" \n");
  const many = () =>
    store.sources.addAll([sourceFrom("file:/many.md", words), sourceFrom("file:/more.md", "x\n")]);
  assert.equal((await faultOf(many)).code, "storeFull");
  assert.deepEqual(store.sources.list({}).map(({ key }) => key), ["file:/first.md"]);
  await assertSound(rig, store);
  limit(1_000_000);
  assert.deepEqual((await many()).map(({ did }) => did), ["new", "new"]);
  await assertSound(rig, store);
  store.close();
});
