import assert from "node:assert/strict";
import fc from "fast-check";
import { sha256Hex } from "../../../port/digest.ts";
import { wikiStorePowers } from "../store_powers.ts";
import { countLines, makeTextLines } from "./text_lines.ts";
import { openWikiFolder } from "./wiki_folder.ts";

function room() {
  const root = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "remit-wiki-lines-" }));
  const { files, id } = wikiStorePowers();
  const lines = makeTextLines(openWikiFolder(files, { root, create: true, id }));
  let n = 0;
  return {
    lines,
    file(text: string | Uint8Array) {
      const path = `raw/f${n++}`;
      const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
      Deno.writeFileSync(`${root}/${path}`, bytes);
      return { path, digest: sha256Hex(bytes) };
    },
    [Symbol.dispose]: () => Deno.removeSync(root, { recursive: true }),
  };
}

/** The plain way. */
function naive(text: string): readonly string[] {
  const lines = text.split("\n").map((line) => line.replace(/\r$/, ""));
  return text.endsWith("\n") || text === "" ? lines.slice(0, -1) : lines;
}

Deno.test("any lines of any text are what the plain way gives", () => {
  using at = room();
  const line = fc.oneof(
    fc.string(),
    fc.constant(""),
    fc.string({ unit: "grapheme" }),
    fc.constant("x\r"),
  );
  fc.assert(
    fc.property(
      fc.array(line.map((one) => one.toWellFormed()), { maxLength: 300 }),
      fc.boolean(),
      fc.nat(310),
      fc.nat(200),
      (parts, ended, from, count) => {
        const text = parts.join("\n") + (ended ? "\n" : "");
        const all = naive(text);
        assert.equal(countLines(new TextEncoder().encode(text)), all.length);
        const want = all.slice(from, from + count + 1).join("\n");
        assert.equal(at.lines.lines(at.file(text), from + 1, from + count + 1, 1_000_000), want);
      },
    ),
    { numRuns: 200 },
  );
});

Deno.test("whole lines up to the limit; of a line that alone is longer, its beginning, no character halved", () => {
  using at = room();
  const file = at.file("aaaa\nbbbb\ncccc\n");
  assert.equal(at.lines.lines(file, 1, 3, 14), "aaaa\nbbbb\ncccc");
  assert.equal(at.lines.lines(file, 1, 3, 12), "aaaa\nbbbb");
  assert.equal(at.lines.lines(file, 1, 3, 3), "aaa");
  assert.equal(at.lines.lines(at.file("漢字漢字\nx"), 1, 2, 7), "漢字");
  assert.equal(at.lines.lines(at.file("漢".repeat(400_000)), 1, 1, 10), "漢漢漢");
  assert.equal(at.lines.lines(at.file(`${"x".repeat(300_000)}\nend\n`), 2, 2, 10), "end");
  assert.equal(at.lines.lines(at.file(""), 1, 1, 10), "");
});

Deno.test("a passage in the middle of a line without end is read by its bytes", () => {
  using at = room();
  const file = at.file(`${"a".repeat(3_000_000)}needle${"b".repeat(10)}`);
  assert.equal(at.lines.passage(file, 3_000_000, 3_000_006), "needle");
  assert.equal(at.lines.passage(file, 3_000_014, 3_000_099), "bb");
});

Deno.test("broken UTF-8 reads as U+FFFD and never as more bytes than asked for", () => {
  using at = room();
  const file = at.file(new Uint8Array([0x66, 0xff, 0xfe, 0x0a, 0xc3]));
  assert.equal(at.lines.lines(file, 1, 2, 100), "f\ufffd\ufffd\n\ufffd");
  const bad = at.file(new Uint8Array(100).fill(0xff));
  assert.ok(new TextEncoder().encode(at.lines.lines(bad, 1, 1, 50)).length <= 50);
  const line = at.file(new Uint8Array(40).fill(0xff));
  assert.ok(new TextEncoder().encode(at.lines.lines(line, 1, 1, 50)).length <= 50);
});

Deno.test("a file that changed is digested again, and refused when it is not what was ingested", () => {
  using at = room();
  const file = at.file("one\n");
  assert.equal(at.lines.lines(file, 1, 1, 10), "one");
  assert.throws(
    () => at.lines.lines({ ...file, digest: sha256Hex("two\n") }, 1, 1, 10),
    /not what was ingested/,
  );
});
