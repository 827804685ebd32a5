import assert from "node:assert/strict";
import type { Label } from "../../contracts/authority/mod.ts";
import { makeRig, sourceFrom } from "./_fixture/wiki_rig.ts";
import type { NewSource, WikiStore } from "./wiki_store.ts";

const TERMS = ["lease", "ends", "secretword", "common"];

/** All that a caller with a clearance can learn of sources. */
function learned(store: WikiStore, clearance: Label): string {
  const { chunks, averageTerms, frequency } = store.chunks.statistics(TERMS, clearance);
  return JSON.stringify({
    candidates: TERMS.map((term) =>
      store.chunks.candidates({ match: `"${term}"`, clearance, limit: 50 })
    ),
    statistics: [chunks, averageTerms, [...frequency]],
    count: store.sources.count(clearance),
    list: store.sources.list({ clearance }),
    missing: store.vectors.missing("none", clearance, 100),
  });
}

const visible = (n: number, label: Label): NewSource =>
  sourceFrom(`file:/v${n}.md`, `a lease ends ${n}\n\ncommon words ${"more ".repeat(n)}\n`, {
    label,
  });

async function wiki(hidden: Label | undefined): Promise<{ readonly [L in Label]: string }> {
  using rig = makeRig();
  const { wikiStorePowers } = await import("./store_powers.ts");
  const { store } = await rig.open({ powers: { ...wikiStorePowers(), now: () => 1_000 } });
  for (let n = 0; n < 8; n++) {
    await store.sources.add(visible(n, n % 2 === 0 ? "public" : "internal"));
    if (hidden === undefined) continue;
    const text = `lease ends common secretword ${n}\n\n${"lease common ".repeat(n)}\n`;
    await store.sources.add(sourceFrom(`file:/h${n}.md`, text, { label: hidden }));
  }
  if (hidden !== undefined) {
    await store.sources.add(sourceFrom("file:/h1.md", "lease lease other\n", { label: hidden }));
    store.sources.remove("file:/h2.md");
  }
  const result = {
    public: learned(store, "public"),
    internal: learned(store, "internal"),
    secret: learned(store, "secret"),
  };
  store.close();
  return result;
}

Deno.test("what bob may see is the same byte by byte, with and without sources above his clearance", async () => {
  const [without, secret, internal] = [
    await wiki(undefined),
    await wiki("secret"),
    await wiki("internal"),
  ];
  assert.equal(secret.public, without.public);
  assert.equal(secret.internal, without.internal);
  assert.notEqual(secret.secret, without.secret);
  assert.equal(internal.public, without.public);
  assert.notEqual(internal.internal, without.internal);
  assert.match(without.internal, /v1\.md/);
});
