import assert from "node:assert/strict";
import { PageName } from "../../contracts/memory/mod.ts";
import { makeRig, sourceFrom, writePages, writing } from "../store/_fixture/wiki_rig.ts";
import type { NewSource, WikiStore } from "../store/wiki_store.ts";
import { extractPages } from "./extract_pages.ts";

const NOW = () => 1_795_337_000_000;
const GLOSSARY =
  "# Glossary\n\n- **lease**: a grant with an end.\n- **grant**: to hand over a right.\n";
const run = (store: WikiStore, dryRun = false) => extractPages(store, { now: NOW, dryRun });
const name = (text: string) => PageName.parse(text);

async function take(
  store: WikiStore,
  key: string,
  text: string,
  more: Partial<NewSource> = {},
): Promise<void> {
  await store.sources.add(sourceFrom(key, text, { title: key.split("/").at(-1) ?? key, ...more }));
}

Deno.test("pages are written once; a second run writes nothing, a changed source only its own", async () => {
  using rig = makeRig();
  const { store } = await rig.open();
  await take(store, "file:/d/glossary.md", GLOSSARY);
  await take(store, "file:/d/other.md", "# Other\n\nNothing of it is told here, and it ends.\n");
  const first = await run(store);
  assert.deepEqual([...first.written].sort(), ["glossary-md", "grant", "lease", "other-md"]);
  assert.deepEqual(await run(store), { written: [], unchanged: 4, conflicts: [] });
  await take(
    store,
    "file:/d/other.md",
    "# Other\n\nSomething else is told here, and it goes on.\n",
  );
  assert.deepEqual((await run(store)).written, ["other-md"]);
  const lease = store.pages.get(name("lease"));
  assert.equal(lease?.author, "extract");
  assert.equal(lease?.citations.length, 1);
  store.close();
});

Deno.test("a dry run tells what it would write and writes nothing", async () => {
  using rig = makeRig();
  const { store } = await rig.open();
  await take(store, "file:/d/glossary.md", GLOSSARY);
  assert.equal((await run(store, true)).written.length, 3);
  assert.equal(store.pages.list({ clearance: "secret" }).length, 0);
  store.close();
});

Deno.test("alice's page stays hers, also when the rules would write one of its name", async () => {
  using rig = makeRig();
  const { store } = await rig.open();
  await take(store, "file:/d/glossary.md", GLOSSARY);
  await writePages(store, [writing("lease", "# Lease\n\n*Mine.*\n")]);
  const { written, conflicts } = await run(store);
  assert.equal(written.includes("lease"), false);
  assert.deepEqual(conflicts, []);
  assert.match(store.pages.text(name("lease")) ?? "", /\*Mine\.\*/);
  store.close();
});

Deno.test("a secret source and a RED one make pages of their own, and touch no other page", async () => {
  using rig = makeRig();
  const { store } = await rig.open();
  await take(store, "file:/d/glossary.md", GLOSSARY);
  await run(store);
  const before = store.pages.text(name("lease"));
  await take(
    store,
    "file:/s/glossary.md",
    "# Secret glossary\n\n- **lease**: the PLAN of midnight.\n- **midnight**: when it is done.\n",
    { label: "secret" },
  );
  await take(
    store,
    "https://evil.example/g",
    "# Web glossary\n\n- **lease**: whatever MALLORY says.\n- **owner**: mallory it is.\n",
    { colour: "RED" },
  );
  const { written } = await run(store);
  assert.equal(store.pages.text(name("lease")), before);
  assert.deepEqual([...written].sort().filter((page) => page.startsWith("lease")), [
    "lease-internal-red",
    "lease-secret-yellow",
  ]);
  for (const page of store.pages.list({ clearance: "secret" })) {
    const text = store.pages.text(page.name) ?? "";
    assert.equal(
      page.label,
      /midnight|PLAN|s\/glossary/i.test(text) ? "secret" : "internal",
      page.name,
    );
    assert.equal(page.colour, /mallory|evil/i.test(text) ? "RED" : "YELLOW", page.name);
  }
  store.close();
});

Deno.test("when a source is gone, the pages that rules made of it alone go too", async () => {
  using rig = makeRig();
  const { store } = await rig.open();
  await take(store, "file:/d/glossary.md", GLOSSARY);
  await take(
    store,
    "file:/d/other.md",
    "# Other\n\nSomething else is told here, and it goes on.\n",
  );
  await run(store);
  store.sources.remove("file:/d/glossary.md");
  await run(store);
  assert.deepEqual(store.pages.list({ clearance: "secret" }).map((page) => page.name), [
    "other-md",
  ]);
  store.close();
});

