/** `cost`: what inferences cost, by model, agent, day, principal, trigger or task, and how budgets stand. @module */
import { EXIT, type Json } from "../../contracts/base/mod.ts";
import {
  askPages,
  cell,
  type Command,
  printJson,
  printLines,
  reachKernel,
  recordOf,
  rowsOf,
} from "../command.ts";
import { flag, oneOf } from "../arguments/parse_arguments.ts";
import { parseSince } from "../terminal/since.ts";
import { spanText } from "../terminal/span.ts";
import { tableLines } from "../terminal/table.ts";

type Row = Readonly<Record<string, Json>>;

const BY = ["model", "agent", "day", "principal", "trigger", "task"] as const;
type By = (typeof BY)[number];
/** What is said of costs where nobody says since when. */
const MONTH_DAYS = 31;
const DAY_MS = 86_400_000;
const SUMS = [
  ...["inferences", "inputTokens", "outputTokens", "money", "open", "openMoney"],
] as const;
type Sums = Record<(typeof SUMS)[number], number>;

function noSums(): Sums {
  return { inferences: 0, inputTokens: 0, outputTokens: 0, money: 0, open: 0, openMoney: 0 };
}

function add(sums: Sums, row: Row): Sums {
  for (const name of SUMS) sums[name] += Number(row[name] ?? 0);
  return sums;
}

/** Sums of rows, by one of their words; days in order, all else dearest first. */
export function costBy(rows: readonly Row[], by: By): readonly ({ readonly of: string } & Sums)[] {
  const groups = new Map<string, Sums>();
  for (const row of rows) {
    const of = String(row[by] ?? "");
    groups.set(of, add(groups.get(of) ?? noSums(), row));
  }
  const all = [...groups].map(([of, sums]) => ({ of, ...sums }));
  return all.sort((one, other) =>
    by === "day"
      ? one.of.localeCompare(other.of)
      : other.money - one.money || one.of.localeCompare(other.of)
  );
}

/** What stands for an empty word: the plain agent, and what no trigger made. */
const NONE: Readonly<Partial<Record<By, string>>> = { agent: "(plain)", trigger: "(none)" };

function usd(value: number): string {
  return value.toFixed(4);
}

/** How a budget stands, in words; safe to show. */
function budgetCells(budget: Row, now: number): string[] {
  const number = (name: string): number => Number(budget[name] ?? 0);
  const left = Math.max(0, number("money") - number("spent") - number("held"));
  const out = budget["outAt"];
  return [
    cell(budget["name"]),
    usd(number("money")),
    usd(number("spent") + number("held")),
    usd(left),
    left === 0
      ? `used up; goes on in ${spanText(number("endsAt") - now)}`
      : typeof out === "number"
      ? `used up in about ${spanText(out - now)}, if it goes on so`
      : `ends in ${spanText(number("endsAt") - now)}`,
  ];
}

/** Runs the command. */
export async function costCommand(command: Command): Promise<number> {
  const { parsed, hands } = command;
  const now = hands.around.now();
  const by = oneOf(parsed, "by", BY) ?? "model";
  const since = flag(parsed, "since");
  const from = since === undefined
    ? Math.max(0, now - MONTH_DAYS * DAY_MS)
    : parseSince(since, now);
  const link = await reachKernel(command);
  let rows: readonly Row[];
  let budgets: readonly Row[];
  try {
    rows = (await Array.fromAsync(askPages(link, "costs", { since: from }))).map(recordOf);
    budgets = rowsOf(await link.ask("budgets", null));
  } finally {
    link.close();
  }
  const groups = costBy(rows, by);
  const total = rows.reduce<Sums>(add, noSums());
  if (command.json) {
    printJson(command, { since: from, by, groups, total, budgets, rows });
    return EXIT.success;
  }
  const cells = (name: string, sums: Sums): string[] => [
    name,
    String(sums.inferences),
    String(sums.inputTokens),
    String(sums.outputTokens),
    usd(sums.money),
  ];
  const { width } = hands.screen;
  const heads = [by.toUpperCase(), "INFERENCES", "IN", "OUT", "USD"];
  const lines = groups.length === 0 ? ["nothing was asked of a model"] : tableLines(heads, [
    ...groups.map(({ of, ...sums }) => cells(of === "" ? NONE[by] ?? "-" : cell(of), sums)),
    cells("total", total),
  ], width);
  const open = total.open === 0 ? [] : [
    `${total.open} without an end on record (under way, or their kernel was killed): at most ${
      usd(total.openMoney)
    } USD more`,
  ];
  const standing = budgets.length === 0 ? [] : [
    "",
    ...tableLines(
      ["BUDGET FOR EACH", "USD", "SPENT", "LEFT", ""],
      budgets.map((budget) => budgetCells(budget, now)),
      width,
    ),
  ];
  printLines(command, [...lines, ...open, ...standing]);
  return EXIT.success;
}
