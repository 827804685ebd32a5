import assert from "node:assert/strict";
import { documentOf, parts } from "../_fixture/parts.ts";
import { bomb, makeZip, type ZipPart } from "../_fixture/zip.ts";
import { openArchive, readEntry } from "./archive.ts";

const open = (entries: readonly ZipPart[]) =>
  openArchive(documentOf(makeZip(entries, "a comment")), parts.inflate);
const decoder = new TextDecoder();

Deno.test("entries are read as they were put in, stored and deflated", async () => {
  const archive = open([
    { name: "a/b.txt", content: "deflated".repeat(50) },
    { name: "c", content: "stored", stored: true },
    { name: "empty", content: "" },
  ]);
  assert.deepEqual(archive.names, ["a/b.txt", "c", "empty"]);
  const read = async (name: string) =>
    decoder.decode((await readEntry(archive, name, 1_000))?.bytes);
  assert.equal(await read("a/b.txt"), "deflated".repeat(50));
  assert.equal(await read("c"), "stored");
  assert.equal(await read("empty"), "");
  assert.equal(await readEntry(archive, "missing", 10), undefined);
});

Deno.test("10 GB of zeros are unpacked as far as they are asked for, whatever their size is said to be", async () => {
  const packed = bomb("head", 10_240);
  const archive = open([{ name: "zeros", content: "", packed, says: 4 }]);
  const entry = await readEntry(archive, "zeros", 1_000_000);
  assert.equal(entry?.whole, false);
  assert.equal(entry?.bytes.length, 1_000_000);
  assert.equal(decoder.decode(entry?.bytes.subarray(0, 4)), "head");
});

Deno.test("of one archive no more than 256 MiB are unpacked, however many entries it has", async () => {
  const packed = bomb("", 200);
  const names = ["a", "b", "c", "d", "e", "f"];
  const archive = open(names.map((name) => ({ name, content: "", packed })));
  let given = 0;
  const all = async (): Promise<void> => {
    for (const name of names) {
      await archive.read(name, (part) => {
        given += part.length;
        return true;
      });
    }
  };
  await assert.rejects(all, { code: "tooLarge", message: /unpacks to more than 256 MiB/ });
  assert.equal(given, 256 * 1024 * 1024);
});

Deno.test("entries that lie over each other are an archive made to do harm", () => {
  const packed = bomb("", 16);
  assert.throws(
    () => open([{ name: "a", content: "", packed }, { name: "b", content: "", packed, like: 0 }]),
    { code: "invalidInput", message: /lie over each other/ },
  );
});

Deno.test("names that lead out of the archive, or come twice, are not in it", () => {
  const names = [
    ...["../../etc/passwd", "/etc/passwd", "a/../../b", "C:\\x", "c:/x", "a\\b", "a\0b"],
    ...["", "x".repeat(600), "good", "good"],
  ];
  const { names: left, dropped } = open(names.map((name) => ({ name, content: "x" })));
  assert.deepEqual(left, ["good"]);
  assert.equal(dropped, names.length - 1);
});

Deno.test("an entry that is encrypted, packed otherwise or damaged is none", async () => {
  const archive = open([
    { name: "encrypted", content: "x", flags: 1 },
    { name: "lzma", content: "x", method: 14 },
    { name: "damaged", content: "", packed: new Uint8Array(100).fill(0xff) },
  ]);
  for (const name of archive.names) {
    const entry = await readEntry(archive, name, 100_000_000);
    assert.ok(entry === undefined, `${name}: ${entry?.bytes.length} bytes`);
  }
});

Deno.test("an entry that breaks off is given as far as it goes, and not as a whole one", async () => {
  const packed = bomb("", 16).subarray(0, 200);
  const archive = open([{ name: "cut", content: "", packed, says: 16 << 20 }]);
  const entry = await readEntry(archive, "cut", 100_000_000);
  assert.equal(entry?.whole, false);
  assert.ok(entry.bytes.length > 100_000);
});

Deno.test("an archive whose directory lies is refused: offsets, sizes, counts", () => {
  const good = makeZip([{ name: "a", content: "x" }]);
  const directory = good.length - 22 - 47;
  const changed = (at: number, value: number): Uint8Array => {
    const bytes = good.slice();
    new DataView(bytes.buffer).setUint32(at, value, true);
    return bytes;
  };
  const liars = [
    changed(directory + 42, 0xfffffff0), // where the entry is
    changed(directory + 20, 0x7fffffff), // how long it is
    changed(directory + 42, 0xffffffff), // in a field that is not there
    good.subarray(0, good.length - 1),
    new Uint8Array(1_000),
    Uint8Array.of(0x50, 0x4b, 5, 6),
  ];
  for (const [at, bytes] of liars.entries()) {
    assert.throws(
      () => openArchive(documentOf(bytes), parts.inflate),
      { code: "invalidInput" },
      `liar ${at}`,
    );
  }
  const many = makeZip(Array.from({ length: 10_001 }, (_, at) => ({
    name: `${at}`,
    content: "",
    stored: true,
  })));
  assert.throws(() => openArchive(documentOf(many), parts.inflate), {
    code: "invalidInput",
    message: /more than 10000 entries/,
  });
});
