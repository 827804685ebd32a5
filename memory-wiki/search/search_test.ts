import assert from "node:assert/strict";
import type { Found } from "../../contracts/memory/mod.ts";
import type { WikiQuery } from "../../contracts/wire/wire_wiki.ts";
import { makeMemoryFiles } from "./_fixture/memory_files.ts";
import { makeTwinStore, type TwinStore } from "./_fixture/twin_store.ts";
import { makeWikiSearch, type WikiSearch } from "./search.ts";

const NOW = 1_750_000_000_000;
const LEASE = `---
title: Lease
---
# Lease

A lease is a right that can be taken back while it is used.[^1]

## Renewing

Whoever holds one asks for more time before it ends.

[^1]: [docs/lease.md](../raw/docs-lease.md#L3) line 3 of sha256:0000000000000000
`;
const FRUIT = "# Fruit\n\nApples grow on trees.\n\nBananas grow on herbs.\n";

function opened(): { readonly twin: TwinStore; readonly search: WikiSearch } {
  const twin = makeTwinStore();
  const search = makeWikiSearch(twin.store, { now: () => NOW, files: makeMemoryFiles() });
  return { twin, search };
}

function ask(search: WikiSearch, text: string, more: Partial<WikiQuery> = {}): Promise<Found> {
  return search.query({ text, k: 5, clearance: "internal", ...more });
}

Deno.test("alice finds a page's passage with its lines, and of it no front matter and no footnotes", async () => {
  const { twin, search } = opened();
  twin.putPage({ name: "Lease", title: "Lease", text: LEASE });
  twin.putPage({ name: "Fruit", text: FRUIT });
  const { hits, fit, searched } = await ask(search, "what is a lease?");
  assert.equal(hits[0]?.file, "pages/Lease.md");
  assert.equal(fit, "good");
  const lines = LEASE.split("\n");
  for (const { startLine, endLine, text } of hits) {
    assert.equal(text, lines.slice(startLine - 1, endLine).join("\n"));
    assert.doesNotMatch(text, /^---|\[\^1\]:/m);
  }
  assert.deepEqual([searched.pages, searched.sources, searched.terms], [2, 0, ["leas"]]);
});

Deno.test("a page that rules made is shown from its first statement on, not from what it says of itself", async () => {
  const { twin, search } = opened();
  const made = "*Extracted by rules: nobody has judged them.*";
  const text = `# Lease\n\n${made}\n\n## Definition\n\n> A lease is a right that ends.\n`;
  twin.putPage({ name: "Lease", title: "Lease", text });
  const [hit] = (await ask(search, "what is a lease?")).hits;
  assert.deepEqual([hit?.startLine, hit?.endLine], [5, 7]);
  assert.equal(hit?.text, text.split("\n").slice(4, 7).join("\n"));
});

Deno.test("sources and pages come in one order; `within` leaves one kind out", async () => {
  const { twin, search } = opened();
  twin.putPage({
    name: "Trees",
    text: "# Trees\n\nA page that names apples once, among other fruit.\n",
  });
  twin.putSource({ key: "fruit.md", title: "Fruit", text: FRUIT });
  const all = await ask(search, "apples grow");
  assert.deepEqual(all.hits.map(({ kind }) => kind), ["source", "page"]);
  assert.deepEqual((await ask(search, "apples", { within: "pages" })).hits.map((h) => h.kind), [
    "page",
  ]);
  assert.deepEqual((await ask(search, "apples", { within: "sources" })).hits.map((h) => h.kind), [
    "source",
  ]);
});

Deno.test("a changed page is found by its new words, no longer by its old ones, and a dropped one not at all", async () => {
  const { twin, search } = opened();
  twin.putPage({ name: "Fruit", text: FRUIT });
  assert.equal((await ask(search, "bananas")).hits.length, 1);
  twin.putPage({ name: "Fruit", text: "# Fruit\n\nOnly cherries.\n" });
  assert.equal((await ask(search, "bananas")).hits.length, 0);
  assert.match((await ask(search, "cherries")).hits[0]?.text ?? "", /Only cherries/);
  twin.dropPage("Fruit");
  assert.equal((await ask(search, "cherries")).hits.length, 0);
});

