import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { atLeast, atMost, type Row } from "./row.ts";
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

Deno.test("a time or a rate is judged by its ratio to the baseline of its run", () => {
  const figure = { name: "a task", value: 30, unit: "ms", baseline: 20 };
  const most = atMost(figure, 1.5, "a bare start");
  deepStrictEqual([most.ratio, most.target, most.ok], [1.5, "≤ 1.5× a bare start", true]);
  strictEqual(atMost({ ...figure, value: 31 }, 1.5, "a bare start").ok, false);
  strictEqual(atMost({ ...figure, value: 3_000, baseline: 2_000 }, 1.5, "a bare start").ok, true);
  deepStrictEqual([atLeast(figure, 1.5, "").ok, atLeast(figure, 1.6, "").ok], [true, false]);
});

Deno.test("no bench has a target in seconds, or in parts of one: another machine would miss it, or meet it", async () => {
  const folder = new URL(".", import.meta.url);
  const found: string[] = [];
  const look = async (at: URL): Promise<void> => {
    for await (const { name, isDirectory } of Deno.readDir(at)) {
      if (isDirectory) await look(new URL(`${name}/`, at));
      if (!name.endsWith(".ts") || name.endsWith("_test.ts")) continue;
      for (const line of (await Deno.readTextFile(new URL(name, at))).split("\n")) {
        if (/[≤≥<>]=? ?[\d.,${}A-Z_]+ (?:ms|µs|s|[a-z]+\/s)\b/.test(line)) found.push(line);
      }
    }
  };
  await look(folder);
  deepStrictEqual(found, []);
});
