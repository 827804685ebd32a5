import assert from "node:assert/strict";
import { unifiedDiff } from "./visible.ts";

Deno.test("a diff names the file, shows what changed with three lines around it, and is empty for equals", () => {
  const lines = Array.from({ length: 20 }, (_, n) => `line ${n}`);
  const before = `${lines.join("\n")}\n`;
  const after = before.replace("line 10\n", "line ten\n");
  assert.equal(unifiedDiff("pages/a.md", before, before), "");
  assert.equal(
    unifiedDiff("pages/a.md", before, after),
    [
      "--- a/pages/a.md",
      "+++ b/pages/a.md",
      "@@ -8,7 +8,7 @@",
      ...[
        " line 7",
        " line 8",
        " line 9",
        "-line 10",
        "+line ten",
        " line 11",
        " line 12",
        " line 13",
      ],
      "",
    ].join("\n"),
  );
});

Deno.test("a new file comes from nothing and a deleted one goes there", () => {
  assert.match(
    unifiedDiff("pages/a.md", undefined, "a\n"),
    /^--- \/dev\/null\n\+\+\+ b\/pages\/a\.md\n@@ -0,0 \+1,1 @@\n\+a\n$/,
  );
  assert.match(
    unifiedDiff("pages/a.md", "a\n", undefined),
    /^--- a\/pages\/a\.md\n\+\+\+ \/dev\/null\n/,
  );
});

Deno.test("two texts of many thousand lines that share nothing are shown whole, in bounded time", () => {
  const text = (word: string): string =>
    Array.from({ length: 20_000 }, (_, n) => `${word} ${n}`).join("\n");
  const diff = unifiedDiff("pages/a.md", text("a"), text("b"));
  assert.equal(diff.split("\n").filter((line) => line.startsWith("-a")).length, 20_000);
});