Deno.test("a page that carol deleted is not made again", async () => {
  using rig = makeRig();
  const { store } = await rig.open();
  await take(store, "file:/d/glossary.md", GLOSSARY);
  await run(store);
  await writePages(store, [{ kind: "delete", base: 1, name: name("lease") }]);
  assert.deepEqual((await run(store)).written, []);
  assert.equal(store.pages.get(name("lease")), undefined);
  store.close();
});

Deno.test("a page that carol edits by hand meanwhile stays hers, and the others are still written", async () => {
  using rig = makeRig();
  const { store } = await rig.open();
  await take(store, "file:/d/glossary.md", GLOSSARY);
  await run(store);
  const file = `${rig.folder}/pages/lease.md`;
  const edited = `${Deno.readTextFileSync(file)}\nMy own words.\n`;
  Deno.writeTextFileSync(file, edited);
  await take(store, "file:/d/glossary.md", GLOSSARY.replaceAll("a grant with", "one grant with"));
  const { written, conflicts } = await run(store);
  assert.deepEqual(conflicts, ["lease"]);
  assert.ok(written.includes("glossary-md") && !written.includes("lease"));
  assert.equal(Deno.readTextFileSync(file), edited);
  store.close();
});

/** The same store, counting how often a source's text is read. */
function counting(store: WikiStore): { readonly store: WikiStore; readonly reads: () => number } {
  let count = 0;
  const sources = {
    ...store.sources,
    lines: (...given: Parameters<WikiStore["sources"]["lines"]>) => {
      count += 1;
      return store.sources.lines(...given);
    },
  };
  return { store: { ...store, sources }, reads: () => count };
}

Deno.test("where nothing changed nothing is read, not even after pages were written; each change is seen", async () => {
  using rig = makeRig();
  const { store } = await rig.open();
  await take(store, "file:/d/glossary.md", GLOSSARY);
  const { written } = await run(store);
  const counted = counting(store);
  const again = async () => {
    const before = counted.reads();
    const report = await run(counted.store);
    return { ...report, read: counted.reads() > before };
  };
  const none = { written: [], unchanged: written.length, conflicts: [], read: false };
  assert.deepEqual(await again(), none);
  await writePages(store, [writing("lease", "# Lease\n\n*Mine.*\n", 1)]);
  assert.deepEqual(await again(), { ...none, read: true });
  assert.deepEqual(await again(), none);
  await take(store, "file:/d/other.md", "# Other\n\nNothing of it is told here, and it ends.\n");
  assert.deepEqual((await again()).written, ["other-md"]);
  assert.equal((await again()).read, false);
  store.sources.remove("file:/d/other.md");
  assert.deepEqual((await again()).written, ["other-md"]);
  assert.deepEqual(await again(), none);
  store.close();
});

Deno.test("a source that ends is noticed by the clock alone", async () => {
  using rig = makeRig();
  const { store } = await rig.open();
  await take(store, "file:/d/glossary.md", GLOSSARY, { expiresAt: NOW() + 1_000 });
  const { written } = await run(store);
  assert.deepEqual((await run(store)).written, []);
  const later = await extractPages(store, { now: () => NOW() + 1_000, dryRun: false });
  assert.deepEqual([...later.written].sort(), [...written].sort());
  assert.equal(store.pages.list({ clearance: "secret" }).length, 0);
  store.close();
});

Deno.test("what another process takes in while pages are written is not forgotten", async () => {
  using rig = makeRig();
  const { store } = await rig.open();
  await take(store, "file:/d/glossary.md", GLOSSARY);
  let other: Promise<void> | undefined;
  const patches = {
    ...store.patches,
    async apply(...given: Parameters<WikiStore["patches"]["apply"]>) {
      other ??= take(
        store,
        "file:/d/other.md",
        "# Other\n\nNothing of it is told here, and it ends.\n",
      );
      await other;
      return await store.patches.apply(...given);
    },
  };
  assert.equal((await run({ ...store, patches })).written.includes("other-md"), false);
  assert.deepEqual((await run(store)).written, ["other-md"]);
  store.close();
});
