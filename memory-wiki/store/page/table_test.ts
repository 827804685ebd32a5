import assert from "node:assert/strict";
import { generateKeyPairSync, sign } from "node:crypto";
import { type PageMark, pageMarkText } from "../../../contracts/memory/mod.ts";
import { sha256Hex } from "../../../port/digest.ts";
import { faultOf } from "../_fixture/faults.ts";
import { citing, makeRig, named, sourceFrom, writePages, writing } from "../_fixture/wiki_rig.ts";

function person() {
  const { privateKey } = generateKeyPairSync("ed25519");
  const key = privateKey.export({ format: "jwk" }).x ?? "";
  return {
    key,
    sign(mark: Omit<PageMark, "key" | "signature">): PageMark {
      const signature = sign(null, new TextEncoder().encode(pageMarkText(mark)), privateKey);
      return { ...mark, key, signature: signature.toString("base64url") };
    },
  };
}

Deno.test("carol's signed mark makes that very version BLUE and public, and no other", async () => {
  using rig = makeRig();
  const carol = person();
  const { store } = await rig.open({ trustedKeys: [carol.key] });
  await writePages(store, [writing("a", "one\n")], { colour: "RED", label: "secret" });
  assert.deepEqual(store.pages.list({ clearance: "public" }), []);
  const before = store.pages.get(named("a"));
  assert.ok(before);
  const { digest } = before;
  const mark = {
    page: named("a"),
    digest,
    colour: "BLUE",
    label: "public",
    by: "carol",
    at: 5,
  } as const;
  store.pages.mark(carol.sign(mark));
  const after = store.pages.get(named("a"));
  assert.deepEqual([after?.colour, after?.label, after?.digest], ["BLUE", "public", digest]);
  assert.deepEqual(store.pages.list({ clearance: "public" }).map(({ name }) => name), ["a"]);
  assert.deepEqual(store.pages.history(named("a")).map(({ colour }) => colour), ["BLUE"]);
  assert.equal(store.log.list({}).at(-1)?.kind, "redact");
  // A hand edit is another version: it goes by the rules.
  const path = `${rig.folder}/pages/a.md`;
  Deno.writeTextFileSync(path, Deno.readTextFileSync(path).replace("one", "two"));
  await store.pages.sync();
  const edited = store.pages.get(named("a"));
  assert.deepEqual([edited?.colour, edited?.label], ["YELLOW", "internal"]);
  assert.match((await faultOf(() => store.pages.mark(carol.sign(mark)))).message, /other bytes/);
  store.close();
});

Deno.test("a page whose sources are secret is secret again with its next version after a redaction", async () => {
  using rig = makeRig();
  const carol = person();
  const { store } = await rig.open({ trustedKeys: [carol.key] });
  const source = await store.sources.add(sourceFrom("file:/s.md", "x\n", { label: "secret" }));
  const body = `y.[^1]\n\n${citing("1", source, 1)}\n`;
  await writePages(store, [writing("a", body)]);
  const { digest } = store.pages.get(named("a")) ?? assert.fail();
  store.pages.mark(
    carol.sign({ page: named("a"), digest, colour: "BLUE", label: "public", by: "carol", at: 5 }),
  );
  await writePages(store, [writing("a", `z.[^1]\n\n${citing("1", source, 1)}\n`, 1, true)]);
  assert.equal(store.pages.get(named("a"))?.label, "secret");
  store.close();
});

Deno.test("mallory's marks are refused: unknown key, forged signature, other digest, page, colour or author", async () => {
  using rig = makeRig();
  const [carol, mallory] = [person(), person()];
  const { store } = await rig.open({ trustedKeys: [carol.key] });
  await writePages(store, [writing("a", "one\n"), writing("b", "one\n")], {
    colour: "RED",
    label: "secret",
  });
  const { digest } = store.pages.get(named("a")) ?? assert.fail();
  const mark = {
    page: named("a"),
    digest,
    colour: "YELLOW",
    label: "internal",
    by: "carol",
    at: 5,
  } as const;
  const good = carol.sign(mark);
  const forged: readonly PageMark[] = [
    mallory.sign(mark),
    { ...mallory.sign(mark), key: carol.key },
    { ...good, colour: "BLUE" },
    { ...good, label: "public" },
    { ...good, page: named("b") },
    { ...good, by: "mallory" },
    { ...good, at: 6 },
    { ...good, signature: "" },
    { ...good, signature: "%%%" },
    { ...good, key: "" },
    carol.sign({ ...mark, digest: sha256Hex("other") }),
    carol.sign({ ...mark, page: named("b") }),
  ];
  for (const one of forged) {
    assert.equal((await faultOf(() => store.pages.mark(one))).code, "refused", JSON.stringify(one));
  }
  for (const name of ["a", "b"]) {
    const page = store.pages.get(named(name));
    assert.deepEqual([page?.colour, page?.label], ["RED", "secret"]);
  }
  const absent = carol.sign({ ...mark, page: named("c") });
  assert.equal((await faultOf(() => store.pages.mark(absent))).code, "notFound");
  store.pages.mark(good);
  assert.equal(store.pages.get(named("a"))?.colour, "YELLOW");
  store.close();
});
