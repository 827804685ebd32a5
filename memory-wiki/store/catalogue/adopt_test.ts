import assert from "node:assert/strict";
import { faultOf } from "../_fixture/faults.ts";
import { assertSound } from "../_fixture/sound.ts";
import {
  chunksOf,
  citing,
  makeRig,
  named,
  sourceFrom,
  writePages,
  writing,
} from "../_fixture/wiki_rig.ts";
import type { Chunker } from "../inside.ts";

const chunk: Chunker = (text) => ({ title: "T", chunks: chunksOf(new TextDecoder().decode(text)) });

Deno.test("a wiki whose state is missing is adopted by init alone, YELLOW and internal at best, worse stays worse", async () => {
  using rig = makeRig();
  const first = (await rig.open()).store;
  const source = await first.sources.add(
    sourceFrom("file:/good.md", "lease words\n", { colour: "BLUE", label: "public" }),
  );
  await first.sources.add(
    sourceFrom("https://e.example/p.html", "<p>", {
      kind: "html",
      text: new TextEncoder().encode("page words\n"),
      chunks: [],
    }),
  );
  await writePages(first, [writing("good", `x.[^1]\n\n${citing("1", source, 1)}\n`)]);
  await writePages(first, [writing("bad", "y\n")], { colour: "RED", label: "secret" });
  first.close();
  Deno.writeTextFileSync(`${rig.folder}/raw/fake.0123456789ab.md`, "other bytes\n");
  Deno.writeTextFileSync(`${rig.folder}/raw/stray`, "x\n");
  Deno.removeSync(rig.stateFolder, { recursive: true });

  const absent = await faultOf(() => rig.open({ create: false }));
  assert.deepEqual([absent.code, /no state on this machine/.test(absent.message)], [
    "notFound",
    true,
  ]);
  assert.equal((await faultOf(() => rig.open({ readOnly: true }))).code, "notFound");

  const { store, repaired } = await rig.open({ chunk });
  assert.match(repaired.join("\n"), /2 raw files were adopted/);
  assert.match(repaired.join("\n"), /2 pages were adopted/);
  assert.match(repaired.join("\n"), /fake\.0123456789ab\.md does not hold what its name says/);
  const adopted = store.sources.byDigest(source.digest);
  assert.deepEqual([adopted?.colour, adopted?.label, adopted?.raw], [
    "YELLOW",
    "internal",
    source.raw,
  ]);
  const trust = (name: string) => {
    const page = store.pages.get(named(name));
    return [page?.colour, page?.label];
  };
  assert.deepEqual(trust("good"), ["YELLOW", "internal"]);
  assert.deepEqual(trust("bad"), ["RED", "secret"]);
  assert.equal(store.pages.get(named("good"))?.citations[0]?.source, source.digest);
  const found = store.chunks.candidates({ match: '"words"', clearance: "internal", limit: 5 });
  assert.deepEqual(found.map(({ source }) => source.kind).sort(), ["html", "markdown"]);
  await assertSound(rig, store);
  const aside = [...Deno.readDirSync(rig.folder)].find(({ name }) =>
    /^log\.[0-9a-f]{12}\.md$/.test(name)
  );
  assert.match(Deno.readTextFileSync(`${rig.folder}/${aside?.name}`), /was applied \(bad\)/);
  const sources = store.sources.list({}).length;
  store.close();
  const again = await rig.open({ chunk });
  assert.deepEqual(again.repaired, []);
  assert.equal(again.store.sources.list({}).length, sources);
  again.store.close();
});

Deno.test("a folder that is no wiki is not opened without init, and nothing is made there", async () => {
  using rig = makeRig();
  Deno.mkdirSync(rig.folder);
  assert.equal((await faultOf(() => rig.open({ create: false }))).code, "notFound");
  assert.deepEqual([...Deno.readDirSync(rig.folder)], []);
  assert.equal((await faultOf(() => rig.open({ folder: "relative" }))).code, "invalidInput");
});

Deno.test("a read-only opening changes nothing and takes nothing in", async () => {
  using rig = makeRig();
  const { store } = await rig.open();
  await writePages(store, [writing("a", "one\n")]);
  store.close();
  Deno.writeTextFileSync(`${rig.folder}/pages/a.md`, "by hand\n");
  Deno.removeSync(`${rig.folder}/index.md`);
  const { store: reader, repaired } = await rig.open({ readOnly: true });
  assert.deepEqual(repaired, []);
  assert.equal(reader.pages.get(named("a"))?.version, 1);
  for (
    const work of [
      () => reader.sources.add(sourceFrom("file:/x", "x\n")),
      () => reader.log.append({ kind: "query", by: "x", text: "y" }),
      () => reader.notes.sweep(),
    ]
  ) assert.equal((await faultOf(work)).code, "refused");
  assert.equal([...Deno.readDirSync(rig.folder)].some(({ name }) => name === "index.md"), false);
  reader.close();
});
