import { deepEqual, equal, match, ok } from "node:assert/strict";
import { chartLines, costChart } from "./cost_chart.ts";

const at = (day: string): number => Date.parse(`${day}T12:00:00Z`);
const row = (day: string, name: string, money: number, tokens = 100) => ({
  ...{ day, name, money, inputTokens: tokens, outputTokens: tokens },
});
const nameOf = ({ name }: { readonly name: string }): string => name;
const shown = (name: string): string => name;

Deno.test("each day has its bar, also the one on which nothing was asked, and its parts add up", () => {
  const chart = costChart([
    row("2026-11-25", "scout", 1),
    ...[row("2026-11-27", "scout", 1), row("2026-11-27", "lead", 2), row("2026-11-27", "lead", 1)],
  ], { now: at("2026-11-28"), nameOf });
  deepEqual(chart, {
    of: "USD",
    times: ["2026-11-25", "2026-11-26", "2026-11-27", "2026-11-28"],
    series: [
      { name: "lead", values: [0, 0, 3, 0] },
      { name: "scout", values: [1, 0, 1, 0] },
    ],
  });
  deepEqual(chartLines(chart, { width: 44, shown }), [
    `2026-11-25  ${"▓".repeat(5).padEnd(20)}  1.0000 USD`,
    `2026-11-26  ${"".padEnd(20)}  0.0000 USD`,
    `2026-11-27  ${"█".repeat(15)}${"▓".repeat(5)}  4.0000 USD`,
    `2026-11-28  ${"".padEnd(20)}  0.0000 USD`,
    "█ lead: 3.0000 USD",
    "▓ scout: 2.0000 USD",
  ]);
});

Deno.test("where nothing costs money the chart is of tokens, and over many days its bars are months", () => {
  const chart = costChart([row("2026-08-30", "all", 0, 5), row("2026-11-01", "all", 0, 7)], {
    ...{ now: at("2026-11-28"), nameOf },
  });
  deepEqual([chart.of, chart.times], ["tokens", ["2026-08", "2026-09", "2026-10", "2026-11"]]);
  deepEqual(chart.series[0]?.values, [10, 0, 0, 14]);
  match(chartLines(chart, { width: 80, shown }).at(-1) ?? "", /^2026-11 {2}█+ {2}14 tokens$/);
});

Deno.test("more series than look different are shown as others, no bar is wider than its line, and nothing is no chart", () => {
  const rows = Array.from({ length: 9 }, (_, n) => row("2026-11-27", `m${n}`, 9 - n));
  const chart = costChart(rows, { now: at("2026-11-27"), nameOf });
  equal(chart.series.length, 9, "the numbers are all there");
  const lines = chartLines(chart, { width: 70, shown });
  deepEqual(lines.slice(1), [
    "█ m0: 9.0000 USD",
    "▓ m1: 8.0000 USD",
    "▒ m2: 7.0000 USD",
    "░ others: 21.0000 USD",
  ]);
  ok(lines.every((line) => line.length <= 70), lines.join("\n"));
  const none = costChart([row("2026-11-27", "m", 0, 0)], { now: at("2026-11-27"), nameOf });
  deepEqual(chartLines(none, { width: 70, shown }), []);
});
