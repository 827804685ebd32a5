import assert from "node:assert/strict";
import { makeMemoryFiles, type MemoryFiles } from "./_fixture/memory_files.ts";
import { makeTwinStore } from "./_fixture/twin_store.ts";
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
  const asked = ["fruit", "the cherry is a fruit"];
  const ask = async (of: WikiSearch) => {
    const found = [];
    for (const text of asked) found.push(await of.query({ text, k: 9, clearance: "internal" }));
    return found;
  };
  const right = await ask(first);
  await first.save();
  const whole = files.held.get(FILE) ?? new Uint8Array();
  const broken: Uint8Array[] = [new Uint8Array(), new Uint8Array([...whole, 10])];
  for (let at = 0; at < whole.length; at += 7) {
    broken.push(whole.slice(0, at));
    const changed = whole.slice();
    changed[at] = (changed[at] ?? 0) ^ 1;
    broken.push(changed);
  }
  for (const bytes of broken) {
    files.held.set(FILE, bytes);
    assert.deepEqual(await ask(search()), right);
  }
  // Where nothing was asked yet, what is kept next is made of the pages and not of the damaged file.
  for (const bytes of broken) {
    files.held.set(FILE, bytes);
    const { twin, files: own } = filled();
    own.held.set(FILE, bytes);
    const next = makeWikiSearch(twin.store, { now: () => 0, files: own });
    twin.putPage({ name: "Cherry", text: "# Cherry\n\nThe Cherry is a quince.\n" });
    assert.deepEqual(await names(next, "quince"), ["Cherry"]);
    await next.save();
    const after = makeWikiSearch(twin.store, { now: () => 0, files: own });
    assert.equal(after.state(), "fresh");
    assert.deepEqual(await names(after, "fruit"), ["Apple", "Banana", "Damson"]);
  }
});

Deno.test("an index of another clearance or of an earlier format is built anew", async () => {
  const { files, search } = filled();
  const first = search();
  const right = await names(first, "fruit");
  await first.save();
  const whole = files.held.get(FILE) ?? new Uint8Array();
  const text = new TextDecoder().decode(whole);
  const earlier = text.replace(/^remit-wiki-index \d+ /, "remit-wiki-index 7 orama-3.1.18 ");
  assert.notEqual(earlier, text);
  for (const bytes of [new TextEncoder().encode(earlier), whole]) {
    for (const name of [FILE, "pages-secret.idx"]) files.held.set(name, bytes);
    const next = search();
    assert.deepEqual(await names(next, "fruit"), right);
    const { hits } = await next.query({ text: "fruit", k: 9, clearance: "secret" });
    assert.deepEqual(hits.map(({ origin }) => origin).sort(), right);
  }
});

Deno.test("a question reads the blocks that it needs, and not the whole index", async () => {
  const twin = makeTwinStore();
  for (let n = 0; n < 300; n++) {
    const words = Array.from({ length: 60 }, (_, k) => `word${n * 60 + k}`).join(" ");
    twin.putPage({ name: `Page${n}`, text: `# Page ${n}\n\n${words} apple${n}\n` });
  }
  const files = makeMemoryFiles();
  const first = makeWikiSearch(twin.store, { now: () => 0, files });
  await names(first, "apple7");
  await first.save();
  let read = 0;
  const counted: MemoryFiles = {
    ...files,
    open(name) {
      const file = files.open(name);
      return file === undefined ? undefined : {
        ...file,
        read(at, length) {
          const bytes = file.read(at, length);
          read += bytes.length;
          return bytes;
        },
      };
    },
  };
  const next = makeWikiSearch(twin.store, { now: () => 0, files: counted });
  assert.deepEqual(await names(next, "apple7"), ["Page7"]);
  const whole = files.held.get(FILE)?.length ?? 0;
  assert.ok(read > 0 && read < whole / 4, `${read} of ${whole} bytes`);
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
