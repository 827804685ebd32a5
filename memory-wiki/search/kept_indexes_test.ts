import assert from "node:assert/strict";
import { makeMemoryFiles, type MemoryFiles } from "./_fixture/memory_files.ts";
import { makeTwinStore } from "./_fixture/twin_store.ts";
import { readIndex } from "./kept_indexes.ts";
import type { SearchedStore } from "./passage.ts";
import { makeWikiSearch, type WikiSearch } from "./search.ts";

const FILE = "pages-internal.idx";
const NAMES = ["Apple", "Banana", "Cherry", "Damson"];

/** A twin of four pages whose reading is counted. */
function filled() {
  const twin = makeTwinStore();
  for (const name of NAMES) twin.putPage({ name, text: `# ${name}\n\nThe ${name} is a fruit.\n` });
  const read: string[] = [];
  const store: SearchedStore = {
    ...twin.store,
    pages: {
      ...twin.store.pages,
      text(name, version) {
        read.push(name);
        return twin.store.pages.text(name, version);
      },
    },
  };
  const files = makeMemoryFiles();
  const search = (): WikiSearch => makeWikiSearch(store, { now: () => 0, files });
  return { twin, files, read, search };
}

async function names(search: WikiSearch, text: string): Promise<readonly string[]> {
  const { hits } = await search.query({ text, k: 9, clearance: "internal" });
  return hits.map(({ origin }) => origin).sort();
}

Deno.test("the next process reads what was kept, and indexes no page again", async () => {
  const { files, read, search } = filled();
  const first = search();
  assert.equal(first.state(), "missing");
  assert.deepEqual(await names(first, "fruit"), NAMES);
  await first.save();
  read.length = 0;
  const second = search();
  assert.equal(second.state(), "fresh");
  assert.deepEqual(await names(second, "banana"), ["Banana"]);
  // Once for the hit's own lines.
  assert.deepEqual(read, ["Banana"]);
  assert.deepEqual([...files.held.keys()], [FILE]);
});

Deno.test("after a change of one page the next process takes in that page alone", async () => {
  const { twin, read, search } = filled();
  const first = search();
  await names(first, "fruit");
  await first.save();
  twin.putPage({ name: "Cherry", text: "# Cherry\n\nNow a quince.\n" });
  twin.dropPage("Damson");
  const second = search();
  assert.equal(second.state(), "behind");
  read.length = 0;
  assert.deepEqual(await names(second, "quince"), ["Cherry"]);
  assert.deepEqual(read, ["Cherry", "Cherry"]);
  assert.deepEqual(await names(second, "damson"), []);
  assert.equal(second.state(), "fresh");
});

Deno.test("what a changed index answers is what a new one answers", async () => {
  const { twin, search } = filled();
  const old = search();
  await names(old, "fruit");
  for (const name of ["Banana", "Elder", "Apple"]) {
    twin.putPage({ name, text: `# ${name}\n\nThe ${name} is a fruit of the tree.\n` });
    await names(old, name);
  }
  twin.dropPage("Cherry");
  const ask = async (search: WikiSearch) =>
    await search.query({ text: "fruit of the elder tree", k: 9, clearance: "internal" });
  assert.deepEqual(await ask(old), await ask(search()));
  await old.rebuild();
  assert.deepEqual(await ask(old), await ask(search()));
});

Deno.test("a file that was cut off or changed anywhere is never believed, and is built anew", async () => {
  const { files, search } = filled();
  const first = search();
  const right = await names(first, "fruit");
  await first.save();
  const whole = files.held.get(FILE) ?? new Uint8Array();
  assert.ok(readIndex("internal", whole) !== undefined && readIndex("secret", whole) === undefined);
  const broken: Uint8Array[] = [new Uint8Array(), new Uint8Array([...whole, 10])];
  for (let at = 0; at < whole.length; at += 7) {
    broken.push(whole.slice(0, at));
    const changed = whole.slice();
    changed[at] = (changed[at] ?? 0) ^ 1;
    broken.push(changed);
  }
  for (const bytes of broken) assert.equal(readIndex("internal", bytes), undefined);
  for (const bytes of broken.slice(0, 40)) {
    files.held.set(FILE, bytes);
    assert.deepEqual(await names(search(), "fruit"), right);
  }
});

Deno.test("an index from after the store was put back to an earlier day is built anew", async () => {
  const later = filled();
  later.twin.putPage({ name: "Elder", text: "# Elder\n\nA fruit of tomorrow.\n" });
  const first = later.search();
  await names(first, "fruit");
  await first.save();
  const { twin, files, search } = filled();
  files.held.set(FILE, later.files.held.get(FILE) ?? new Uint8Array());
  assert.equal(twin.store.generation(), 4);
  assert.deepEqual(await names(search(), "fruit"), NAMES);
});

Deno.test("nothing new is not written again", async () => {
  const { files, search } = filled();
  const first = search();
  await names(first, "fruit");
  await first.save();
  const writes: string[] = [];
  const counted: MemoryFiles = { ...files, write: (name) => void writes.push(name) };
  const { twin } = filled();
  const second = makeWikiSearch(twin.store, { now: () => 0, files: counted });
  await names(second, "fruit");
  await second.save();
  assert.deepEqual(writes, []);
});