Deno.test("asked what something is, the page's beginning comes before places that name it more often", async () => {
  const { twin, search } = opened();
  const often = (what: string): string =>
    `${"Whoever takes one waits for others. ".repeat(4)}\nA ${what}, a quota, a quota of ${what}.`;
  const text = "# Quota\n\nA quota is a bound on what one may take.\n";
  const rest = `\n## Uses\n\n${often("quota")}\n\n## More\n\n${often("other quota")}\n`;
  twin.putPage({
    name: "Quota",
    text: `${text}${"\nWhoever wants more of it asks. ".repeat(9)}\n${rest}`,
  });
  const { hits } = await ask(search, "what is a quota?");
  assert.match(hits[0]?.text ?? "", /is a bound/);
  assert.ok(hits.length > 1);
});

Deno.test("asked what something is, a section headed as its definition leads, wherever it stands", async () => {
  const { twin, search } = opened();
  const filler = "Whoever takes one waits for others, and asks those who had it before them.\n"
    .repeat(14);
  const page = (heading: string): string =>
    `# Limits\n\n${filler}\n## Uses\n\nA quota: mallory took it whole.\n\n${filler}\n` +
    `## ${heading}\n\nA quota: a bound on what one may take.\n\n${filler}`;
  const first = async (heading: string): Promise<string> => {
    twin.putPage({ name: "Quota", text: page(heading) });
    return (await ask(search, "what is a quota?")).hits[0]?.text ?? "";
  };
  assert.doesNotMatch(await first("Remarks"), /a bound on/);
  assert.match(await first("Definition"), /a bound on/);
});

Deno.test("one slip in a rare word and letters without a key find what was meant", async () => {
  const { twin, search } = opened();
  twin.putPage({ name: "Ferry", text: "# Ferry\n\nThe ferry to Ærøskøbing carries marmalade.\n" });
  twin.putPage({ name: "Fruit", text: FRUIT });
  for (
    const text of ["marmelade", "marmalad", "mramalade", "marmmalade", "aeroskobing", "Ærøskøbing"]
  ) {
    assert.equal((await ask(search, text)).hits[0]?.file, "pages/Ferry.md", text);
  }
  // Two slips are another word.
  assert.deepEqual((await ask(search, "mermelade")).hits, []);
});

Deno.test("superseded and expired sources are never found", async () => {
  const { twin, search } = opened();
  twin.putSource({ key: "a.md", text: "The old quagga text.\n" });
  twin.putSource({ key: "a.md", text: "The new zebra text.\n" });
  twin.putSource({ key: "b.md", text: "A quagga until yesterday.\n", expiresAt: NOW });
  twin.putSource({ key: "c.md", text: "A quagga until tomorrow.\n", expiresAt: NOW + 1 });
  const { hits } = await ask(search, "quagga");
  assert.deepEqual(hits.map(({ origin }) => origin), ["c.md"]);
});

Deno.test("a source whose very lines a page's passage cites is not shown again", async () => {
  const { twin, search } = opened();
  const source = twin.putSource({ key: "lease.md", text: "A lease can be taken back.\n" });
  const text = "# Lease\n\nA lease is taken back at any time, says the source.[^1]\n";
  const cited = { note: "1", source: source.digest, startLine: 1, endLine: 1, span: source.digest };
  twin.putPage({ name: "Lease", text });
  assert.equal((await ask(search, "lease taken back")).hits.length, 2);
  twin.putPage({ name: "Lease", text, citations: [cited] });
  const { hits } = await ask(search, "lease taken back");
  assert.deepEqual(hits.map(({ kind }) => kind), ["page"]);
});

Deno.test("a copy of what is shown is not shown again, wherever it stands and whatever is around it", async () => {
  const { twin, search } = opened();
  const text = "# Zebra\n\nA zebra has stripes, and nobody knows what they are for.\n";
  twin.putSource({ key: "a.md", text });
  twin.putSource({ key: "b.md", text: `${text}\nThat is all.\n` });
  twin.putPage({ name: "Zebra", text });
  assert.equal((await ask(search, "zebra stripes")).hits.length, 1);
});

