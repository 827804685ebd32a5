import assert from "node:assert/strict";
import { generateKeyPairSync, sign } from "node:crypto";
import { pageMarkText } from "../../contracts/memory/mod.ts";
import { makeFolders, openFolders, takeIn } from "../_fixture/opened_wiki.ts";
import { assertSound, catalogueOf } from "./_fixture/sound.ts";
import {
  chunksOf,
  citing,
  makeRig,
  named,
  sourceFrom,
  writePages,
  writing,
} from "./_fixture/wiki_rig.ts";
import type { Chunker } from "./inside.ts";
import type { WikiStore } from "./wiki_store.ts";

const chunk: Chunker = (text) => ({ title: "T", chunks: chunksOf(new TextDecoder().decode(text)) });

const sourceTrust = (store: WikiStore, key: string): string => {
  const source = store.sources.current(key);
  return `${source?.colour} ${source?.label}`;
};
const pageTrust = (store: WikiStore, name: string): string => {
  const page = store.pages.get(named(name));
  return `${page?.colour} ${page?.label} ${page?.version}`;
};
const found = (store: WikiStore, clearance: "public" | "internal" | "secret") =>
  store.chunks.candidates({ match: '"words"', clearance, limit: 9 }).map(({ source }) => source.key)
    .sort();

Deno.test("bytes that come again as RED make the sources that have them RED, and the pages that cite them, without a new version", async () => {
  using rig = makeRig();
  const { store } = await rig.open({ chunk });
  const source = await store.sources.add(
    sourceFrom("file:/a.md", "some words\n", { colour: "BLUE", label: "public" }),
  );
  await store.sources.add(
    sourceFrom("file:/b.md", "other words\n", { colour: "BLUE", label: "public" }),
  );
  await writePages(store, [
    writing("a", `x.[^1]\n\n${citing("1", source, 1)}\n`),
    writing("b", "x\n"),
  ]);
  const generation = store.generation();
  await store.sources.add(
    sourceFrom("https://e.example/a", "some words\n", { colour: "RED", label: "public" }),
  );
  assert.equal(sourceTrust(store, "file:/a.md"), "RED public");
  assert.equal(sourceTrust(store, "file:/b.md"), "BLUE public");
  assert.deepEqual([pageTrust(store, "a"), pageTrust(store, "b")], [
    "RED public 1",
    "BLUE public 1",
  ]);
  assert.equal(store.pages.history(named("a"))[0]?.colour, "RED");
  assert.ok(store.generation() > generation);
  assert.equal(store.sources.current("file:/a.md")?.id, source.id);
  // Its bytes, too, wherever they come from next.
  const text = store.pages.text(named("a")) ?? "";
  const copy = await store.sources.add(sourceFrom("file:/copy.md", text, { colour: "BLUE" }));
  assert.equal(copy.colour, "RED");
  assert.deepEqual(
    catalogueOf(rig).filter(({ key }) => key === "file:/a.md").map(({ colour }) => colour),
    ["BLUE", "RED"],
  );
  assert.match(
    store.log.list({}).map(({ text }) => text).join("\n"),
    /became RED and public: 1 other sources and 1 pages/,
  );
  await assertSound(rig, store);
  store.close();
});

