import assert from "node:assert/strict";
import { sha256Hex } from "../../../port/digest.ts";
import { faultOf } from "../_fixture/faults.ts";
import { makeRig, sourceFrom } from "../_fixture/wiki_rig.ts";
import type { WikiStore } from "../wiki_store.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function rawFiles(folder: string): readonly string[] {
  return [...Deno.readDirSync(`${folder}/raw`)].map(({ name }) => name)
    .filter((name) => name !== "sources.jsonl").sort();
}

function found(
  store: WikiStore,
  term: string,
  clearance: "public" | "internal" | "secret" = "secret",
) {
  return store.chunks.candidates({ match: `"${term}"`, clearance, limit: 10 })
    .map(({ source }) => source.key);
}

Deno.test("a source's bytes lie in raw/ under a name with their digest, read-only, and are found", async () => {
  using rig = makeRig();
  const { store } = await rig.open();
  const text = "# Lease\n\nA lease ends.\r\nIt is revoked.";
  const source = await store.sources.add(sourceFrom("file:/docs/lease.md", text));
  assert.equal(source.raw, `raw/lease.${sha256Hex(text).slice(0, 12)}.md`);
  const info = Deno.statSync(`${rig.folder}/${source.raw}`);
  assert.equal((info.mode ?? 0) & 0o777, 0o444);
  assert.equal(source.lines, 4);
  assert.equal(store.sources.lines(source, 2, 4), "\nA lease ends.\nIt is revoked.");
  assert.equal(store.sources.lines(source, 3, 900), "A lease ends.\nIt is revoked.");
  assert.equal(store.sources.lines(source, 5, 9), "");
  assert.equal(store.sources.span(source, 3, 3), sha256Hex("A lease ends."));
  assert.deepEqual(store.sources.current("file:/docs/lease.md"), source);
  assert.deepEqual(store.sources.byDigest(source.digest.slice(0, 16)), source);
  assert.deepEqual(store.sources.byFile(source.raw), source);
  assert.equal(await store.sources.intact(source), true);
  const [first] = store.chunks.candidates({ match: '"revoked"', clearance: "internal", limit: 3 });
  assert.ok(first);
  assert.equal(store.sources.passage(first.chunk), "It is revoked.");
  assert.deepEqual(store.sources.chunksOf(source.id).map(({ startLine }) => startLine), [1, 3, 4]);
  store.close();
});

Deno.test("the same bytes again change nothing; other bytes are a new version, and the old one is not found", async () => {
  using rig = makeRig();
  const { store } = await rig.open();
  const key = "file:/docs/a.md";
  const first = await store.sources.add(sourceFrom(key, "old words\n"));
  const generation = store.generation();
  const again = await store.sources.addAll([sourceFrom(key, "old words\n")]);
  assert.deepEqual(again, [{ source: first, did: "unchanged" }]);
  assert.equal(store.generation(), generation);
  const [second] = await store.sources.addAll([sourceFrom(key, "new words\n")]);
  assert.deepEqual([second?.did, second?.source.version], ["changed", 2]);
  assert.ok(store.generation() > generation);
  assert.equal(store.sources.byId(first.id)?.state, "superseded");
  assert.deepEqual([found(store, "old"), found(store, "new")], [[], [key]]);
  assert.deepEqual(store.sources.count("secret"), { sources: 1, chunks: 1 });
  assert.equal(store.chunks.statistics(["words"], "secret").frequency.get("words"), 1);
  // What cites the old one still holds.
  assert.equal(store.sources.lines(first, 1, 1), "old words");
  store.sources.remove(key);
  assert.deepEqual([found(store, "new"), store.sources.current(key)], [[], undefined]);
  const [back] = await store.sources.addAll([sourceFrom(key, "old words\n")]);
  assert.deepEqual([back?.source.version, found(store, "old")], [3, [key]]);
  store.close();
});

Deno.test("bytes that were RED or secret once are so again, under whatever key they come back", async () => {
  using rig = makeRig();
  const { store } = await rig.open();
  await store.sources.add(
    sourceFrom("https://evil.example/a", "x y\n", { colour: "RED", label: "public" }),
  );
  await store.sources.add(sourceFrom("file:/b", "x y\n", { colour: "BLUE", label: "secret" }));
  const third = await store.sources.add(
    sourceFrom("file:/c", "x y\n", { colour: "BLUE", label: "public" }),
  );
  assert.deepEqual([third.colour, third.label], ["RED", "secret"]);
  store.sources.recordExport(sha256Hex("exported\n"), "RED", "secret");
  const back = await store.sources.add(
    sourceFrom("file:/d", "exported\n", { colour: "BLUE", label: "public" }),
  );
  assert.deepEqual([back.colour, back.label], ["RED", "secret"]);
  store.close();
});

Deno.test("a document's text form lies beside it, and a newer parser's beside both", async () => {
  using rig = makeRig();
  const { store } = await rig.open();
  const html = (key: string, text: string) =>
    sourceFrom(key, text, { kind: "html", raw: bytes("<p>x</p>"), text: bytes(text) });
  const first = await store.sources.add(html("https://a.example/page.html", "one\ntwo\n"));
  const second = await store.sources.add(html("https://b.example/page.html", "one\n\ntwo\n"));
  assert.equal(first.text, `${first.raw}.txt`);
  assert.equal(second.raw, first.raw);
  assert.notEqual(second.text, first.text);
  assert.equal(rawFiles(rig.folder).length, 3);
  assert.equal(store.sources.lines(second, 3, 3), "two");
  assert.deepEqual([await store.sources.intact(first), await store.sources.intact(second)], [
    true,
    true,
  ]);
  store.close();
});

