/** `ctx list|show|restore`: what was compacted in a conversation. @module */
import { Fault } from "../../contracts/base/mod.ts";
import {
  askKernel,
  cell,
  type Command,
  printJson,
  printLines,
  recordOf,
  rowsOf,
  taskOf,
  withKernel,
} from "../command.ts";
import { messageLines, readMessages } from "./message_lines.ts";
import { tableLines } from "../terminal/table.ts";

function numberOf(command: Command): number {
  const text = command.parsed.args[1] ?? "";
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new Fault(
    "invalidInput",
    `Cannot read "${text}" as the number of a change: see "ctx list"`,
  );
}

/** `ctx list TASK`. */
export async function ctxList(command: Command): Promise<number> {
  const answer = await askKernel(command, "context", { task: taskOf(command) });
  if (command.json) return printJson(command, answer);
  const rows = rowsOf(answer).map((row) => {
    const preserved = row["preserved"];
    const at = new Date(Number(row["at"] ?? 0)).toISOString();
    return [
      cell(row["number"]),
      `${at.slice(0, 19)}Z`,
      cell(row["before"]),
      cell(row["after"]),
      `${cell(row["method"])}${row["restored"] === true ? ", restored" : ""}`,
      Array.isArray(preserved) ? preserved.map((tag) => cell(tag)).join(" ") : "",
    ];
  });
  const headings = ["N", "TIME", "BEFORE", "AFTER", "METHOD", "PRESERVED"];
  return printLines(
    command,
    tableLines(headings, rows, command.powers.screen.width, "nothing gave way"),
  );
}

/** `ctx show TASK N`. */
export async function ctxShow(command: Command): Promise<number> {
  return await withKernel(command, async (link) => {
    const { messages } = await readMessages(link, "contextShow", {
      task: taskOf(command),
      number: numberOf(command),
    });
    return command.json
      ? printJson(command, messages)
      : printLines(command, messages.flatMap(messageLines));
  });
}

/** `ctx restore TASK N`. */
export async function ctxRestore(command: Command): Promise<number> {
  const answer = recordOf(
    await askKernel(command, "contextRestore", {
      task: taskOf(command),
      number: numberOf(command),
    }),
  );
  const { number, before, after } = answer;
  return command.json
    ? printJson(command, answer)
    : printLines(command, [`restored ${cell(number)}: ${cell(before)} → ${cell(after)} tokens`]);
}
