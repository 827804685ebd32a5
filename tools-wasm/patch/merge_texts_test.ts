import assert from "node:assert/strict";
import fc from "fast-check";
import { makeFakeHost } from "./_fixture/fake_host.ts";
import { mergeTexts } from "./merge_texts.ts";
import { tools } from "./tool.ts";

const BASE = "a\nb\nc\nd\ne\n";

Deno.test("what alice and bob changed in different places is both in the merged text", () => {
  assert.deepEqual(
    mergeTexts({ base: BASE, ours: BASE.replace("a", "A"), theirs: BASE.replace("e", "E") }),
    {
      text: "A\nb\nc\nd\nE\n",
      conflicts: [],
    },
  );
});

Deno.test("what both changed differently is reported with three versions and marked", () => {
  const merged = mergeTexts({
    base: BASE,
    ours: BASE.replace("c", "mine"),
    theirs: BASE.replace("c", "yours"),
  });
  assert.deepEqual(merged.conflicts, [{
    base: { line: 3, lines: ["c"] },
    ours: { line: 3, lines: ["mine"] },
    theirs: { line: 3, lines: ["yours"] },
  }]);
  assert.equal(
    merged.text,
    "a\nb\n<<<<<<< ours\nmine\n||||||| base\nc\n=======\nyours\n>>>>>>> theirs\nd\ne\n",
  );
});

Deno.test("the tool reads paths, stages a clean merge, and stages no conflict unless markers are wanted", async () => {
  const host = makeFakeHost({
    "desk/base": BASE,
    "desk/ours": BASE.replace("a", "A"),
    "desk/theirs": BASE.replace("e", "E"),
  });
  const paths = {
    basePath: "desk/base",
    oursPath: "desk/ours",
    theirsPath: "desk/theirs",
    out: "desk/out",
  };
  assert.deepEqual(await tools.patch_merge(paths, host.remit), {
    clean: true,
    staged: "desk/out",
    conflicts: [],
  });
  assert.equal(host.files.get("desk/out"), "A\nb\nc\nd\nE\n");
  host.files.set("desk/theirs", BASE.replace("a", "x"));
  const torn = await tools.patch_merge({ ...paths, out: "desk/torn" }, host.remit);
  assert.deepEqual([torn.clean, torn.staged, torn.text, torn.conflicts.length], [
    false,
    undefined,
    undefined,
    1,
  ]);
  assert.equal(host.files.has("desk/torn"), false);
  await tools.patch_merge({ ...paths, out: "desk/torn", markers: true }, host.remit);
  assert.match(host.files.get("desk/torn") ?? "", /^<<<<<<< ours$/m);
});

Deno.test("a version given twice, not at all, or of a file that is not there is refused", async () => {
  const host = makeFakeHost({});
  await assert.rejects(
    tools.patch_merge({ base: "", ours: "" }, host.remit),
    /either `theirs` or `theirsPath`/,
  );
  await assert.rejects(
    tools.patch_merge({ base: "", basePath: "desk/x", ours: "", theirs: "" }, host.remit),
    /either `base` or `basePath`/,
  );
  await assert.rejects(
    tools.patch_merge({ base: "", ours: "", theirsPath: "desk/x" }, host.remit),
    /does not exist/,
  );
});

Deno.test("mallory's texts of one line repeated are refused before they cost anything", () => {
  const base = "x\n".repeat(3_000);
  assert.throws(
    () => mergeTexts({ base, ours: `a\n${base}`, theirs: `${base}b\n` }),
    /repeat too often/,
  );
  const long = Array.from({ length: 30_000 }, (_, at) => at).join("\n");
  assert.throws(
    () => mergeTexts({ base: long, ours: `${long}\nx`, theirs: `y\n${long}` }),
    /more than 5000 lines/,
  );
});

Deno.test("a last line without an end that is called like a member of every object merges", () => {
  for (const name of ["constructor", "__proto__", "toString"]) {
    const merged = mergeTexts({
      base: `a\nb\n${name}`,
      ours: `A\nb\n${name}`,
      theirs: `a\nb\nc\n${name}`,
    });
    assert.equal(merged.text, `A\nb\nc\n${name}`);
  }
});

const texts = fc.array(fc.constantFrom("a\n", "b\n", "c\n", "d\r\n"), { maxLength: 12 }).map((
  lines,
) => lines.join(""));

Deno.test("merging with an unchanged side gives the other, and two equal sides give themselves", () => {
  fc.assert(fc.property(texts, texts, (base, side) => {
    assert.deepEqual(mergeTexts({ base, ours: side, theirs: base }), { text: side, conflicts: [] });
    assert.deepEqual(mergeTexts({ base, ours: base, theirs: side }), { text: side, conflicts: [] });
    assert.deepEqual(mergeTexts({ base, ours: side, theirs: side }), { text: side, conflicts: [] });
  }));
});

Deno.test("swapping the sides changes neither whether a merge is clean nor what it then gives", () => {
  fc.assert(fc.property(texts, texts, texts, (base, ours, theirs) => {
    const one = mergeTexts({ base, ours, theirs });
    const other = mergeTexts({ base, ours: theirs, theirs: ours });
    assert.equal(one.conflicts.length > 0, other.conflicts.length > 0);
    if (one.conflicts.length === 0) assert.equal(one.text, other.text);
  }));
});
