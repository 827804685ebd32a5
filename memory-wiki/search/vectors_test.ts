import assert from "node:assert/strict";
import { Fault } from "../../contracts/base/mod.ts";
import { makeMemoryFiles } from "./_fixture/memory_files.ts";
import { makeTwinStore } from "./_fixture/twin_store.ts";
import { makeWikiSearch } from "./search.ts";
import { makePageIndex } from "./page_index.ts";
import { likeliest, makeNearness, nearest, normalised } from "./vector_space.ts";

const EMBEDDER = "colours";
/** Red, green, blue. */
const vectorOf = (text: string): number[] =>
  [/rose|scarlet|crimson/, /grass|leaf/, /sky|azure/].map((each) => each.test(text) ? 1 : 0.001);

function filled() {
  const twin = makeTwinStore();
  twin.putPage({ name: "Rose", text: "# Rose\n\nA rose is a flower.\n" });
  twin.putSource({ key: "sky.md", text: "The sky is high.\n" });
  twin.putSource({ key: "old.md", text: "An azure thing of the past.\n", expiresAt: 5 });
  const search = makeWikiSearch(twin.store, { now: () => 5, files: makeMemoryFiles() });
  return { twin, search };
}

Deno.test("what has no vector is planned once, pages and sources, and found by nearness alone", async () => {
  const { twin, search } = filled();
  const plan = search.embedPlan(EMBEDDER, 100);
  assert.equal(plan.length, 3);
  assert.deepEqual(search.embedPlan(EMBEDDER, 2).length, 2);
  search.embedTaken(EMBEDDER, plan.map(({ key, text }) => ({ key, vector: vectorOf(text) })));
  assert.deepEqual(search.embedPlan(EMBEDDER, 100), []);
  const ask = async (text: string) => {
    const vector = { embedder: EMBEDDER, values: vectorOf(text) };
    return await search.query({ text, k: 5, clearance: "internal", vector });
  };
  const { hits, searched } = await ask("scarlet");
  assert.deepEqual([hits[0]?.origin, searched.vectors], ["Rose", true]);
  assert.equal((await ask("crimson"))["hits"][0]?.origin, "Rose");
  const azure = await ask("azure");
  assert.equal(azure.hits[0]?.origin, "sky.md");
  assert.ok(azure.hits.every(({ origin }) => origin !== "old.md"), "it has expired");
  twin.putPage({ name: "Rose", text: "# Rose\n\nAnother rose.\n" });
  assert.deepEqual(search.embedPlan(EMBEDDER, 100).length, 1, "a changed page wants a new one");
});

Deno.test("a question's vector of another embedder or of other dimensions is as none", async () => {
  const { search } = filled();
  const plan = search.embedPlan(EMBEDDER, 100);
  search.embedTaken(EMBEDDER, plan.map(({ key, text }) => ({ key, vector: vectorOf(text) })));
  for (
    const vector of [{ embedder: "other", values: [1, 0, 0] }, { embedder: EMBEDDER, values: [1] }]
  ) {
    const q = { text: "rose", k: 5, clearance: "internal", vector } as const;
    const { hits, searched } = await search.query(q);
    assert.deepEqual([hits.length, searched.vectors], [1, false]);
  }
});

Deno.test("mallory's vectors are refused: keys of no passage, numbers that are none, no numbers, too many", () => {
  const { search } = filled();
  const hostile = [
    { key: "chunk:x", vector: [1] },
    { key: "page:a:b", vector: [1] },
    { key: "../wiki.db", vector: [1] },
    { key: "chunk:1", vector: [NaN] },
    { key: "chunk:1", vector: [] },
    { key: "chunk:1", vector: Array.from({ length: 4_097 }, () => 1) },
  ];
  for (const each of hostile) {
    assert.throws(
      () => search.embedTaken(EMBEDDER, [each]),
      (error) => error instanceof Fault && error.code === "invalidInput",
    );
  }
});

Deno.test("the nearest are those that sorting everything gives, also with equals", () => {
  const cosines = Float32Array.from({ length: 5_000 }, (_, n) => ((n * 7_919) % 500) / 500 - 0.2);
  const all = [...cosines.keys()].filter((n) => (cosines[n] ?? 0) > 0 && n % 3 !== 0)
    .sort((a, b) => (cosines[b] ?? 0) - (cosines[a] ?? 0) || a - b);
  assert.deepEqual(nearest(cosines, 20, (n) => n % 3 !== 0), all.slice(0, 20));
  assert.deepEqual([...normalised([0, 0])], [0, 0]);
  assert.deepEqual([...normalised([3, 4])], [0.6, 0.8].map(Math.fround));
});

Deno.test("signs alone lead to nearly all of the nearest among many vectors", () => {
  let seed = 7;
  const random = (): number => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647 - 0.5;
  const gauss = (): number => random() + random() + random() + random();
  const dimensions = 128, count = 4_000;
  const topics = Array.from({ length: 40 }, () => Array.from({ length: dimensions }, gauss));
  const vectors = Array.from(
    { length: count },
    (_, n) => normalised((topics[n % topics.length] ?? []).map((each) => each + gauss())),
  );
  const words = dimensions / 32, codes = new Uint32Array(count * words);
  vectors.forEach((vector, n) =>
    vector.forEach((each, k) => {
      const at = n * words + (k >> 5);
      if (each > 0) codes[at] = (codes[at] ?? 0) | 1 << (k & 31);
    })
  );
  const places = vectors.map((_, n) => ({
    ...{ kind: "page" as const, name: String(n), n, file: "", startLine: 1, startByte: 0 },
  }));
  const space = { places, keys: vectors.map((_, n) => String(n)), dimensions, words, codes };
  let found = 0;
  for (let q = 0; q < 40; q++) {
    const wanted = normalised((topics[q] ?? []).map((each) => each + gauss()));
    const cosines = Float32Array.from(
      vectors,
      (vector) => vector.reduce((sum, each, k) => sum + each * (wanted[k] ?? 0), 0),
    );
    const keys = new Set(likeliest(space, wanted, { limit: 200, asked: () => true }).keys);
    found += nearest(cosines, 10, () => true).filter((n) => keys.has(String(n))).length;
  }
  assert.ok(found >= 380, `${found} of 400`);
  const even = likeliest(space, vectors[0] ?? new Float32Array(), {
    ...{ limit: 5, asked: (place) => place.kind === "page" && place.n % 2 === 0 },
  });
  assert.ok(even.keys[0] === "0" && even.keys.every((key) => Number(key) % 2 === 0));
});

Deno.test("with more vectors than are held whole, nearness alone still finds, and nothing that is not visible", () => {
  const { twin, search } = filled();
  const plan = search.embedPlan(EMBEDDER, 100);
  search.embedTaken(EMBEDDER, plan.map(({ key, text }) => ({ key, vector: vectorOf(text) })));
  const pages = makePageIndex(twin.store, "internal");
  pages.follow();
  const near = makeNearness(twin.store, 0);
  const ask = (text: string) =>
    near(
      { text, k: 5, clearance: "internal", vector: { embedder: EMBEDDER, values: vectorOf(text) } },
      { pages, now: 5, limit: 2, candidates: [] },
    )?.passages.map((each) => each.kind === "page" ? each.name : each.source.key);
  assert.equal(ask("scarlet")?.[0], "Rose");
  assert.equal(ask("azure")?.[0], "sky.md");
  assert.ok(!ask("azure")?.includes("old.md"), "it has expired");
});
