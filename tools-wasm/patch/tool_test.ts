import assert from "node:assert/strict";
import fc from "fast-check";
import { createTwoFilesPatch } from "diff";
import { makeFakeHost } from "./_fixture/fake_host.ts";
import { tools } from "./tool.ts";

const TEN = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n";
const change = (body: string, path = "desk/x") => `--- a/${path}\n+++ b/${path}\n${body}`;
const stage = (host: ReturnType<typeof makeFakeHost>, diff: string, paths = ["desk/x"]) =>
  tools.patch_stage({ diff, paths }, host.remit);

Deno.test("alice's hunk that stands where it says is staged", async () => {
  const host = makeFakeHost({ "desk/x": TEN });
  const result = await stage(host, change("@@ -2,3 +2,3 @@\n 2\n-3\n+three\n 4\n"));
  assert.deepEqual(result, { applied: true, files: [{ path: "desk/x", kind: "change" }] });
  assert.equal(host.files.get("desk/x"), TEN.replace("3", "three"));
  assert.deepEqual(host.changes, ["write desk/x"]);
});

Deno.test("a hunk whose lines moved is applied at the only place where they stand, and says by how much", async () => {
  const host = makeFakeHost({ "desk/x": `0\n0\n${TEN}` });
  const result = await stage(
    host,
    change("@@ -2,3 +2,3 @@\n 2\n-3\n+three\n 4\n@@ -8,2 +8,2 @@\n 8\n-9\n+nine\n"),
  );
  assert.equal(result.applied && result.files[0]?.offsets?.join(), "2,2");
  assert.equal(host.files.get("desk/x"), `0\n0\n${TEN.replace("3", "three").replace("9", "nine")}`);
});

Deno.test("a hunk that fits at two places and not where it says is refused", async () => {
  const host = makeFakeHost({ "desk/x": "a\nb\nc\na\nb\nc\n" });
  const result = await stage(host, change("@@ -3,2 +3,2 @@\n a\n-b\n+B\n"));
  assert.match(result.applied ? "" : result.conflicts[0]?.why ?? "", /line 1 and at line 4/);
  assert.deepEqual(host.changes, []);
});

Deno.test("a last line that ends with a CR alone keeps it, and loses it only where the diff says so", async () => {
  const end = "\\ No newline at end of file\n";
  for (
    const [before, hunk, after] of [
      ["a\nb\r", ` a\n-b\r\n${end}+c\r\n${end}`, "a\nc\r"],
      ["a\nb", ` a\n-b\n${end}+b\r\n${end}`, "a\nb\r"],
      ["a\nb\r", ` a\n-b\r\n${end}+b\n${end}`, "a\nb"],
      ["a\nb\r", `-a\n+A\n b\r\n${end}`, "A\nb\r"],
    ] as const
  ) {
    const host = makeFakeHost({ "desk/x": before });
    const result = await stage(host, change(`@@ -1,2 +1,2 @@\n${hunk}`));
    assert.equal(result.applied, true, JSON.stringify(hunk));
    assert.equal(host.files.get("desk/x"), after, JSON.stringify(hunk));
  }
  // In a diff whose lines all end with CR LF the CR is the diff's.
  const host = makeFakeHost({ "desk/x": "a\r\nb" });
  const crlf = change(`@@ -1,2 +1,2 @@\n a\n-b\n${end}+c\n${end}`).replaceAll("\n", "\r\n");
  assert.equal((await stage(host, crlf)).applied, true);
  assert.equal(host.files.get("desk/x"), "a\r\nc");
});

Deno.test("one hunk of one file that does not fit keeps everything as it was, and says what was found", async () => {
  const host = makeFakeHost({ "desk/x": TEN, "desk/y": "other\n" });
  const diff = change("@@ -1,2 +1,2 @@\n 1\n-2\n+two\n") +
    change("@@ -1 +1 @@\n-wanted\n+new\n", "desk/y");
  const result = await stage(host, diff, ["desk/x", "desk/y"]);
  assert.deepEqual(result, {
    applied: false,
    conflicts: [{
      path: "desk/y",
      hunk: 1,
      line: 1,
      why: "its context stands nowhere in the rest of the file",
      expected: ["wanted"],
      found: ["other"],
    }],
  });
  assert.deepEqual(host.changes, []);
});

Deno.test("a diff with LF changes a file with CRLF and keeps its ends", async () => {
  const host = makeFakeHost({ "desk/x": "a\r\nb\r\nc\r\n" });
  const result = await stage(host, change("@@ -1,3 +1,4 @@\n a\n-b\n+B\n+B2\n c\n"));
  assert.equal(host.files.get("desk/x"), "a\r\nB\r\nB2\r\nc\r\n");
  assert.match(result.applied ? result.files[0]?.notes?.[0] ?? "" : "", /line ends differ/);
});

