/** `task list`: every task in a line. @module */
import { EXIT, type Json, TaskStatus } from "../../contracts/mod.ts";
import { askKernel, cell, type Command, printJson, printLines, rowsOf } from "../command.ts";
import { agentFilter } from "../arguments/agent_filter.ts";
import { flag, has, oneOf } from "../arguments/parse_arguments.ts";
import { parseSince } from "../terminal/since.ts";
import { spanText } from "../terminal/span.ts";
import { tableLines } from "../terminal/table.ts";

/** A pipe takes a request whole. */
const WIDE = 2_000;

/** A task in a table: id, status, age, objective; safe to show. `now` is milliseconds since 1970. */
export function taskCells(task: Readonly<Record<string, Json>>, now: number): string[] {
  return [
    cell(task["id"]),
    cell(task["status"]),
    spanText(now - Number(task["createdAt"] ?? now)),
    cell(task["objective"], 200),
  ];
}

/** Runs the command, and `task show` without a task. Throws `invalidInput` for a state that there is not. */
export async function taskList(command: Command): Promise<number> {
  const { hands, parsed } = command;
  const now = hands.around.now();
  const status = oneOf(parsed, "status", TaskStatus.options);
  const since = flag(parsed, "since");
  const from = since === undefined ? 0 : parseSince(since, now);
  const ofAgent = agentFilter(parsed);
  const answer = await askKernel(command, "tasks", has(parsed, "all") ? { archived: true } : {});
  const tasks = rowsOf(answer).filter((task) =>
    (status === undefined || task["status"] === status) &&
    Number(task["createdAt"] ?? 0) >= from && ofAgent?.(task) !== false
  );
  if (command.json) {
    printJson(command, tasks);
    return EXIT.success;
  }
  const rows = tasks.map((task) => taskCells(task, now));
  const heads = ["TASK", "STATUS", "AGE", "REQUEST"];
  const filtered = status !== undefined || since !== undefined || ofAgent !== undefined;
  printLines(
    command,
    rows.length > 0
      ? tableLines(heads, rows, hands.screen.outWidth ?? WIDE)
      : [filtered ? "no task is so" : "no tasks"],
  );
  return EXIT.success;
}