Deno.test("path tricks in keys end as harmless names directly in raw/", async () => {
  using rig = makeRig();
  const { store } = await rig.open();
  const keys = [
    "file:/../../../etc/passwd",
    "stdin:..",
    "stdin:../../x.md",
    "https://e.example/a/%2e%2e%2f%2e%2e/b?c=/../d#e",
    "file:/tmp/a\u0000b\u001b[2J\n.md",
    "file:\\\\server\\share\\..\\..\\con",
    `file:/${"漢".repeat(1_000)}.md`,
    `file:/${"a".repeat(3_000)}`,
    "file:/.hidden",
    "file:/-rf",
    "file:/\u202egnp.exe",
    "file:/a\ufffdb",
    "stdin:",
    "file:/x.md.txt",
    "mail:<a@b>/…/attachment.tar.gz",
  ];
  for (const [n, key] of keys.entries()) await store.sources.add(sourceFrom(key, `text ${n}\n`));
  const names = rawFiles(rig.folder);
  assert.equal(names.length, keys.length);
  for (const name of names) {
    assert.match(name, /^[\p{L}\p{N}][\p{L}\p{N}\p{M}-]*\.[0-9a-f]{12}\.[a-z0-9]{1,8}$/u);
    assert.ok(bytes(name).length < 120, name);
    assert.doesNotMatch(name, /^(con|nul)\./);
  }
  assert.deepEqual([...Deno.readDirSync(rig.dir)].map(({ name }) => name).sort(), [
    "state",
    "wiki",
  ]);
  store.close();
  const lone = await faultOf(() =>
    rig.open().then(({ store }) => store.sources.add(sourceFrom("a\ud800", "x")))
  );
  assert.equal(lone.code, "invalidInput");
});

Deno.test("a raw file that was altered is told, never overwritten and never read", async () => {
  using rig = makeRig();
  const { store } = await rig.open();
  const source = await store.sources.add(sourceFrom("file:/a.md", "honest words\n"));
  const path = `${rig.folder}/${source.raw}`;
  Deno.chmodSync(path, 0o644);
  Deno.writeTextFileSync(path, "poison words\n");
  assert.equal(await store.sources.intact(source), false);
  assert.equal((await faultOf(() => store.sources.lines(source, 1, 1))).code, "storeCorrupt");
  const again = await faultOf(() =>
    store.sources.add(sourceFrom("file:/b/a.md", "honest words\n"))
  );
  assert.equal(again.code, "storeCorrupt");
  assert.equal(Deno.readTextFileSync(path), "poison words\n");
  Deno.removeSync(path);
  assert.match((await faultOf(() => store.sources.lines(source, 1, 1))).message, /gone/);
  store.close();
});

Deno.test("an expired source is not found from that moment on, and its passages go at the next opening", async () => {
  using rig = makeRig();
  const { store } = await rig.open();
  const at = Date.now();
  await store.sources.add(sourceFrom("file:/gone.md", "fleeting words\n", { expiresAt: at - 1 }));
  await store.sources.add(
    sourceFrom("file:/stays.md", "fleeting thoughts\n", { expiresAt: at + 1e9 }),
  );
  assert.deepEqual(found(store, "fleeting"), ["file:/stays.md"]);
  const lasting = sourceFrom("file:/back.md", "fleeting returns\n");
  await store.sources.add({ ...lasting, expiresAt: at - 1 });
  assert.equal(found(store, "returns").length, 0);
  const [renewed] = await store.sources.addAll([lasting]);
  assert.deepEqual([renewed?.did, renewed?.source.expiresAt], ["unchanged", undefined]);
  assert.equal(found(store, "returns").length, 1);
  store.sources.remove("file:/back.md");
  store.close();
  const later = (await rig.open()).store;
  assert.equal(later.sources.current("file:/gone.md"), undefined);
  assert.deepEqual(later.sources.count("secret"), { sources: 1, chunks: 1 });
  later.close();
});

Deno.test("sources are listed by clearance, state and prefix", async () => {
  using rig = makeRig();
  const { store } = await rig.open();
  await store.sources.addAll([
    sourceFrom("file:/a/1.md", "one\n", { label: "public" }),
    sourceFrom("file:/a/2.md", "two\n", { label: "secret" }),
    sourceFrom("file:/b/3.md", "three\n"),
  ]);
  store.sources.remove("file:/b/3.md");
  const keys = (query: Parameters<typeof store.sources.list>[0]) =>
    store.sources.list(query).map(({ key }) => key).sort();
  assert.deepEqual(keys({ clearance: "public" }), ["file:/a/1.md"]);
  assert.deepEqual(keys({ keyPrefix: "file:/a/" }), ["file:/a/1.md", "file:/a/2.md"]);
  assert.deepEqual(keys({ state: "removed" }), ["file:/b/3.md"]);
  const all = store.sources.list({});
  assert.deepEqual(store.sources.list({ afterId: all[0]?.id ?? 0, limit: 1 }), all.slice(1, 2));
  store.close();
});