Deno.test("lines added behind a last line without an end do not run into it", async () => {
  const host = makeFakeHost({ "desk/x": "a\nb" });
  await stage(host, change("@@ -1,2 +1,3 @@\n a\n b\n+c\n"));
  assert.equal(host.files.get("desk/x"), "a\nb\nc\n");
});

Deno.test("new, deleted, renamed and copied files are staged as such", async () => {
  const host = makeFakeHost({ "desk/gone": "x\n", "desk/from": "a\nb\n", "desk/source": "s\n" });
  const diff = "--- /dev/null\n+++ b/desk/new\n@@ -0,0 +1,2 @@\n+1\n+2\n" +
    "--- a/desk/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n" +
    "diff --git a/desk/from b/desk/to\nrename from desk/from\nrename to desk/to\n--- a/desk/from\n+++ b/desk/to\n@@ -1,2 +1,2 @@\n a\n-b\n+B\n" +
    "diff --git a/desk/source b/desk/copy\ncopy from desk/source\ncopy to desk/copy\n";
  const paths = ["desk/new", "desk/gone", "desk/from", "desk/to", "desk/source", "desk/copy"];
  const result = await stage(host, diff, paths);
  assert.equal(result.applied, true);
  assert.deepEqual(Object.fromEntries(host.files), {
    "desk/new": "1\n2\n",
    "desk/to": "a\nB\n",
    "desk/source": "s\n",
    "desk/copy": "s\n",
  });
});

Deno.test("a file that the diff makes and that is there, or changes and that is not, is a conflict", async () => {
  const host = makeFakeHost({ "desk/x": "mine\n" });
  const made = await stage(host, "--- /dev/null\n+++ b/desk/x\n@@ -0,0 +1 @@\n+1\n");
  assert.match(made.applied ? "" : made.conflicts[0]?.why ?? "", /there already/);
  const missing = await stage(host, change("@@ -1 +1 @@\n-a\n+b\n", "desk/none"), ["desk/none"]);
  assert.match(missing.applied ? "" : missing.conflicts[0]?.why ?? "", /is not there/);
  assert.equal(host.files.get("desk/x"), "mine\n");
});

Deno.test("mallory's diff that names a file which is not listed touches nothing and says which", async () => {
  const host = makeFakeHost({ "desk/x": TEN, "desk/secret": "s\n" });
  const diff = change("@@ -1 +1 @@\n-1\n+one\n") + change("@@ -1 +1 @@\n-s\n+t\n", "desk/secret");
  await assert.rejects(stage(host, diff), /"desk\/secret", which `paths` does not list/);
  assert.deepEqual(host.changes, []);
});

Deno.test("lines added without any context, or to a binary file, are refused", async () => {
  const host = makeFakeHost({ "desk/x": TEN });
  const result = await stage(host, change("@@ -3,0 +4 @@\n+here\n"));
  assert.match(result.applied ? "" : result.conflicts[0]?.why ?? "", /no context/);
  const binary = "diff --git a/desk/x b/desk/x\nBinary files a/desk/x and b/desk/x differ\n";
  await assert.rejects(stage(host, binary), /is binary/);
});

Deno.test("a file that arrives in parts is patched whole", async () => {
  const host = makeFakeHost({ "desk/x": TEN }, 4);
  await stage(host, change("@@ -9,2 +9,2 @@\n 9\n-10\n+ten\n"));
  assert.equal(host.files.get("desk/x"), TEN.replace("10", "ten"));
});

Deno.test("a diff against 100,000 equal lines takes linear time and is refused as ambiguous", async () => {
  const host = makeFakeHost({ "desk/x": "x\n".repeat(100_000) });
  const body = " x\n".repeat(20_000);
  const result = await stage(host, change(`@@ -900001,20001 +900001,20001 @@\n${body}-y\n+z\n`));
  assert.equal(result.applied, false);
  const second = await stage(host, change(`@@ -900001,20000 +900001,20001 @@\n${body}+z\n`));
  assert.match(
    second.applied ? "" : second.conflicts[0]?.why ?? "",
    /stands at line 1 and at line 2/,
  );
});

const texts = fc.array(
  fc.constantFrom("a", "b", "c", "", "-- x", "+", " ", "\\ y", "@@ -1 +1 @@"),
  { maxLength: 30 },
)
  .chain((lines) =>
    fc.constantFrom("\n", "").map((end) => lines.length === 0 ? "" : lines.join("\n") + end)
  );

Deno.test("for any two texts, the diff from one to the other applied to the one gives the other", async () => {
  await fc.assert(
    fc.asyncProperty(texts, texts, async (before, after) => {
      fc.pre(before !== after && before !== "" && after !== "");
      const host = makeFakeHost({ "desk/x": before });
      const diff = createTwoFilesPatch(
        "a/desk/x",
        "b/desk/x",
        before,
        after,
        undefined,
        undefined,
        { context: 3 },
      );
      const result = await stage(host, diff);
      assert.deepEqual([result.applied, host.files.get("desk/x")], [true, after]);
    }),
    { numRuns: 500 },
  );
});

