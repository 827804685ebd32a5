import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import type { Row } from "./row.ts";
import { figure, tableLines } from "./table.ts";

const row = (over: Partial<Row>): Row => ({
  name: "port round trip",
  value: 0.0412,
  unit: "ms",
  baseline: 0.056,
  ratio: 0.7357,
  target: "≤ 1×",
  ok: true,
  ...over,
});

Deno.test("figures keep three digits and large ones are grouped", () => {
  deepStrictEqual([0.041234, 12.345, 196_000.4, 0].map(figure), ["0.0412", "12.3", "196,000", "0"]);
});

Deno.test("columns stand under each other whatever the rows hold", () => {
  const lines = tableLines([row({}), row({ name: "gate", value: 1.65, unit: "µs", ratio: 12.5 })]);
  strictEqual(new Set(lines.map((line) => line.search(/target|≤/))).size, 1);
});

Deno.test("a row that misses its target says so and one without baseline has no ratio", () => {
  const [, missed = ""] = tableLines([row({ ok: false, baseline: 0, ratio: 0 })]);
  ok(missed.startsWith("MISS"));
  ok(!missed.includes("×  "), missed);
});
