import assert from "node:assert/strict";
import { citing, makeRig, named, sourceFrom, writePages, writing } from "../_fixture/wiki_rig.ts";
import { STAGED } from "../files/wiki_folder.ts";
import { wikiStorePowers } from "../store_powers.ts";

Deno.test("hand edits, new files and removed files are taken in once, as versions by hand", async () => {
  using rig = makeRig();
  const { store } = await rig.open();
  await writePages(store, [writing("a", "one\n"), writing("b", "one\n"), writing("c", "one\n")]);
  const pages = `${rig.folder}/pages`;
  Deno.writeTextFileSync(
    `${pages}/a.md`,
    Deno.readTextFileSync(`${pages}/a.md`).replace("one", "two"),
  );
  Deno.removeSync(`${pages}/b.md`);
  Deno.writeTextFileSync(`${pages}/neu.md`, "# Neu\n\nWords. [[a]]\n");
  const generation = store.generation();
  const { taken, removed, problems } = await store.pages.sync();
  assert.deepEqual([[...taken].sort(), removed, problems], [["a", "neu"], ["b"], []]);
  assert.ok(store.generation() > generation);
  const a = store.pages.get(named("a"));
  assert.deepEqual([a?.version, a?.author, a?.colour, a?.label], [2, "hand", "YELLOW", "internal"]);
  assert.equal(store.pages.get(named("neu"))?.title, "Neu");
  assert.deepEqual(store.pages.backlinks(named("a")), ["neu"]);
  assert.equal(store.pages.get(named("b")), undefined);
  const after = store.generation();
  assert.deepEqual(await store.pages.sync(), { taken: [], removed: [], problems: [] });
  assert.equal(store.generation(), after);
  assert.equal(store.log.verify(), undefined);
  assert.match(Deno.readTextFileSync(`${rig.folder}/index.md`), /\[\[neu\|Neu\]\]/);
  store.close();
});

Deno.test("an edit of the same length within the clock's grain is seen", async () => {
  using rig = makeRig();
  const { store } = await rig.open();
  await writePages(store, [writing("a", "one\n")]);
  const path = `${rig.folder}/pages/a.md`;
  for (const word of ["two", "six", "ten", "one", "two"]) {
    await store.pages.sync();
    Deno.writeTextFileSync(
      path,
      Deno.readTextFileSync(path).replace(/(one|two|six|ten)\n/, `${word}\n`),
    );
    assert.deepEqual((await store.pages.sync()).taken, ["a"], word);
  }
  store.close();
});

Deno.test("front matter that a hand changes does not make a page better, nor one the store knows worse", async () => {
  using rig = makeRig();
  const { store } = await rig.open();
  await writePages(store, [writing("a", "one\n")], { colour: "RED", label: "secret" });
  const path = `${rig.folder}/pages/a.md`;
  const shown = Deno.readTextFileSync(path);
  Deno.writeTextFileSync(path, shown.replace("RED", "BLUE").replace("secret", "public"));
  Deno.writeTextFileSync(
    `${rig.folder}/pages/new.md`,
    "---\nkind: concept\ntitle: N\ncolour: BLUE\nlabel: public\n---\nx\n",
  );
  Deno.writeTextFileSync(
    `${rig.folder}/pages/bad.md`,
    "---\nkind: concept\ntitle: N\ncolour: RED\nlabel: secret\n---\nx\n",
  );
  await store.pages.sync();
  const trust = (name: string) => {
    const page = store.pages.get(named(name));
    return [page?.colour, page?.label];
  };
  assert.deepEqual(trust("a"), ["RED", "secret"]);
  assert.deepEqual(trust("new"), ["YELLOW", "internal"]);
  assert.deepEqual(trust("bad"), ["RED", "secret"]);
  store.close();
});