Deno.test("for any file in front of which lines came, a diff lands where it belongs or nowhere", async () => {
  await fc.assert(
    fc.asyncProperty(
      texts,
      texts,
      fc.array(fc.constantFrom("p", "q"), { maxLength: 5 }),
      async (before, after, added) => {
        fc.pre(before !== after && before !== "" && after !== "");
        const front = added.map((line) => `${line}\n`).join("");
        const host = makeFakeHost({ "desk/x": front + before });
        const diff = createTwoFilesPatch(
          "a/desk/x",
          "b/desk/x",
          before,
          after,
          undefined,
          undefined,
          { context: 100 },
        );
        const result = await stage(host, diff);
        assert.equal(host.files.get("desk/x"), front + (result.applied ? after : before));
      },
    ),
    { numRuns: 300 },
  );
});

const bare = (head: string, body: string) => change(`${head}\n${body}`);
for (const head of ["@@", "@@ ... @@", "@@ \u2026 @@", "@@ @@", "@@  "]) {
  Deno.test(`a hunk under ${JSON.stringify(head)} stands where its lines do, at one place or nowhere`, async () => {
    const body = " 4\n-5\n+five\n 6\n";
    const host = makeFakeHost({ "desk/x": TEN });
    assert.equal((await stage(host, bare(head, body))).applied, true);
    assert.equal(host.files.get("desk/x"), TEN.replace("5", "five"));
    const twice = makeFakeHost({ "desk/x": TEN + TEN });
    const refused = await stage(twice, bare(head, body));
    assert.match(
      refused.applied ? "" : refused.conflicts[0]?.why ?? "",
      /line 4 and at line 14: give more/,
    );
    assert.deepEqual(twice.changes, []);
    const gone = await stage(makeFakeHost({ "desk/x": "1\n4\nV\n6\n" }), bare(head, body));
    assert.deepEqual(gone.applied ? [] : gone.conflicts[0]?.found, ["4", "V", "6"]);
  });
}

Deno.test("a line that a head without numbers names says which of two places is meant", async () => {
  const text = "def a():\n  x = 1\n\ndef b():\n  x = 1\n";
  for (const head of ["@@ def b():", "@@ def b(): @@", "@@ @@ def b():"]) {
    const host = makeFakeHost({ "desk/x": text });
    const result = await stage(host, bare(head, "-  x = 1\n+  x = 2\n"));
    assert.equal(result.applied, true, head);
    assert.equal(host.files.get("desk/x"), text.replace(/1\n$/, "2\n"));
  }
});

Deno.test("a patch from *** Begin Patch changes, makes, moves and deletes files, whole or not at all", async () => {
  const files = { "desk/x": TEN, "desk/old": "gone\n", "desk/was": "a\nb\n" };
  const diff =
    "```\n*** Begin Patch\n*** Update File: desk/x\n 4\n-5\n+five\n 6\n@@ 8\n-9\n+nine\n" +
    "*** Add File: desk/new\n+one\n+two\n*** Delete File: desk/old\n" +
    "*** Update File: desk/was\n*** Move to: desk/now\n@@\n a\n-b\n+c\n*** End of File\n" +
    "*** End Patch\n```\n";
  const paths = ["desk/x", "desk/new", "desk/old", "desk/was", "desk/now"];
  const host = makeFakeHost(files);
  assert.equal((await stage(host, diff, paths)).applied, true);
  assert.equal(host.files.get("desk/x"), TEN.replace("5", "five").replace("9", "nine"));
  assert.deepEqual(["new", "old", "was", "now"].map((name) => host.files.get(`desk/${name}`)), [
    ...["one\ntwo\n", undefined, undefined, "a\nc\n"],
  ]);
  const torn = makeFakeHost({ ...files, "desk/was": "z\n" });
  assert.equal((await stage(torn, diff, paths)).applied, false);
  assert.deepEqual(torn.changes, []);
});

for (
  const [what, diff, says] of [
    [
      "a line without a mark",
      "*** Update File: desk/x\n@@\n 4\n-5\n5b\n+five\n",
      /line 6 begins with neither/,
    ],
    [
      "a new file's line without a mark",
      "*** Add File: desk/x\n+a\nb\n",
      /line 4 stands in a new file/,
    ],
    ["no file", "", /no file is named/],
    ["an unknown line", "*** Rename File: desk/x\n", /line 2 names no file/],
    ["nothing to do", "*** Update File: desk/x\n", /changes nothing of "desk\/x"/],
  ] as const
) {
  Deno.test(`a patch from *** Begin Patch with ${what} says which line, and stages nothing`, async () => {
    const host = makeFakeHost({ "desk/x": TEN });
    await assert.rejects(
      async () => await stage(host, `*** Begin Patch\n${diff}*** End Patch\n`),
      (error) => error instanceof Error && says.test(error.message),
    );
    assert.deepEqual(host.changes, []);
  });
}