Deno.test("bytes that come again as secret leave the index of their label, with pages that cite them", async () => {
  using rig = makeRig();
  const { store } = await rig.open({ chunk });
  const source = await store.sources.add(
    sourceFrom("file:/a.md", "some words\nmore words\n", { label: "public" }),
  );
  await store.sources.add(sourceFrom("file:/b.md", "other words\n", { label: "public" }));
  await writePages(store, [writing("a", `x.[^1]\n\n${citing("1", source, 1)}\n`)]);
  assert.deepEqual(found(store, "public"), ["file:/a.md", "file:/a.md", "file:/b.md"]);
  await store.sources.addAll([
    sourceFrom("file:/c.md", "new words\n", { label: "secret" }),
    sourceFrom("file:/own.md", "some words\nmore words\n", { label: "secret" }),
    sourceFrom("file:/d.md", "last words\n", { label: "secret" }),
  ]);
  assert.equal(sourceTrust(store, "file:/a.md"), "YELLOW secret");
  for (const clearance of ["public", "internal"] as const) {
    assert.deepEqual(found(store, clearance), ["file:/b.md"]);
    assert.equal(store.chunks.statistics(["words"], clearance).frequency.get("words"), 1);
    assert.deepEqual(store.pages.list({ clearance }), []);
    assert.deepEqual(store.sources.list({ clearance }).map(({ key }) => key), ["file:/b.md"]);
  }
  assert.deepEqual(found(store, "secret"), [
    ...["file:/a.md", "file:/a.md", "file:/b.md", "file:/c.md", "file:/d.md"],
    ...["file:/own.md", "file:/own.md"],
  ]);
  const [hit] = store.chunks.candidates({ match: '"more"', clearance: "secret", limit: 1 });
  assert.equal(hit && store.sources.passage(hit.chunk), "more words");
  assert.equal(pageTrust(store, "a"), "BLUE secret 1".replace("BLUE", "YELLOW"));
  await assertSound(rig, store);
  store.close();
  // Without means to cut it again it is not found at all, rather than by those who may not.
  const { store: bare } = await rig.open();
  await bare.sources.add(sourceFrom("file:/e.md", "other words\n", { label: "secret" }));
  assert.deepEqual([found(bare, "public"), sourceTrust(bare, "file:/b.md")], [[], "YELLOW secret"]);
  await assertSound(rig, bare);
  bare.close();
});

Deno.test("what an export or a page has recorded reaches the sources with these bytes, and pages that cite them in turn", async () => {
  using rig = makeRig();
  const { store } = await rig.open({ chunk });
  const origin = await store.sources.add(
    sourceFrom("file:/origin.md", "origin words\n", { label: "public" }),
  );
  await writePages(store, [writing("first", `x.[^1]\n\n${citing("1", origin, 1)}\n`)]);
  const copy = await store.sources.add(
    sourceFrom("file:/copy.md", store.pages.text(named("first")) ?? "", { label: "public" }),
  );
  await writePages(store, [writing("second", `y.[^1]\n\n${citing("1", copy, copy.lines)}\n`)]);
  assert.equal(pageTrust(store, "second"), "YELLOW public 1");
  store.sources.recordExport(origin.digest, "RED", "secret");
  for (const key of ["file:/origin.md", "file:/copy.md"]) {
    assert.equal(sourceTrust(store, key), "RED secret");
  }
  assert.deepEqual([pageTrust(store, "first"), pageTrust(store, "second")], [
    "RED secret 1",
    "RED secret 1",
  ]);
  assert.deepEqual(store.pages.list({ clearance: "internal" }), []);
  await assertSound(rig, store);
  store.close();
});

Deno.test("text of a document that is found to be RED makes the document RED, and the other way round", async () => {
  using rig = makeRig();
  const { store } = await rig.open({ chunk });
  const html = (key: string, colour: "YELLOW" | "RED") =>
    sourceFrom(key, "form words\n", {
      ...{ kind: "html", raw: new TextEncoder().encode("<p>"), colour },
      text: new TextEncoder().encode("form words\n"),
    });
  await store.sources.add(html("https://a.example/p.html", "YELLOW"));
  await store.sources.add(sourceFrom("file:/form.md", "form words\n", { colour: "RED" }));
  assert.equal(sourceTrust(store, "https://a.example/p.html"), "RED internal");
  await store.sources.add(sourceFrom("file:/form.md", "form words\n", { label: "secret" }));
  assert.equal(sourceTrust(store, "https://a.example/p.html"), "RED secret");
  await assertSound(rig, store);
  store.close();
});

Deno.test("versions before, of sources and of pages that cite them, become worse too", async () => {
  using rig = makeRig();
  const { store } = await rig.open({ chunk });
  const first = await store.sources.add(
    sourceFrom("file:/a.md", "some words\n", { label: "public" }),
  );
  const body = `x.[^1]\n\n${citing("1", first, 1)}\n`;
  await writePages(store, [writing("a", body)]);
  await writePages(store, [writing("a", "nothing is cited\n", 1, true)]);
  await writePages(store, [writing("a", `y. ${body}`, 2, true)]);
  await store.sources.add(sourceFrom("file:/a.md", "new words\n", { label: "public" }));
  await store.sources.add(
    sourceFrom("file:/b.md", "some words\n", { label: "secret", colour: "RED" }),
  );
  assert.equal(store.sources.byId(first.id)?.state, "superseded");
  assert.equal(store.sources.byId(first.id)?.label, "secret");
  assert.equal(store.sources.byFile(first.raw)?.label, "secret");
  assert.deepEqual(
    store.pages.history(named("a")).map(({ label, colour }) => `${colour} ${label}`),
    [
      "RED secret",
      "BLUE public",
      "RED secret",
    ],
  );
  await assertSound(rig, store);
  store.close();
});

