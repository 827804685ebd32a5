import assert from "node:assert/strict";
import type { WikiSource } from "../../../contracts/memory/mod.ts";
import { sha256Hex } from "../../../port/digest.ts";
import { assertSound } from "../_fixture/sound.ts";
import { chunksOf, makeRig, type Rig, sourceFrom } from "../_fixture/wiki_rig.ts";
import { openWikiFolder } from "../files/wiki_folder.ts";
import type { Chunker } from "../inside.ts";
import { wikiStorePowers } from "../store_powers.ts";
import { readCatalogue } from "./adopt.ts";
import { CATALOGUE_FILE, LINE_BYTES } from "./catalogue.ts";

/** mallory wrote raw/sources.jsonl of a wiki that carol cloned. */

const chunk: Chunker = (text) => ({ title: "T", chunks: chunksOf(new TextDecoder().decode(text)) });
const digest = sha256Hex("good words\n");
const name = `good.${digest.slice(0, 12)}.md`;
/** As the store writes it. */
const honest = {
  ...{ digest, raw: `raw/${name}`, text: `raw/${name}`, key: "file:/good.md", version: 1 },
  ...{ kind: "markdown", title: "Good", origin: "/good.md", by: "operator", retrievedAt: 1 },
  ...{ colour: "YELLOW", label: "internal", state: "current" },
};
const lineOf = (more: object): string => `${JSON.stringify({ ...honest, ...more })}\n`;

/** A cloned wiki with one raw file and this catalogue. */
function cloned(rig: Rig, catalogue: string | Uint8Array): void {
  for (const part of ["", "/raw", "/pages"]) Deno.mkdirSync(`${rig.folder}${part}`);
  Deno.writeTextFileSync(`${rig.folder}/raw/${name}`, "good words\n");
  const bytes = typeof catalogue === "string" ? new TextEncoder().encode(catalogue) : catalogue;
  Deno.writeFileSync(`${rig.folder}/${CATALOGUE_FILE}`, bytes);
}

async function adopted(
  catalogue: string | Uint8Array,
  look: (sources: readonly WikiSource[], told: string, rig: Rig) => void,
): Promise<void> {
  using rig = makeRig();
  cloned(rig, catalogue);
  Deno.writeTextFileSync(`${rig.dir}/outside.md`, "mine\n");
  const { store, repaired } = await rig.open({ chunk });
  look(store.sources.list({}), repaired.join("\n"), rig);
  await assertSound(rig, store);
  assert.equal(Deno.readTextFileSync(`${rig.dir}/outside.md`), "mine\n");
  store.close();
}

const shown = (sources: readonly WikiSource[]): readonly string[] =>
  sources.map(({ key, version, state, colour, label }) =>
    [key, version, state, colour, label].join(" ")
  );
const PLAIN = `adopted:good.md#${digest.slice(0, 12)} 1 current YELLOW internal`;

Deno.test("mallory's claim that her bytes are BLUE and public would have made them so", async () => {
  await adopted(
    lineOf({ colour: "BLUE", label: "public" }),
    (sources) => assert.deepEqual(shown(sources), ["file:/good.md 1 current YELLOW internal"]),
  );
});

Deno.test("a later line would have taken back that bytes are RED and secret", async () => {
  const lines = lineOf({ colour: "RED", label: "secret" }) + lineOf({}) +
    lineOf({ colour: "BLUE", label: "public", raw: "raw/elsewhere.md" });
  await adopted(
    lines,
    (sources) => assert.deepEqual(shown(sources), ["file:/good.md 1 current RED secret"]),
  );
  // Also where the file was given another name.
  await adopted(
    lineOf({ colour: "RED", raw: "raw/other.000000000000.md", text: "raw/other.000000000000.md" }),
    (sources) => assert.deepEqual(shown(sources), [PLAIN.replace("YELLOW", "RED")]),
  );
});

Deno.test("paths that lead elsewhere would have been read as a source's bytes or text", async () => {
  const html = { kind: "html" };
  const paths = [
    { raw: "raw/../../outside.md", text: "raw/../../outside.md" },
    { raw: "../outside.md", text: "../outside.md" },
    { text: "raw/../../outside.md", ...html },
    { text: `raw/${name}/../../../outside.md.txt`, ...html },
    { text: "/etc/passwd", ...html },
    { text: `raw/${name}.txt`, ...html },
    { text: `raw/${name}.000000000000.txt`, ...html },
    { text: `pages/../raw/${name}`, ...html },
    { text: CATALOGUE_FILE, ...html },
    { text: `raw/${name}`, ...html },
    { raw: CATALOGUE_FILE, text: CATALOGUE_FILE },
  ];
  for (const path of paths) {
    await adopted(
      lineOf(path),
      (sources) => assert.deepEqual(shown(sources), [PLAIN], JSON.stringify(path)),
    );
  }
});

Deno.test("another source's file as a text form, or hidden as one, would have put its lines under mallory's key", async () => {
  using rig = makeRig();
  const form = lineOf({ kind: "html", text: `raw/secret.${sha256Hex("s\n").slice(0, 12)}.txt` });
  cloned(rig, form);
  Deno.writeTextFileSync(`${rig.folder}/raw/secret.${sha256Hex("s\n").slice(0, 12)}.txt`, "s\n");
  const { store } = await rig.open({ chunk });
  assert.deepEqual(store.sources.list({}).map(({ raw, text }) => raw === text), [true, true]);
  await assertSound(rig, store);
  store.close();
});

