import assert from "node:assert/strict";
import { ingestOf, makeFolders, openFolders, refusal, takeIn } from "../../_fixture/opened_wiki.ts";
import { Died, dyingPowers } from "../_fixture/dying_powers.ts";
import { assertSound } from "../_fixture/sound.ts";
import {
  chunksOf,
  citing,
  makeRig,
  named,
  type Rig,
  sourceFrom,
  writePages,
  writing,
} from "../_fixture/wiki_rig.ts";
import type { Chunker } from "../inside.ts";
import type { WikiStore } from "../wiki_store.ts";

const chunk: Chunker = (text) => ({ title: "T", chunks: chunksOf(new TextDecoder().decode(text)) });
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Loses the state, as a moved folder does, and adopts what is left. */
async function moved(rig: Rig, store: WikiStore): Promise<WikiStore> {
  store.close();
  Deno.removeSync(rig.stateFolder, { recursive: true });
  return (await rig.open({ chunk })).store;
}

const trustOf = (store: WikiStore, key: string): string => {
  const source = store.sources.current(key);
  return `${source?.colour} ${source?.label}`;
};

function found(store: WikiStore, term: string): readonly string[] {
  return store.chunks.candidates({ match: `"${term}"`, clearance: "secret", limit: 10 })
    .map(({ source }) => source.key).sort();
}

Deno.test("RED stays RED and secret stays secret in a wiki that was moved without its state, and nothing becomes better", async () => {
  using rig = makeRig();
  const { store } = await rig.open();
  await store.sources.addAll([
    sourceFrom("https://e.example/red", "red words\n", { colour: "RED", label: "public" }),
    sourceFrom("file:/secret.md", "secret words\n", { colour: "BLUE", label: "secret" }),
    sourceFrom("file:/good.md", "good words\n", { colour: "BLUE", label: "public" }),
    sourceFrom("file:/plain.md", "plain words\n"),
  ]);
  let again = await moved(rig, store);
  // A second time, out of what the first adoption wrote.
  for (let time = 0; time < 2; time++) {
    assert.equal(trustOf(again, "https://e.example/red"), "RED internal");
    assert.equal(trustOf(again, "file:/secret.md"), "YELLOW secret");
    assert.equal(trustOf(again, "file:/good.md"), "YELLOW internal");
    assert.equal(trustOf(again, "file:/plain.md"), "YELLOW internal");
    const hidden = again.chunks.candidates({ match: '"words"', clearance: "internal", limit: 9 });
    assert.deepEqual(hidden.map(({ source }) => source.key).sort(), [
      "file:/good.md",
      "file:/plain.md",
      "https://e.example/red",
    ]);
    await assertSound(rig, again);
    again = await moved(rig, again);
  }
  again.close();
});

Deno.test("an adopted source is the source that it was: key, title, origin, version and state, and taken in again it is unchanged", async () => {
  using rig = makeRig();
  const { store } = await rig.open();
  const origin = { origin: "/docs/a.md", by: "task:t1", retrievedAt: 5 };
  const two = sourceFrom("file:/docs/a.md", "two words\n", { title: "A", provenance: origin });
  const html = (text: string) =>
    sourceFrom("https://e.example/p.html", text, {
      ...{ kind: "html", raw: bytes("<p>"), text: bytes(text), title: "P" },
      provenance: { ...origin, parser: `html@${text.length}` },
    });
  const first = await store.sources.add(sourceFrom("file:/docs/a.md", "one words\n"));
  await writePages(store, [writing("a", `y.[^1]\n\n${citing("1", first, 1)}\n`)]);
  await store.sources.add(two);
  await store.sources.add(html("form words\n"));
  await store.sources.add(sourceFrom("file:/docs/copy.md", "two words\n"));
  await store.sources.add(sourceFrom("file:/docs/back.md", "back words\n"));
  await store.sources.add(sourceFrom("file:/docs/back.md", "other words\n"));
  await store.sources.add(sourceFrom("file:/docs/back.md", "back words\n"));
  await store.sources.add(sourceFrom("file:/docs/gone.md", "gone words\n"));
  store.sources.remove("file:/docs/gone.md");
  await store.sources.add(
    sourceFrom("file:/docs/lasts.md", "lasting\n", { expiresAt: Date.now() + 1e9 }),
  );
  const shown = (one: WikiStore) =>
    one.sources.list({}).map((
      { key, version, digest, kind, title, raw, text, state, provenance, expiresAt },
    ) =>
      JSON.stringify([key, version, digest, kind, title, raw, text, state, provenance, expiresAt])
    ).sort();
  const before = shown(store);
  const hits = found(store, "words");
  const again = await moved(rig, store);
  assert.deepEqual(shown(again), before);
  assert.deepEqual(found(again, "words"), hits);
  assert.equal(again.pages.get(named("a"))?.citations[0]?.source, first.digest);
  const fates = await again.sources.addAll([
    two,
    html("form words\n"),
    sourceFrom("file:/docs/back.md", "back words\n"),
  ]);
  assert.deepEqual(fates.map(({ did }) => did), ["unchanged", "unchanged", "unchanged"]);
  const [newer] = await again.sources.addAll([sourceFrom("file:/docs/a.md", "three words\n")]);
  assert.deepEqual([newer?.did, newer?.source.version], ["changed", 3]);
  await assertSound(rig, again);
  again.close();
});