Deno.test("a page that carol has signed for stays as she signed it", async () => {
  using rig = makeRig();
  const { privateKey } = generateKeyPairSync("ed25519");
  const key = privateKey.export({ format: "jwk" }).x ?? "";
  const { store } = await rig.open({ chunk, trustedKeys: [key] });
  const source = await store.sources.add(sourceFrom("file:/a.md", "some words\n"));
  const body = `x.[^1]\n\n${citing("1", source, 1)}\n`;
  await writePages(store, [writing("a", body), writing("b", body)]);
  const { digest } = store.pages.get(named("a")) ?? assert.fail();
  const mark = {
    page: named("a"),
    digest,
    colour: "BLUE",
    label: "public",
    by: "carol",
    at: 5,
  } as const;
  const signature = sign(null, new TextEncoder().encode(pageMarkText(mark)), privateKey);
  store.pages.mark({ ...mark, key, signature: signature.toString("base64url") });
  await store.sources.add(
    sourceFrom("file:/b.md", "some words\n", { colour: "RED", label: "secret" }),
  );
  assert.deepEqual([pageTrust(store, "a"), pageTrust(store, "b")], [
    "BLUE public 1",
    "RED secret 1",
  ]);
  // The next version goes by the rules.
  await writePages(store, [writing("a", `z. ${body}`, 1, true)]);
  assert.equal(pageTrust(store, "a"), "RED secret 2");
  await assertSound(rig, store);
  store.close();
});

Deno.test("front matter that shows better than a page became is what lint finds, and --fix writes it anew", async () => {
  await using folders = await makeFolders();
  const wiki = await openFolders(folders);
  await takeIn(wiki, folders, { "a.md": "# A\n\nSome words.\n" }, { label: "public" });
  const raw = [...Deno.readDirSync(`${folders.folder}/raw`)].find((one) =>
    one.name.endsWith(".md")
  );
  const lines = { file: `raw/${raw?.name}`, startLine: 3, endLine: 3 };
  const { definition } = await wiki.ask("cite", { clearance: "public", ...lines });
  const body = `# A\n\nSome words.[^N]\n\n${definition}\n`;
  const change = writing("a", body);
  const proposed = await wiki.ask("propose", {
    ...{
      author: "carol",
      reason: "it is so",
      changes: [change],
      colour: "YELLOW",
      label: "public",
    },
  });
  await wiki.ask("decide", { id: proposed.id, apply: true, by: "carol" });
  const drift = () =>
    wiki.ask("lint", { clearance: "secret", rules: ["colourDrift", "labelDrift"] }) as Promise<
      { rule: string; file: string; fixable: boolean }[]
    >;
  assert.deepEqual(await drift(), []);
  const [{ name }] = await wiki.ask("index", { clearance: "public" });
  await takeIn(wiki, folders, { "b.md": "# A\n\nSome words.\n" }, {
    colour: "RED",
    label: "secret",
  });
  assert.deepEqual(await wiki.ask("index", { clearance: "internal" }), []);
  const query = { text: "words", k: 5, clearance: "internal" };
  assert.deepEqual((await wiki.ask("query", query)).hits, []);
  const findings = await drift();
  assert.deepEqual(findings.map(({ rule }) => rule).sort(), ["colourDrift", "labelDrift"]);
  assert.ok(findings.every(({ fixable }) => fixable));
  const [patch] = await wiki.ask("lintFix", { by: "carol" });
  await wiki.ask("decide", { id: patch.id, apply: true, by: "carol" });
  assert.deepEqual(await drift(), []);
  const text = await Deno.readTextFile(`${folders.folder}/pages/${name}.md`);
  assert.match(text, /^label: secret$/m);
  assert.match(text, /^colour: RED$/m);
});
