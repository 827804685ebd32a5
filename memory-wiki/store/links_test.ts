import assert from "node:assert/strict";
import { faultOf } from "./_fixture/faults.ts";
import { makeRig, sourceFrom, writePages, writing } from "./_fixture/wiki_rig.ts";

/** What lies at mallory's place must be as it was. */
function outside(dir: string) {
  const path = `${dir}/outside`;
  Deno.mkdirSync(path);
  Deno.writeTextFileSync(`${path}/file`, "mine\n");
  return {
    path,
    untouched(): void {
      assert.deepEqual([...Deno.readDirSync(path)].map(({ name }) => name), ["file"]);
      assert.equal(Deno.readTextFileSync(`${path}/file`), "mine\n");
    },
  };
}

for (const part of ["raw", "pages"] as const) {
  Deno.test(`a wiki whose ${part}/ is a symbolic link is not opened, nor used when it became one`, async () => {
    using rig = makeRig();
    const there = outside(rig.dir);
    const { store } = await rig.open();
    await writePages(store, [writing("a", "one\n")]);
    Deno.renameSync(`${rig.folder}/${part}`, `${rig.folder}/${part}-before`);
    Deno.symlinkSync(there.path, `${rig.folder}/${part}`);
    const work = part === "raw"
      ? () => store.sources.add(sourceFrom("file:/x.md", "x\n"))
      : () => writePages(store, [writing("b", "one\n")]);
    const refused = await faultOf(work);
    assert.deepEqual([refused.code, /swapped for a symbolic link/.test(refused.message)], [
      "refused",
      true,
    ]);
    store.close();
    const opening = await faultOf(() => rig.open());
    assert.deepEqual([opening.code, /is a symbolic link/.test(opening.message)], ["refused", true]);
    there.untouched();
  });
}

Deno.test("a wiki's folder that is a link, or became another folder, is refused", async () => {
  using rig = makeRig();
  const { store } = await rig.open();
  Deno.renameSync(rig.folder, `${rig.dir}/moved`);
  Deno.symlinkSync(`${rig.dir}/moved`, rig.folder);
  assert.equal((await faultOf(() => writePages(store, [writing("a", "x\n")]))).code, "refused");
  assert.equal((await faultOf(() => rig.open())).code, "refused");
  Deno.removeSync(rig.folder);
  for (const part of ["", "/raw", "/pages"]) Deno.mkdirSync(`${rig.folder}${part}`);
  const other = await faultOf(() => writePages(store, [writing("a", "x\n")]));
  assert.match(other.message, /not the folder that was opened/);
  store.close();
  Deno.mkdirSync(`${rig.dir}/in`);
  Deno.symlinkSync(`${rig.dir}/moved`, `${rig.dir}/in/link`);
  const within = await faultOf(() => rig.open({ folder: `${rig.dir}/in/link/raw/..` }));
  assert.equal(within.code, "refused");
  assert.deepEqual([...Deno.readDirSync(`${rig.dir}/moved/pages`)], []);
});

for (const file of ["index.md", "log.md", "raw/sources.jsonl"]) {
  Deno.test(`${file} as a symbolic or hard link elsewhere is refused before anything is applied`, async () => {
    using rig = makeRig();
    const there = outside(rig.dir);
    const { store } = await rig.open();
    await store.sources.add(sourceFrom("file:/a.md", "x\n"));
    await writePages(store, [writing("a", "one\n")]);
    for (const link of [Deno.symlinkSync, Deno.linkSync]) {
      Deno.removeSync(`${rig.folder}/${file}`);
      link(`${there.path}/file`, `${rig.folder}/${file}`);
      const refused = await faultOf(() => writePages(store, [writing("b", "one\n")]));
      assert.equal(refused.code, "refused");
      assert.match(refused.message, new RegExp(file));
      assert.equal(store.pages.find("b"), undefined);
      there.untouched();
    }
    store.close();
  });
}

Deno.test("a page's file that became a link is not written through, read or removed", async () => {
  using rig = makeRig();
  const there = outside(rig.dir);
  const { store } = await rig.open();
  await writePages(store, [writing("a", "one\n")]);
  const path = `${rig.folder}/pages/a.md`;
  Deno.removeSync(path);
  Deno.symlinkSync(`${there.path}/file`, path);
  const page = store.pages.find("a") ?? assert.fail();
  assert.equal(
    (await faultOf(() => writePages(store, [writing("a", "two\n", 1)]))).code,
    "refused",
  );
  assert.equal(
    (await faultOf(() => writePages(store, [{ kind: "delete", base: 1, name: page.name }]))).code,
    "refused",
  );
  assert.equal((await faultOf(() => store.pages.onDisk(page.name))).code, "refused");
  there.untouched();
  assert.equal(store.pages.find("a")?.version, 1);
  // A link that leads nowhere does not pass for an absent file.
  Deno.symlinkSync(`${there.path}/nothing`, `${rig.folder}/pages/n.md`);
  assert.equal((await faultOf(() => writePages(store, [writing("n", "x\n")]))).code, "refused");
  there.untouched();
  store.close();
});

Deno.test("a raw file that became a link, a folder or a pipe is not read, written through, nor waited for", async () => {
  using rig = makeRig();
  const there = outside(rig.dir);
  const { store } = await rig.open();
  const source = await store.sources.add(sourceFrom("file:/x.md", "mine\n"));
  const path = `${rig.folder}/${source.raw}`;
  Deno.removeSync(path);
  Deno.symlinkSync(`${there.path}/file`, path);
  assert.equal((await faultOf(() => store.sources.lines(source, 1, 1))).code, "refused");
  assert.equal(
    (await faultOf(() => store.sources.add(sourceFrom("file:/y/x.md", "mine\n")))).code,
    "refused",
  );
  Deno.removeSync(path);
  Deno.mkdirSync(path);
  assert.equal((await faultOf(() => store.sources.lines(source, 1, 1))).code, "refused");
  Deno.removeSync(path);
  assert.ok((await new Deno.Command("mkfifo", { args: [path] }).output()).success);
  assert.equal((await faultOf(() => store.sources.lines(source, 1, 1))).code, "refused");
  there.untouched();
  store.close();
});
