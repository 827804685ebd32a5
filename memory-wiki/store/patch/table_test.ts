import assert from "node:assert/strict";
import { Page } from "../../../contracts/memory/mod.ts";
import { sha256Hex } from "../../../port/digest.ts";
import { faultOf } from "../_fixture/faults.ts";
import { citing, makeRig, named, sourceFrom, writePages, writing } from "../_fixture/wiki_rig.ts";

const BEST = { colour: "BLUE", label: "public" } as const;

Deno.test("a patch is applied whole: files, history, links and log, and what it shows is what the store has", async () => {
  using rig = makeRig();
  const { store } = await rig.open();
  const source = await store.sources.add(sourceFrom("file:/a.md", "one\ntwo\nthree\n"));
  await writePages(store, [
    writing("alpha", `It is so.[^a] See [[Beta]].\n\n${citing("a", source, 2, 3)}\n`),
    writing("beta", "Plain words.\n"),
  ]);
  const alpha = store.pages.get(named("alpha"));
  assert.ok(alpha);
  const { claims, citations, links, ...page } = alpha;
  assert.deepEqual(Page.parse(page), page);
  assert.deepEqual(claims[0]?.notes, ["a"]);
  assert.deepEqual(links.map(({ target }) => target), ["Beta"]);
  assert.deepEqual(citations, [{
    note: "a",
    source: source.digest,
    startLine: 2,
    endLine: 3,
    span: sha256Hex("two\nthree"),
  }]);
  assert.equal(page.digest, sha256Hex(Deno.readFileSync(`${rig.folder}/pages/alpha.md`)));
  assert.deepEqual(store.pages.backlinks(named("beta")), ["alpha"]);
  assert.deepEqual(store.pages.citing(source.digest), ["alpha"]);
  assert.equal(store.pages.find("BETA")?.name, "beta");
  await writePages(store, [writing("alpha", "Shorter.\n", 1), {
    kind: "delete",
    base: 1,
    name: named("beta"),
  }]);
  assert.equal(store.pages.get(named("beta")), undefined);
  assert.deepEqual([...Deno.readDirSync(`${rig.folder}/pages`)].map(({ name }) => name), [
    "alpha.md",
  ]);
  assert.deepEqual(store.pages.history(named("alpha")).map(({ version }) => version), [1, 2]);
  assert.deepEqual(store.pages.history(named("beta")).map(({ deleted }) => deleted), [false, true]);
  assert.match(store.pages.text(named("alpha"), 1) ?? "", /It is so/);
  assert.match(store.pages.text(named("beta"), 1) ?? "", /Plain words/);
  assert.deepEqual(store.pages.list({ clearance: "secret" }).map(({ name }) => name), ["alpha"]);
  assert.equal(store.log.verify(), undefined);
  store.close();
});

Deno.test("a patch that was made from another version is a conflict, and nothing of it is written", async () => {
  using rig = makeRig();
  const { store } = await rig.open();
  await writePages(store, [writing("a", "one\n"), writing("b", "one\n")]);
  const late = store.patches.propose({
    author: "task:t1",
    reason: "late",
    changes: [writing("b", "late\n", 1), writing("a", "late\n", 1), writing("new", "late\n")],
    ...BEST,
  });
  await writePages(store, [writing("a", "two\n", 1)]);
  const decided = await store.patches.apply(late.id, "operator");
  assert.equal(decided.state, "conflict");
  assert.deepEqual(decided.conflicts, [
    { page: "a", expected: 1, found: 2, by: "operator", why: "version" },
  ]);
  assert.equal(store.pages.get(named("b"))?.version, 1);
  assert.equal(store.pages.get(named("new")), undefined);
  assert.deepEqual([...Deno.readDirSync(`${rig.folder}/pages`)].map(({ name }) => name).sort(), [
    "a.md",
    "b.md",
  ]);
  store.close();
});

Deno.test("a page that was edited by hand is never overwritten, whether or not the edit was taken in", async () => {
  using rig = makeRig();
  const { store } = await rig.open();
  await writePages(store, [writing("a", "one\n"), writing("b", "one\n")]);
  const path = `${rig.folder}/pages/a.md`;
  Deno.writeTextFileSync(path, "by hand\n");
  Deno.removeSync(`${rig.folder}/pages/b.md`);
  Deno.writeTextFileSync(`${rig.folder}/pages/c.md`, "hand made\n");
  const changes = [writing("a", "two\n", 1), writing("b", "two\n", 1), writing("c", "two\n")];
  const patch = await writePages(store, changes);
  assert.deepEqual(patch.conflicts?.map(({ page, why }) => [page, why]), [
    ["a", "handEdit"],
    ["b", "handEdit"],
    ["c", "handEdit"],
  ]);
  assert.equal(Deno.readTextFileSync(path), "by hand\n");
  await store.pages.sync();
  const second = await writePages(store, changes);
  assert.deepEqual(second.conflicts?.map(({ page, found, by, why }) => [page, found, by, why]), [
    ["a", 2, "hand", "version"],
    ["b", 0, "hand", "version"],
    ["c", 1, "hand", "version"],
  ]);
  assert.equal(Deno.readTextFileSync(path), "by hand\n");
  store.close();
});