Deno.test("one digest under many keys, one key for many digests: the first line of a version has it, and one version is current", async () => {
  const other = sha256Hex("evil words\n");
  const evil = `raw/evil.${other.slice(0, 12)}.md`;
  using rig = makeRig();
  cloned(
    rig,
    lineOf({}) + lineOf({ digest: other, raw: evil, text: evil }) +
      lineOf({ digest: other, raw: evil, text: evil, version: 7 }) +
      lineOf({ version: 3 }) + lineOf({ key: "file:/copy.md" }),
  );
  Deno.writeTextFileSync(`${rig.folder}/${evil}`, "evil words\n");
  const { store, repaired } = await rig.open({ chunk });
  assert.deepEqual(shown(store.sources.list({})).toSorted(), [
    "file:/copy.md 1 current YELLOW internal",
    "file:/good.md 1 superseded YELLOW internal",
    "file:/good.md 3 superseded YELLOW internal",
    "file:/good.md 7 current YELLOW internal",
  ]);
  assert.match(repaired.join("\n"), /1 lines of raw\/sources\.jsonl were passed over/);
  // The key's own file comes back: it is the newest, and hers is not found any more.
  await store.sources.add(sourceFrom("file:/good.md", "good words\n"));
  const hits = store.chunks.candidates({ match: '"words"', clearance: "secret", limit: 9 });
  assert.deepEqual(hits.map(({ source }) => `${source.key} ${source.version}`).sort(), [
    "file:/copy.md 1",
    "file:/good.md 8",
  ]);
  await assertSound(rig, store);
  store.close();
});

Deno.test("lines that are no entries are passed over, told, and stop nothing", async () => {
  const bad = [
    "\n\n\n",
    "{\n",
    "[]\n",
    "null\n",
    `{"digest":"${digest}",${'"a":['.repeat(10)}\n`,
    `{"digest":"${digest}","key":${"[".repeat(60_000)}${"]".repeat(60_000)}}\n`,
    `{"digest":"${digest}","key":${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}}\n`,
    lineOf({ extra: 1 }),
    lineOf({ key: "" }),
    lineOf({ key: "x".repeat(4_201) }),
    lineOf({ key: "a\ud800" }),
    lineOf({ title: "t\udfff" }),
    lineOf({ version: 1e300 }),
    lineOf({ version: 1.5 }),
    lineOf({ version: 1_000_000_001 }),
    lineOf({ state: "new" }),
    lineOf({ kind: "exe" }),
    lineOf({ colour: "GOLD" }),
    lineOf({ colour: ["BLUE"] }),
    lineOf({ retrievedAt: -1 }),
    lineOf({ expiresAt: "soon" }),
    lineOf({ title: "x".repeat(LINE_BYTES) }),
    `{"digest":"${digest}","__proto__":{"colour":"BLUE"}}\n`,
  ];
  const latin = new Uint8Array([
    ...new TextEncoder().encode(lineOf({})).map((byte) => byte === 47 ? 0xff : byte),
  ]);
  const lines = new TextEncoder().encode(bad.join(""));
  const whole = new Uint8Array([
    ...lines,
    ...latin,
    ...new TextEncoder().encode(lineOf({}).trimEnd()),
  ]);
  await adopted(whole, (sources, told) => {
    assert.deepEqual(shown(sources), ["file:/good.md 1 current YELLOW internal"]);
    assert.match(told, new RegExp(`\\b${bad.length} lines of raw/sources\\.jsonl are no entries`));
  });
});

Deno.test("a catalogue of 1 GB would have filled the memory", async () => {
  using rig = makeRig();
  cloned(rig, lineOf({ colour: "RED" }));
  Deno.truncateSync(`${rig.folder}/${CATALOGUE_FILE}`, 1_000_000_000);
  const { store, repaired } = await rig.open({ chunk });
  assert.match(
    repaired.join("\n"),
    /sources\.jsonl has more than 268435456 bytes and was not read/,
  );
  assert.deepEqual(shown(store.sources.list({})), [PLAIN]);
  assert.ok(Deno.statSync(`${rig.folder}/${CATALOGUE_FILE}`).size < 10_000);
  await assertSound(rig, store);
  store.close();
});

Deno.test("a million lines would have become a million sources", () => {
  using rig = makeRig();
  const mine = Array.from({ length: 1_500 }, (_, n) => lineOf({ key: `file:/${n}` })).join("");
  const others = lineOf({ digest: sha256Hex("no file has these") }).repeat(2_000);
  const broken = "x\n".repeat(1_000_000);
  cloned(rig, mine + others + broken + lineOf({ colour: "RED" }));
  const { files, id } = wikiStorePowers();
  const folder = openWikiFolder(files, { root: rig.folder, create: false, id });
  const { versions, trust, told } = readCatalogue(folder, new Set([digest.slice(0, 12)]));
  assert.equal(versions(`raw/${name}`, digest).length, 1_000);
  assert.equal(trust(digest)?.colour, "YELLOW");
  assert.deepEqual(told, [
    "996500 lines of raw/sources.jsonl are no entries",
    "4001 lines of raw/sources.jsonl were passed over",
  ]);
});

Deno.test("a raw file that a text could not be made of stops no other file's adoption", async () => {
  using rig = makeRig();
  cloned(rig, lineOf({}));
  const odd = sha256Hex("\0");
  Deno.writeTextFileSync(`${rig.folder}/raw/odd.${odd.slice(0, 12)}.bin`, "\0");
  const { Fault } = await import("../../../contracts/base/fault.ts");
  const picky: Chunker = (text, kind, title) => {
    if (text[0] === 0) throw new Fault("invalidInput", "Cannot cut it: it is no text");
    return chunk(text, kind, title);
  };
  const { store, repaired } = await rig.open({ chunk: picky });
  assert.equal(store.sources.list({}).length, 1);
  assert.match(repaired.join("\n"), /raw\/odd\.[0-9a-f]{12}\.bin was left alone: .*it is no text/);
  store.close();
});
