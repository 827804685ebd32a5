import assert from "node:assert/strict";
import fc from "fast-check";
import { columnsOf } from "./columns.ts";
import { wrapTable } from "./mcp_table.ts";

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
    "       ol/server-filesyste  tools",
    "       m 2026.7.10",
  ]);
});

Deno.test("no cell makes a line wider than the table, whatever it holds", () => {
  const cell = fc.string({ unit: fc.constantFrom("a", " ", "漢", "-", "Z"), maxLength: 60 });
  fc.assert(fc.property(fc.array(fc.tuple(cell, cell, cell), { maxLength: 5 }), (rows) => {
    const lines = wrapTable(["A", "B", "C"], rows, 40);
    assert.ok(lines.every((line) => columnsOf(line) <= 40), lines.join("\n"));
  }));
});
