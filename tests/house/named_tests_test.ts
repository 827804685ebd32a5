import { deepStrictEqual } from "node:assert/strict";
import { claimFindings } from "../../scripts/house/mod.ts";
import { parseSource } from "../../scripts/house/source.ts";

const TEST = parseSource(
  "net/a_test.ts",
  'Deno.test("a rebound name is never connected to", () => {});\nDeno.test(`mallory\'s flood of ${what} ends`, f);\n',
);

/** Whether the lint takes a file with this comment. */
function taken(comment: string): boolean {
  return claimFindings([TEST, parseSource("net/a.ts", `${comment}\nconst a = 1;\n`)]).length === 0;
}

Deno.test("a comment names a test that is there, in its words or with some left out", () => {
  for (
    const name of [
      '"a rebound name is never connected to"',
      "a rebound name is never connected to",
      '"… rebound name … connected …"',
      '"mallory\'s flood of … ends"',
    ]
  ) {
    deepStrictEqual(taken(`// INVARIANT: one look (test: ${name}).`), true, name);
    deepStrictEqual(taken(`/** One look (test: ${name}). */`), true, name);
  }
  deepStrictEqual(taken("// One look (test: a rebound name\n// is never connected to)."), true);
});

Deno.test("a comment that names a test that nobody wrote is found, where it stands", () => {
  for (const name of ["a name is connected to", '"… rebound flood …"', '"monotony"']) {
    deepStrictEqual(taken(`// INVARIANT: one look (test: ${name}).`), false, name);
  }
  const [found] = claimFindings([TEST, parseSource("net/b.ts", "\n\n// (test: nothing)\n")]);
  deepStrictEqual([found?.path, found?.line, found?.rule], ["net/b.ts", 3, "claim"]);
});
