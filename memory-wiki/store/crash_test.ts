/** A crash before each single step of what the store does, one after the other. */
import assert from "node:assert/strict";
import { Died, dyingPowers } from "./_fixture/dying_powers.ts";
import { assertNoHalfPage, assertSound } from "./_fixture/sound.ts";
import {
  citing,
  makeRig,
  named,
  type Rig,
  sourceFrom,
  writePages,
  writing,
} from "./_fixture/wiki_rig.ts";
import type { WikiStore } from "./wiki_store.ts";

/** What a round finds before it dies. */
async function begun(store: WikiStore): Promise<void> {
  await store.sources.addAll([
    sourceFrom("file:/a.md", "one\n"),
    sourceFrom("file:/b.md", "one b\n"),
  ]);
  await writePages(store, [
    writing("left", "one\n"),
    writing("right", "one\n"),
    writing("gone", "one\n"),
  ]);
}

/** Crashes `work` before its first step, its second and so on, until it comes to its end. */
async function atEveryStep(
  work: (store: WikiStore) => Promise<unknown>,
  look: (rig: Rig, store: WikiStore) => void,
): Promise<number> {
  for (let step = 1;; step++) {
    using rig = makeRig();
    const dying = dyingPowers();
    const { store } = await rig.open({ powers: dying.powers });
    await begun(store);
    dying.dieAt(step);
    let died = false;
    try {
      await work(store);
    } catch (error) {
      for (let one: unknown = error; one instanceof Error; one = one.cause) {
        died ||= one instanceof Died;
      }
      if (!died) throw error;
    }
    dying.bury();
    if (!died) return step - 1;
    assertNoHalfPage(rig);
    const again = (await rig.open({ create: false })).store;
    await assertSound(rig, again);
    look(rig, again);
    // And it goes on.
    await writePages(again, [writing("after", "one\n")]);
    await assertSound(rig, again);
    again.close();
  }
}

Deno.test("a crash before any step of applying a patch leaves all of it or nothing", async () => {
  const steps = await atEveryStep(async (store) => {
    const source = store.sources.current("file:/a.md") ?? assert.fail();
    await writePages(store, [
      writing("left", `two.[^1]\n\n${citing("1", source, 1)}\n`, 1),
      writing("right", "two\n", 1),
      writing("new", "two\n"),
      { kind: "delete", base: 1, name: named("gone") },
    ]);
  }, (rig, store) => {
    const versions = ["left", "right", "new", "gone"].map((name) =>
      store.pages.get(named(name))?.version
    );
    const all = JSON.stringify(versions);
    assert.ok(all === "[1,1,null,1]" || all === "[2,2,1,null]", all);
    const files = [...Deno.readDirSync(`${rig.folder}/pages`)].map(({ name }) => name)
      .filter((name) => !name.startsWith(".")).sort();
    assert.deepEqual(
      files,
      versions[0] === 1 ? ["gone.md", "left.md", "right.md"] : ["left.md", "new.md", "right.md"],
    );
  });
  assert.ok(steps > 15, `${steps}`);
});

Deno.test("a crash before any step of an ingest leaves all of a batch or nothing", async () => {
  const steps = await atEveryStep(async (store) => {
    await store.sources.addAll([
      sourceFrom("file:/a.md", "two\n"),
      sourceFrom("file:/new.md", "two of it\n", { label: "secret" }),
      sourceFrom("file:/p.html", "text", {
        kind: "html",
        text: new TextEncoder().encode("text form\n"),
        chunks: [],
      }),
    ]);
  }, (_rig, store) => {
    const keys = store.sources.list({ state: "current" }).map(({ key, version }) =>
      `${key} ${version}`
    ).sort();
    const all = keys.join();
    assert.ok(
      all === "file:/a.md 1,file:/b.md 1" ||
        all === "file:/a.md 2,file:/b.md 1,file:/new.md 1,file:/p.html 1",
      all,
    );
  });
  assert.ok(steps > 5, `${steps}`);
});

Deno.test("a crash before any step of taking in hand edits loses none of them", async () => {
  for (let step = 1;; step++) {
    using rig = makeRig();
    const dying = dyingPowers();
    const { store } = await rig.open({ powers: dying.powers });
    await begun(store);
    const pages = `${rig.folder}/pages`;
    Deno.writeTextFileSync(`${pages}/left.md`, "by hand\n");
    Deno.writeTextFileSync(`${pages}/made.md`, "by hand\n");
    Deno.removeSync(`${pages}/gone.md`);
    dying.dieAt(step);
    const died = await store.pages.sync().then(
      () => false,
      (error: Error) => error instanceof Died,
    );
    dying.bury();
    const again = (await rig.open({ create: false })).store;
    await again.pages.sync();
    await assertSound(rig, again);
    assert.equal(again.pages.text(named("left")), "by hand\n");
    assert.equal(again.pages.get(named("left"))?.version, 2);
    assert.equal(again.pages.get(named("made"))?.version, 1);
    assert.equal(again.pages.get(named("gone")), undefined);
    again.close();
    if (!died) {
      assert.ok(step > 3, `${step}`);
      return;
    }
  }
});

Deno.test("a process that is open already finishes what a dead one left, before it looks for hand edits or writes", async () => {
  for (const next of ["sync", "apply"] as const) {
    using rig = makeRig();
    const dying = dyingPowers();
    const { store } = await rig.open({ powers: dying.powers });
    await begun(store);
    const { store: other } = await rig.open();
    // The transaction stands, and none of its files is in place.
    for (let step = 1;; step++) {
      dying.dieAt(step);
      const changes = [writing("left", `two ${step}\n`, 1), writing("right", "two\n", 1)];
      const died = await writePages(store, changes).then(() => false, () => true);
      assert.ok(died, "it never died between");
      if (other.pages.get(named("left"))?.version === 2) break;
    }
    dying.bury();
    assert.match(Deno.readTextFileSync(`${rig.folder}/pages/left.md`), /one\n$/);
    if (next === "sync") {
      assert.deepEqual(await other.pages.sync(), { taken: [], removed: [], problems: [] });
    } else {
      assert.equal((await writePages(other, [writing("right", "three\n", 2)])).state, "applied");
    }
    assert.match(Deno.readTextFileSync(`${rig.folder}/pages/left.md`), /two \d+\n$/);
    await assertSound(rig, other);
    other.close();
  }
});
