import { deepStrictEqual, equal, match } from "node:assert/strict";
import { linesOf, measure, sizeFindings } from "../../scripts/size.ts";

const text = (lines: number): string => "const a = 1;\n".repeat(lines);

Deno.test("a long line counts as the lines that it would take, and tests and fixtures do not count", () => {
  equal(linesOf("a\n\nb\n"), 3);
  equal(linesOf("x".repeat(101)), 2);
  const { house, folders, processes } = measure([
    { path: "port/main.ts", text: text(3) },
    { path: "port/a.ts", text: text(5) },
    { path: "port/b.ts", text: text(7) },
    { path: "port/a_test.ts", text: text(100) },
    { path: "port/_fixture/f.ts", text: text(100) },
    { path: "tests/story/s.ts", text: text(100) },
    { path: "docs/a.md", text: text(100) },
  ], [
    { from: "port/main.ts", to: "port/a.ts", typeOnly: false },
    { from: "port/main.ts", to: "port/b.ts", typeOnly: true },
  ]);
  deepStrictEqual([house.files, house.lines, house.median], [3, 15, 5]);
  deepStrictEqual(folders.map(({ name, lines }) => [name, lines]), [["port", 15]]);
  deepStrictEqual(processes.map(({ name, lines }) => [name, lines]), [["port/main.ts", 8]]);
});

Deno.test("a folder past its budget is found, and so is one that has none", () => {
  const sized = (name: string, lines: number) => ({
    ...{ name, files: 1, lines, median: lines, largest: `a.ts ${lines}` },
  });
  const found = (folder: ReturnType<typeof sized>): readonly string[] =>
    sizeFindings({ house: sized("house", 1), folders: [folder], processes: [] })
      .map(({ message }) => message);
  deepStrictEqual(found(sized("port", 1)), []);
  match(found(sized("port", 1_000_000))[0] ?? "", /its budget is \d+ and \d+: remove or reuse/);
  match(found(sized("attic", 1))[0] ?? "", /"attic" has no budget/);
});
