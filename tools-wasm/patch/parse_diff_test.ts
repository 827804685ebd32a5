import assert from "node:assert/strict";
import { parseDiff } from "./parse_diff.ts";
import { tools } from "./tool.ts";

const GIT = `diff --git a/desk/plan.md b/desk/plan.md
index 83db48f..bf269f4 100644
--- a/desk/plan.md
+++ b/desk/plan.md
@@ -1,3 +1,3 @@ # Plan
 one
-two
+TWO
 three
diff --git a/desk/new.txt b/desk/new.txt
new file mode 100644
index 0000000..e69de29
--- /dev/null
+++ b/desk/new.txt
@@ -0,0 +1 @@
+hello
\\ No newline at end of file
diff --git a/desk/old.txt b/desk/old.txt
deleted file mode 100644
--- a/desk/old.txt
+++ /dev/null
@@ -1 +0,0 @@
-bye
diff --git a/desk/a b.txt b/desk/c d.txt
similarity index 100%
rename from desk/a b.txt
rename to desk/c d.txt
diff --git a/desk/run.sh b/desk/run.sh
old mode 100644
new mode 100755
diff --git a/desk/empty b/desk/empty
new file mode 100644
diff --git a/desk/pic.png b/desk/pic.png
index 1..2 100644
Binary files a/desk/pic.png and b/desk/pic.png differ
`;

Deno.test("alice's git diff with every kind of change is told file by file", async () => {
  const parsed = await tools.patch_parse({ diff: GIT });
  assert.deepEqual(
    parsed.files.map(({ kind, path, added, removed }) => [kind, path, added, removed]),
    [
      ["change", "desk/plan.md", 1, 1],
      ["new", "desk/new.txt", 1, 0],
      ["delete", "desk/old.txt", 0, 1],
      ["rename", "desk/c d.txt", 0, 0],
      ["mode", "desk/run.sh", 0, 0],
      ["new", "desk/empty", 0, 0],
      ["binary", "desk/pic.png", 0, 0],
    ],
  );
  assert.equal(parsed.files[3]?.from, "desk/a b.txt");
  assert.equal(parsed.files[4]?.mode, "100755");
  assert.equal(parsed.files[0]?.hunks[0]?.section, "# Plan");
  assert.deepEqual(parsed.paths.slice(0, 4), [
    "desk/plan.md",
    "desk/new.txt",
    "desk/old.txt",
    "desk/a b.txt",
  ]);
  assert.equal(parsed.added, 2);
});

Deno.test("a line without an end keeps that, and CRLF of single lines is theirs", () => {
  const [file] = parseDiff(
    "--- desk/x\n+++ desk/x\n@@ -1,2 +1,2 @@\n a\r\n-b\n+c\n\\ No newline at end of file\n",
  );
  assert.deepEqual(file?.hunks[0]?.lines.map(({ line }) => line.end), ["\r\n", "\n", ""]);
});

Deno.test("a diff that came with CRLF throughout is read as if with LF", () => {
  const [file] = parseDiff("--- desk/x\r\n+++ desk/x\r\n@@ -1 +1 @@\r\n-a\r\n+b\r\n");
  assert.deepEqual(file?.hunks[0]?.lines.map(({ line }) => line), [
    { text: "a", end: "\n" },
    { text: "b", end: "\n" },
  ]);
});

Deno.test("removed lines that look like a file head are lines of their hunk", () => {
  const files = parseDiff("--- desk/x\n+++ desk/x\n@@ -1,3 +1,1 @@\n---- a\n--- b\n kept\n");
  assert.equal(files.length, 1);
  assert.deepEqual(files[0]?.hunks[0]?.lines.map(({ line }) => line.text), [
    "--- a",
    "-- b",
    "kept",
  ]);
});

Deno.test("quoted names with bytes in octal are read as UTF-8", () => {
  const [file] = parseDiff(
    '--- "a/desk/\\303\\251 \\"x\\".md"\n+++ "b/desk/\\303\\251 \\"x\\".md"\n@@ -1 +1 @@\n-a\n+b\n',
  );
  assert.equal(file?.newPath, 'desk/é "x".md');
});

Deno.test("strip takes folders off as patch -p does, and a rename's names have one less", () => {
  const plain = "--- x/y/desk/f\n+++ x/y/desk/f\n@@ -1 +1 @@\n-a\n+b\n";
  assert.equal(parseDiff(plain, { strip: 2 })[0]?.newPath, "desk/f");
  const renamed =
    "diff --git a/desk/f b/desk/g\nsimilarity index 100%\nrename from desk/f\nrename to desk/g\n";
  assert.equal(parseDiff(renamed, { strip: 1 })[0]?.newPath, "desk/g");
});

Deno.test("counts that are wrong are refused with the right ones, and recount believes the lines", () => {
  const diff = "--- desk/x\n+++ desk/x\n@@ -1,9 +1,9 @@\n a\n-b\n+c\n\n@@ -20,1 +20,1 @@\n-d\n+e\n";
  assert.throws(() => parseDiff(diff), /says 9 old and 9 new lines, and 3 and 3 follow/);
  const [file] = parseDiff(diff, { recount: true });
  assert.deepEqual(file?.hunks.map(({ lines }) => lines.length), [3, 2]);
});

for (
  const [what, diff, why] of [
    ["nothing", "hello\n", /no file is named/],
    ["a hunk before any file", "@@ -1 +1 @@\n-a\n+b\n", /stands before any file/],
    ["a file without hunks", "--- desk/x\n+++ desk/x\n", /has no hunks/],
    [
      "two names and no rename",
      "--- desk/x.orig\n+++ desk/x\n@@ -1 +1 @@\n-a\n+b\n",
      /no "rename from"/,
    ],
    ["lines left over", "--- desk/x\n+++ desk/x\n@@ -1 +1 @@\n-a\n+b\n+c\n", /counts are used up/],
    ["a head that is cut", "--- desk/x\n+++ desk/x\n@@ -1 +1\n-a\n+b\n", /no hunk head/],
    [
      "an end in the middle",
      "--- desk/x\n+++ desk/x\n@@ -1,2 +1,2 @@\n-a\n\\ No newline\n-b\n+c\n+d\n",
      /end its file/,
    ],
    [
      "a quote left open",
      '--- "a/desk/x\n+++ "b/desk/x\n@@ -1 +1 @@\n-a\n+b\n',
      /no closing quote/,
    ],
    ["both sides nothing", "--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n", /both sides/],
  ] as const
) {
  Deno.test(`mallory's diff with ${what} is refused and says where`, () => {
    assert.throws(() => parseDiff(diff), why);
  });
}

Deno.test("a megabyte of heads or of open quotes is read in linear time", () => {
  assert.throws(() => parseDiff("--- a\n".repeat(150_000)));
  assert.throws(() => parseDiff(`diff --git "${"\\\\".repeat(400_000)}\n`));
  assert.throws(() => parseDiff(`--- desk/x\n+++ desk/x\n@@ -1 +1 @@${" ".repeat(900_000)}`));
});