Deno.test("a page whose source was superseded is shown as stale", async () => {
  const { twin, search } = opened();
  const source = twin.putSource({ key: "a.md", text: "Zebras have stripes.\n" });
  const cited = { note: "1", source: source.digest, startLine: 1, endLine: 1, span: source.digest };
  twin.putPage({ name: "Zebra", text: "# Zebra\n\nStripes.[^1]\n", citations: [cited] });
  const stale = async () =>
    (await ask(search, "zebra", { within: "pages" })).hits.map((hit) => hit.stale);
  assert.deepEqual(await stale(), [false]);
  twin.putSource({ key: "a.md", text: "Zebras have spots.\n" });
  assert.deepEqual(await stale(), [true]);
});

Deno.test("Chinese, Japanese, Korean and Thai are found in the middle of a sentence", async () => {
  const { twin, search } = opened();
  const texts: Readonly<Record<string, readonly [string, string]>> = {
    zh: ["租约可以随时收回，不需要理由。", "收回租约"],
    ja: ["リースはいつでも取り消すことができます。", "取り消す"],
    ko: ["임대는 언제든지 취소할 수 있습니다.", "취소"],
    th: ["สัญญาเช่าสามารถยกเลิกได้ตลอดเวลา", "ยกเลิก"],
  };
  for (const [name, [text]] of Object.entries(texts)) twin.putPage({ name, text });
  for (const [name, [, question]] of Object.entries(texts)) {
    const { hits, fit } = await ask(search, question);
    assert.equal(hits[0]?.origin, name, question);
    assert.notEqual(fit, "none", question);
  }
});

Deno.test("a question about nothing that is here fits nowhere, and says what was searched", async () => {
  const { twin, search } = opened();
  twin.putPage({ name: "Fruit", text: FRUIT });
  const { fit, searched } = await ask(search, "which antibiotics help against pneumonia on trees?");
  assert.equal(fit, "none");
  assert.equal(searched.pages, 1);
  assert.deepEqual((await ask(search, "xyzzy")).hits, []);
  assert.equal((await ask(search, "...")).fit, "none");
});

Deno.test("a question made of signs that FTS5 and Orama read is words to both", async () => {
  const { twin, search } = opened();
  twin.putSource({ key: "a.md", text: "NEAR the tree.\n" });
  twin.putPage({ name: "Tree", text: "constructor __proto__ tree\n" });
  const questions = [
    '" OR "',
    "tree*",
    "NEAR(tree",
    "constructor",
    "__proto__",
    "toString",
    "^tree",
  ];
  for (const text of [...questions, "{heading} : tree", "\0tree", "\ud800tree"]) {
    await ask(search, text);
  }
  assert.equal((await ask(search, "NEAR tree")).hits.length, 2);
});

Deno.test("a passage of one endless line gives a bounded snippet of the lines that it names", async () => {
  const { twin, search } = opened();
  twin.putPage({ name: "Long", text: `needle ${"hay ".repeat(100_000)}\n` });
  const { hits } = await ask(search, "needle");
  assert.equal(hits.length, 1);
  assert.ok((hits[0]?.text.length ?? 0) <= 1_200);
  assert.deepEqual([hits[0]?.startLine, hits[0]?.endLine], [1, 1]);
});

Deno.test("phrasings find what the question's own words do not; what one of them misses is still judged by all", async () => {
  const { twin, search } = opened();
  twin.putPage({ name: "Lease", title: "Lease", text: LEASE });
  twin.putPage({ name: "Fruit", text: FRUIT });
  const question = "when is my permission gone";
  assert.equal((await ask(search, question)).fit, "none");
  const queries = ["renewing a lease before it ends", "lease taken back while used"];
  const found = await ask(search, question, { queries });
  assert.equal(found.hits[0]?.file, "pages/Lease.md");
  assert.equal(found.fit, "good");
  // A phrasing is words to search by: nothing of it is in what is shown.
  assert.ok(found.hits.every(({ text }) => LEASE.includes(text) || FRUIT.includes(text)));

  const lucky = ["apples", "quantum chromodynamics lattice", "gauge boson coupling"];
  assert.equal((await ask(search, "strong force of quarks", { queries: lucky })).fit, "none");
});

Deno.test("a phrasing that says the same as the question changes nothing", async () => {
  const { twin, search } = opened();
  twin.putPage({ name: "Lease", title: "Lease", text: LEASE });
  twin.putPage({ name: "Fruit", text: FRUIT });
  const alone = await ask(search, "what is a lease?");
  assert.deepEqual(await ask(search, "what is a lease?", { queries: ["the leases"] }), alone);
});