Deno.test("a hand edit that cites a RED or secret source becomes so", async () => {
  using rig = makeRig();
  const { store } = await rig.open();
  const source = await store.sources.add(
    sourceFrom("https://e.example/", "x\n", { colour: "RED", label: "secret" }),
  );
  Deno.writeTextFileSync(`${rig.folder}/pages/a.md`, `y.[^1]\n\n${citing("1", source, 1)}\n`);
  await store.pages.sync();
  const page = store.pages.get(named("a"));
  assert.deepEqual([page?.colour, page?.label, page?.sources], ["RED", "secret", [source.digest]]);
  store.close();
});

Deno.test("what is no page is left alone and told", async () => {
  using rig = makeRig();
  const { store } = await rig.open();
  await writePages(store, [writing("a", "one\n")]);
  const pages = `${rig.folder}/pages`;
  Deno.writeTextFileSync(`${rig.dir}/outside`, "---\ntitle: out\n---\nsecret of mine\n");
  Deno.symlinkSync(`${rig.dir}/outside`, `${pages}/link.md`);
  Deno.removeSync(`${pages}/a.md`);
  Deno.symlinkSync(`${rig.dir}/outside`, `${pages}/a.md`);
  Deno.mkdirSync(`${pages}/folder.md`);
  Deno.writeTextFileSync(`${pages}/bad name.md`, "x\n");
  Deno.writeFileSync(`${pages}/latin.md`, new Uint8Array([0x66, 0xfc, 0x0a]));
  Deno.writeTextFileSync(`${pages}/long.md`, "x".repeat(1_048_577));
  Deno.writeTextFileSync(`${pages}/front.md`, "---\nkind: [\n---\nx\n");
  Deno.writeTextFileSync(`${pages}/notes.txt`, "x\n");
  const { taken, removed, problems } = await store.pages.sync();
  assert.deepEqual([taken, removed], [[], []]);
  assert.deepEqual(problems.map(({ file }) => file).sort(), [
    "pages/a.md",
    "pages/bad name.md",
    "pages/folder.md",
    "pages/front.md",
    "pages/latin.md",
    "pages/link.md",
    "pages/long.md",
  ]);
  assert.equal(store.pages.get(named("a"))?.version, 1);
  store.close();
});

Deno.test("what alice saves after a page was looked at, and before a patch takes its place, stays and is taken in", async () => {
  const real = wikiStorePowers();
  const saves = new Set<string>();
  let settling = false;
  const files: typeof real.files = {
    ...real.files,
    rename(from, to) {
      real.files.rename(from, to);
      // Pages are put in place in the order of their names: from here on, each is read for the last time.
      settling ||= to.endsWith("/pages/a.md");
    },
    open(path) {
      const file = real.files.open(path);
      if (settling && saves.delete(path)) {
        Deno.writeTextFileSync(`${path}~`, "words of alice\n");
        Deno.renameSync(`${path}~`, path);
      }
      return file;
    },
  };
  using rig = makeRig();
  const { store } = await rig.open({ powers: { ...real, files } });
  const pages = `${rig.folder}/pages`;
  await writePages(store, ["a", "changed", "removed"].map((name) => writing(name, "one\n")));
  settling = false;
  for (const name of ["changed", "removed"]) saves.add(`${pages}/${name}.md`);
  await writePages(store, [
    writing("a", "two\n", 1),
    writing("changed", "two\n", 1),
    { kind: "delete", base: 1, name: named("removed") },
  ]);
  assert.equal(saves.size, 0);
  for (const name of ["changed", "removed"]) {
    assert.equal(Deno.readTextFileSync(`${pages}/${name}.md`), "words of alice\n");
  }
  assert.deepEqual([...(await store.pages.sync()).taken].sort(), ["changed", "removed"]);
  assert.match(store.pages.text(named("changed"), 2) ?? "", /two/);
  for (const name of ["changed", "removed"]) {
    assert.equal(store.pages.text(named(name), 3), "words of alice\n");
  }
  // Nothing of what gave way lies about.
  assert.deepEqual([...Deno.readDirSync(pages)].filter(({ name }) => name.startsWith(STAGED)), []);
  store.close();
});