Deno.test("a citation that does not hold is refused, by its footnote; one that the page had before is not", async () => {
  using rig = makeRig();
  const { store } = await rig.open();
  const source = await store.sources.add(sourceFrom("file:/a.md", "one\ntwo\n"));
  const propose = (body: string, base = 0) =>
    store.patches.propose({
      author: "task:t1",
      reason: "r",
      changes: [writing("a", body, base)],
      ...BEST,
    });
  const past = `x.[^9]\n\n${citing("9", source, 2, 3)}\n`;
  const tooFar = await faultOf(() => propose(past));
  assert.deepEqual([tooFar.code, /\[\^9\] of page "a".*has 2 lines/.test(tooFar.message)], [
    "invalidInput",
    true,
  ]);
  const unknown = {
    ...source,
    digest: sha256Hex("other"),
    text: `raw/a.${sha256Hex("other").slice(0, 12)}.md`,
  };
  const body = `x.[^k]\n\n${citing("k", unknown, 1)}\n`;
  assert.match((await faultOf(() => propose(body))).message, /\[\^k\]/);
  // A page from elsewhere had it: the same words may be written again, others not.
  Deno.writeTextFileSync(`${rig.folder}/pages/a.md`, body);
  await store.pages.sync();
  assert.deepEqual(store.pages.get(named("a"))?.citations, []);
  assert.equal(propose(body, 1).state, "proposed");
  assert.match((await faultOf(() => propose(past, 1))).message, /\[\^9\]/);
  store.close();
});

Deno.test("a page keeps the worst colour and label that reached it: source, author, version before", async () => {
  using rig = makeRig();
  const { store } = await rig.open();
  const add = (key: string, more: object) => store.sources.add(sourceFrom(key, `${key}\n`, more));
  const red = await add("https://evil.example/", { colour: "RED", label: "public" });
  const secret = await add("file:/secret.md", { colour: "BLUE", label: "secret" });
  const good = await add("file:/good.md", { colour: "BLUE", label: "public" });
  const trust = () => {
    const page = store.pages.get(named("a"));
    return [page?.colour, page?.label];
  };
  const body = (...sources: readonly (typeof red)[]) =>
    `x.[^0]\n\n${sources.map((source, n) => citing(String(n), source, 1)).join("\n")}\n`;
  await writePages(store, [writing("a", body(good))]);
  assert.deepEqual(trust(), ["BLUE", "public"]);
  await writePages(store, [writing("a", body(red), 1)]);
  assert.deepEqual(trust(), ["RED", "public"]);
  await writePages(store, [writing("a", body(good), 2)]);
  assert.deepEqual(trust(), ["RED", "public"]);
  await writePages(store, [writing("a", body(good), 3, true)]);
  assert.deepEqual(trust(), ["BLUE", "public"]);
  await writePages(store, [writing("a", body(good, secret), 4, true)]);
  assert.deepEqual(trust(), ["BLUE", "secret"]);
  await writePages(store, [writing("a", body(good), 5, true)], {
    colour: "RED",
    label: "internal",
  });
  assert.deepEqual(trust(), ["RED", "internal"]);
  // Deleting and making it again washes nothing.
  await writePages(store, [{ kind: "delete", base: 6, name: named("a") }]);
  await writePages(store, [writing("a", body(good))]);
  assert.deepEqual(trust(), ["RED", "internal"]);
  assert.match(Deno.readTextFileSync(`${rig.folder}/pages/a.md`), /colour: RED/);
  // Its bytes keep it when they come back as a source.
  const back = await store.sources.add(
    sourceFrom("file:/copy.md", store.pages.text(named("a")) ?? "", {
      colour: "BLUE",
      label: "public",
    }),
  );
  assert.deepEqual([back.colour, back.label], ["RED", "internal"]);
  store.close();
});

Deno.test("patches are decided once, and bad ones are refused with the reason", async () => {
  using rig = makeRig();
  const { store } = await rig.open();
  const done = await writePages(store, [writing("a", "one\n")]);
  assert.equal((await faultOf(() => store.patches.apply(done.id, "bob"))).code, "conflict");
  assert.equal((await faultOf(() => store.patches.reject(done.id, "bob"))).code, "conflict");
  const patch = store.patches.propose({
    author: "x",
    reason: "y",
    changes: [writing("b", "one\n")],
    ...BEST,
  });
  assert.deepEqual(store.patches.list("proposed").map(({ id }) => id), [patch.id]);
  assert.deepEqual(store.patches.reject(patch.id, "carol").decided?.by, "carol");
  assert.equal((await faultOf(() => store.patches.apply(patch.id, "bob"))).code, "conflict");
  assert.equal(store.pages.get(named("b")), undefined);
  const refused = (changes: readonly Parameters<typeof writing>[]) =>
    faultOf(() =>
      store.patches.propose({
        author: "x",
        reason: "y",
        changes: changes.map((change) => writing(...change)),
        ...BEST,
      })
    );
  assert.match((await refused([])).message, /changes nothing/);
  assert.match((await refused([["c", "x"], ["C", "x"]])).message, /twice/);
  assert.match((await refused([["A", "x"]])).message, /upper and lower case/);
  assert.match((await refused([["漢".repeat(100), "x"]])).message, /bytes/);
  assert.match((await refused([["e\u0301a", "x"]])).message, /normal form/);
  store.close();
});
