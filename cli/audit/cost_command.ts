/** `remit cost`: what models cost, by day, month, model, agent, principal or trigger. @module */
import * as z from "zod";
import { cell, type Command, printJson, printLines, reachKernel } from "../command.ts";
import { flag, has, oneOf } from "../arguments/parse_arguments.ts";
import { tableLines } from "../terminal/table.ts";
import { displayText } from "../../text/mod.ts";
import { chartLines, costChart } from "./cost_chart.ts";
import { budgetStandings, type Standing, standingLine } from "./standings.ts";
import { parseSince } from "../terminal/since.ts";

const Row = z.object({
  ...{
    day: z.string(),
    model: z.string(),
    agent: z.string(),
    principal: z.string(),
    trigger: z.string(),
  },
  ...{
    inferences: z.number(),
    inputTokens: z.number(),
    outputTokens: z.number(),
    money: z.number(),
    open: z.number(),
    openMoney: z.number(),
  },
});
type Row = z.infer<typeof Row>;
const BY = ["day", "month", "model", "agent", "principal", "trigger"] as const;
const MONTH_MS = 31 * 24 * 60 * 60_000;
const BAR = 24;

/** Rows summed by group, the most expensive first; days and months in order. */
function grouped(rows: readonly Row[], by: typeof BY[number]) {
  const sums = new Map<
    string,
    Omit<Row, "day" | "model" | "agent" | "principal" | "trigger" | "open" | "openMoney">
  >();
  for (const row of rows) {
    const key = by === "month" ? row.day.slice(0, 7) : row[by];
    const before = sums.get(key);
    sums.set(key, {
      inferences: (before?.inferences ?? 0) + row.inferences,
      inputTokens: (before?.inputTokens ?? 0) + row.inputTokens,
      outputTokens: (before?.outputTokens ?? 0) + row.outputTokens,
      money: (before?.money ?? 0) + row.money,
    });
  }
  const all = [...sums].map(([name, sum]) => ({ [by]: name, ...sum, name }));
  return by === "day" || by === "month"
    ? all.sort((a, b) => a.name < b.name ? -1 : 1)
    : all.sort((a, b) => b.money - a.money || b.inputTokens - a.inputTokens);
}

/** `cost`. */
export async function costCommand(command: Command): Promise<number> {
  const { powers, parsed } = command;
  const by = oneOf(parsed, "by", BY) ?? "model";
  const now = powers.environment.now();
  const wanted = flag(parsed, "since");
  const since = wanted === undefined ? now - MONTH_MS : parseSince(wanted, now);
  const link = await reachKernel(command);
  let rows: readonly Row[];
  let standings: readonly Standing[];
  try {
    rows = z.array(Row).parse(await link.ask("costs", { since }));
    standings = await budgetStandings(link);
  } finally {
    link.close();
  }
  const paid = rows.filter(({ inferences }) => inferences > 0);
  const sums = grouped(paid, by);
  const overTime = by === "day" || by === "month";
  const chart = !has(parsed, "chart")
    ? undefined
    : costChart(paid, { now, nameOf: (row) => overTime ? "all" : row[by] });
  const open = rows.reduce((sum, row) => sum + row.open, 0);
  const openMoney = rows.reduce((sum, row) => sum + row.openMoney, 0);
  const total = rows.reduce((sum, { money }) => sum + money, 0);
  if (command.json) {
    return printJson(command, {
      since: new Date(since).toISOString(),
      by,
      money: total,
      rows: sums.map(({ name: _name, ...rest }) => rest),
      open: { inferences: open, money: openMoney },
      // "budgets" holds money only; other quantities are in "uses".
      budgets: standings.filter(({ of }) => of === "money").map(({ of: _of, most, ...rest }) => ({
        ...rest,
        money: most,
      })),
      uses: standings.filter(({ of }) => of !== "money"),
      ...(chart === undefined ? {} : { chart }),
    });
  }
  const standing = [
    ...(open === 0 ? [] : [
      `${open} without an end on record (under way, or their kernel was killed): at most ${
        openMoney.toFixed(4)
      } USD more`,
    ]),
    ...standings.map((budget) => standingLine(budget, now)),
  ];
  if (sums.length === 0) {
    powers.screen.say("no model was asked in that time");
    return printLines(command, standing);
  }
  const most = Math.max(...sums.map(({ money }) => money));
  const shown = (name: string): string => displayText(name, { max: 60 });
  const width = powers.screen.outWidth ?? 100;
  return printLines(command, [
    ...(chart === undefined ? [] : chartLines(chart, { width, shown })),
    ...tableLines(
      [by.toUpperCase(), "TURNS", "IN", "OUT", "USD", ""],
      sums.map(({ name, inferences, inputTokens, outputTokens, money }) => [
        cell(name),
        cell(inferences),
        cell(inputTokens),
        cell(outputTokens),
        money.toFixed(4),
        most === 0 ? "" : "█".repeat(Math.round((money / most) * BAR)),
      ]),
      powers.screen.outWidth ?? 2_000,
    ),
    `since ${new Date(since).toISOString().slice(0, 10)}: ${total.toFixed(4)} USD`,
    ...standing,
  ]);
}
