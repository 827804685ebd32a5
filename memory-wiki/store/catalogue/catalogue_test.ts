import assert from "node:assert/strict";
import { faultOf } from "../_fixture/faults.ts";
import { assertSound, catalogueOf } from "../_fixture/sound.ts";
import { makeRig, type Rig, sourceFrom, writePages, writing } from "../_fixture/wiki_rig.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const fileOf = (rig: Rig): string => `${rig.folder}/raw/sources.jsonl`;
const told = (rig: Rig): readonly string[] =>
  catalogueOf(rig).map((line) =>
    ["key", "version", "state", "colour", "label"].map((name) => line[name]).join(" ")
  );

Deno.test("the catalogue has a line for each version that is taken in, superseded, removed or renewed, and only grows", async () => {
  using rig = makeRig();
  const { store } = await rig.open();
  const before: string[] = [];
  const grown = (): void => {
    const now = Deno.readTextFileSync(fileOf(rig));
    assert.ok(now.startsWith(before.at(-1) ?? "") && now !== before.at(-1));
    before.push(now);
  };
  const page = sourceFrom("https://e.example/p.html", "<p>", {
    ...{ kind: "html", text: bytes("words\n"), chunks: [], colour: "RED", title: "P" },
    provenance: { origin: "https://e.example/p", by: "task:t1", retrievedAt: 7, parser: "html@1" },
  });
  const taken = await store.sources.add(page);
  grown();
  assert.deepEqual(catalogueOf(rig), [{
    ...{ digest: taken.digest, raw: taken.raw, text: `${taken.raw}.txt` },
    ...{ key: "https://e.example/p.html", version: 1, kind: "html", title: "P" },
    ...{ origin: "https://e.example/p", by: "task:t1", retrievedAt: 7, parser: "html@1" },
    ...{ colour: "RED", label: "internal", state: "current" },
  }]);
  await store.sources.add(sourceFrom("file:/a.md", "one\n", { label: "secret" }));
  grown();
  await store.sources.add(sourceFrom("file:/a.md", "two\n", { label: "public" }));
  grown();
  store.sources.remove("file:/a.md");
  grown();
  await store.sources.addAll([{ ...page, expiresAt: Date.now() + 1e9 }]);
  grown();
  assert.deepEqual(told(rig), [
    "https://e.example/p.html 1 current RED internal",
    "file:/a.md 1 current YELLOW secret",
    "file:/a.md 1 superseded YELLOW secret",
    "file:/a.md 2 current YELLOW public",
    "file:/a.md 2 removed YELLOW public",
    "https://e.example/p.html 1 current RED internal",
  ]);
  const length = before.at(-1)?.length;
  await store.sources.addAll([{
    ...page,
    expiresAt: Number(catalogueOf(rig).at(-1)?.["expiresAt"]),
  }]);
  await writePages(store, [writing("a", "one\n")]);
  assert.equal(Deno.readTextFileSync(fileOf(rig)).length, length);
  await assertSound(rig, store);
  store.close();
});

Deno.test("while there is a database nothing in the catalogue counts: cut, altered or gone, it is made good and told", async () => {
  using rig = makeRig();
  const { store } = await rig.open();
  await store.sources.add(sourceFrom("file:/a.md", "one\n", { colour: "RED", label: "secret" }));
  await store.sources.add(sourceFrom("file:/b.md", "two\n"));
  store.close();
  const whole = Deno.readTextFileSync(fileOf(rig));
  const cases: readonly (readonly [why: RegExp, change: () => void])[] = [
    [/cut/, () => Deno.truncateSync(fileOf(rig), whole.length - 20)],
    [/cut/, () => Deno.truncateSync(fileOf(rig), 0)],
    [/gone/, () => Deno.removeSync(fileOf(rig))],
    [/altered/, () => Deno.writeTextFileSync(fileOf(rig), `${whole}{}\n`)],
    [/altered/, () => Deno.writeTextFileSync(fileOf(rig), whole.replace('"RED"', '"RE "'))],
    [/altered/, () => Deno.writeTextFileSync(fileOf(rig), "x".repeat(whole.length * 3))],
  ];
  for (const [why, change] of cases) {
    change();
    const { store: again, repaired } = await rig.open();
    assert.match(repaired.join("\n"), /raw\/sources\.jsonl/);
    assert.match(repaired.join("\n"), why);
    assert.equal(Deno.readTextFileSync(fileOf(rig)), whole);
    const source = again.sources.current("file:/a.md");
    assert.deepEqual([source?.colour, source?.label], ["RED", "secret"]);
    await assertSound(rig, again);
    again.close();
  }
  const { store: last, repaired } = await rig.open();
  assert.deepEqual(repaired, []);
  last.close();
});

Deno.test("a process that is open already writes an altered catalogue anew with the next source", async () => {
  using rig = makeRig();
  const { store } = await rig.open();
  await store.sources.add(sourceFrom("file:/a.md", "one\n"));
  Deno.writeTextFileSync(fileOf(rig), '{"digest":"mine"}\n');
  const [{ store: other }] = [await rig.open()];
  await other.sources.add(sourceFrom("file:/b.md", "two\n"));
  await store.sources.add(sourceFrom("file:/c.md", "three\n"));
  assert.deepEqual(told(rig).map((line) => line.split(" ")[0]), [
    "file:/a.md",
    "file:/b.md",
    "file:/c.md",
  ]);
  await assertSound(rig, store);
  store.close();
  other.close();
});

Deno.test("a link, a second name or a folder in the catalogue's place is refused before anything is taken in, and not followed", async () => {
  using rig = makeRig();
  const { store } = await rig.open();
  await store.sources.add(sourceFrom("file:/a.md", "one\n"));
  const outside = `${rig.dir}/outside`;
  Deno.writeTextFileSync(outside, "mine\n");
  const places: readonly (() => void)[] = [
    () => Deno.symlinkSync(outside, fileOf(rig)),
    () => Deno.symlinkSync(`${rig.dir}/nowhere`, fileOf(rig)),
    () => Deno.linkSync(outside, fileOf(rig)),
    () => Deno.mkdirSync(fileOf(rig)),
  ];
  for (const place of places) {
    Deno.removeSync(fileOf(rig));
    place();
    const refused = await faultOf(() => store.sources.add(sourceFrom("file:/b.md", "two\n")));
    assert.equal(refused.code, "refused");
    assert.equal(store.sources.current("file:/b.md"), undefined);
    assert.equal((await faultOf(() => rig.open())).code, "refused");
    assert.equal(Deno.readTextFileSync(outside), "mine\n");
  }
  assert.deepEqual([...Deno.readDirSync(rig.dir)].map(({ name }) => name).sort(), [
    "outside",
    "state",
    "wiki",
  ]);
  store.close();
});
