import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { type Row, verdict } from "./row.ts";
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

Deno.test("a time that misses is near when the machine is as much slower, a ratio or a size never is", () => {
  const slow = { ok: false, value: 15, slower: 1.6 };
  strictEqual(verdict(row({ ...slow, bound: { most: 10 } })), "scaled");
  strictEqual(verdict(row({ ...slow, value: 16.1, bound: { most: 10 } })), "missed");
  strictEqual(verdict(row(slow)), "missed");
  strictEqual(verdict(row({ ...slow, slower: 1, bound: { most: 10 } })), "missed");
  const [, near = ""] = tableLines([row({ ...slow, bound: { most: 10 } })]);
  ok(near.startsWith("near"));
});

Deno.test("what a target allows beside the baseline is scaled, the baseline is not; a rate is, the other way round", () => {
  const added = { ok: false, slower: 2, bound: { most: 10, over: 100 } };
  strictEqual(verdict(row({ ...added, value: 119 })), "scaled");
  strictEqual(verdict(row({ ...added, value: 121 })), "missed");
  const rate = { ok: false, slower: 2, bound: { least: 150 } };
  strictEqual(verdict(row({ ...rate, value: 76 })), "scaled");
  strictEqual(verdict(row({ ...rate, value: 74 })), "missed");
});