Deno.test("a file that the catalogue does not know, or whose catalogue is gone, is adopted as before", async () => {
  using rig = makeRig();
  const { store } = await rig.open();
  await store.sources.add(sourceFrom("file:/a.md", "one words\n", { colour: "RED" }));
  Deno.removeSync(`${rig.folder}/raw/sources.jsonl`);
  const again = await moved(rig, store);
  const [source] = again.sources.list({});
  assert.match(source?.key ?? "", /^adopted:a\.md#[0-9a-f]{12}$/);
  assert.deepEqual([source?.colour, source?.label, found(again, "words").length], [
    "YELLOW",
    "internal",
    1,
  ]);
  await assertSound(rig, again);
  again.close();
});

Deno.test("a crash before any step of an adoption loses nothing that the catalogue says", async () => {
  for (let step = 1;; step++) {
    using rig = makeRig();
    const { store } = await rig.open();
    await store.sources.add(sourceFrom("file:/a.md", "one\n", { colour: "RED", label: "secret" }));
    await store.sources.add(sourceFrom("file:/a.md", "two\n", { colour: "RED", label: "secret" }));
    store.close();
    Deno.removeSync(rig.stateFolder, { recursive: true });
    const dying = dyingPowers();
    dying.dieAt(step);
    const died = await rig.open({ powers: dying.powers, chunk }).then(({ store }) => {
      store.close();
      return false;
    }, (error: unknown) => {
      for (let one: unknown = error; one instanceof Error; one = one.cause) {
        if (one instanceof Died) return true;
      }
      throw error;
    });
    const again = (await rig.open({ chunk })).store;
    const all = again.sources.list({}).map((s) =>
      `${s.key} ${s.version} ${s.state} ${s.colour} ${s.label}`
    ).sort();
    assert.deepEqual(all, [
      "file:/a.md 1 superseded RED secret",
      "file:/a.md 2 current RED secret",
    ], `step ${step}`);
    await assertSound(rig, again);
    again.close();
    if (!died) {
      assert.ok(step > 5, `${step}`);
      return;
    }
  }
});

Deno.test("in a wiki that was moved, lint finds no altered source, finds one that is altered then, and an ingest of the same files finds them unchanged", async () => {
  await using folders = await makeFolders();
  const wiki = await openFolders(folders);
  await takeIn(wiki, folders, { "a.md": "# A\n\nSome words.\n", "b.md": "# B\n\nMore words.\n" }, {
    colour: "RED",
  });
  const raw = [...Deno.readDirSync(`${folders.folder}/raw`)].map(({ name }) => `raw/${name}`)
    .filter((name) => name.endsWith(".md")).sort();
  await Deno.remove(folders.state, { recursive: true });
  const again = await openFolders(folders);
  const altered = () => again.ask("lint", { clearance: "secret", rules: ["alteredSource"] });
  assert.deepEqual(await altered(), []);
  const report = await again.ask("ingestFiles", ingestOf(folders, ["a.md", "b.md"]));
  assert.deepEqual(report, { added: 0, changed: 0, unchanged: 2, failed: [] });
  const read = await again.ask("read", { clearance: "secret", name: raw[0] });
  assert.deepEqual([read.colour, read.label], ["RED", "internal"]);
  for (const name of ["raw/sources.jsonl", "../raw/sources.jsonl"]) {
    const refused = await refusal(again.ask("read", { clearance: "secret", name }));
    assert.equal(refused.code, "notFound");
  }
  const path = `${folders.folder}/${raw[0]}`;
  await Deno.chmod(path, 0o644);
  await Deno.writeTextFile(path, "poison\n");
  const findings = await altered() as { file: string }[];
  assert.deepEqual(findings.map(({ file }) => file), [raw[0]]);
});
