import assert from "node:assert/strict";
import fc from "fast-check";
import { columnsOf } from "./columns.ts";
import { wrapTable } from "./wrapped_table.ts";

Deno.test("a table that is too wide wraps its cells and loses nothing of them", () => {
  const lines = wrapTable(
    ["NAME", "RUNS AS", "FLAGS"],
    [[
      "files",
      "npm @modelcontextprotocol/server-filesystem 2026.7.10",
      "hidden characters, speaks of other tools",
    ]],
    48,
  );
  assert.ok(lines.every((line) => line.length <= 48), lines.join("\n"));
  assert.deepEqual(lines, [
    "NAME   RUNS AS              FLAGS",
    "files  npm                  hidden characters,",
    "       @modelcontextprotoc  speaks of other",
    "       ol/server-           tools",
    "       filesystem",
    "       2026.7.10",
  ]);
});

Deno.test("the name of a row is kept whole as long as other columns can give way", () => {
  const cell = "/home/me/notes and more of that";
  const [, line = ""] = wrapTable(["NAME", "A", "B"], [["sequentialthinking", cell, cell]], 50);
  assert.ok(line.startsWith("sequentialthinking  "), line);
});

Deno.test("no cell makes a line wider than the table, whatever it holds", () => {
  const cell = fc.string({ unit: fc.constantFrom("a", " ", "漢", "-", "Z"), maxLength: 60 });
  fc.assert(fc.property(fc.array(fc.tuple(cell, cell, cell), { maxLength: 5 }), (rows) => {
    const lines = wrapTable(["A", "B", "C"], rows, 40);
    assert.ok(lines.every((line) => columnsOf(line) <= 40), lines.join("\n"));
  }));
});
