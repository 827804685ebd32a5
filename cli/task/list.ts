/** `task list`: one line for each task. @module */
import { TaskId } from "../../contracts/authority/mod.ts";
import { EXIT, Fault, type Json } from "../../contracts/base/mod.ts";
import { TaskStatus } from "../../contracts/task/mod.ts";
import {
  cell,
  type Command,
  commandText,
  idOf,
  printJson,
  printLines,
  reachKernel,
} from "../command.ts";
import { agentFilter, newestTasks } from "../arguments/agent_filter.ts";
import { flag, has, oneOf } from "../arguments/parse_arguments.ts";
import { parseSince } from "../terminal/since.ts";
import { spanText } from "../terminal/span.ts";
import { tableLines } from "../terminal/table.ts";

/** Tasks listed without --limit. */
const PAGE = 50;
/** Columns when the output is a pipe, so that requests stay whole. */
const PIPE_COLUMNS = 2_000;

/** A task in a table: id, status, age, objective; safe to show. `now` is milliseconds since 1970. */
export function taskCells(task: Readonly<Record<string, Json>>, now: number): string[] {
  return [
    cell(task["id"]),
    cell(task["status"]),
    spanText(now - Number(task["createdAt"] ?? now)),
    cell(task["objective"], 200),
  ];
}

function limitOf(given: string | undefined): number {
  if (given === undefined) return PAGE;
  if (/^[1-9]\d{0,5}$/.test(given)) return Number(given);
  throw new Fault(
    "invalidInput",
    `Cannot list ${JSON.stringify(given)} tasks: --limit takes a number from 1 on`,
  );
}

/** `task list`, and `task show` without a task. Throws `invalidInput` for an unknown status. */
export async function taskList(command: Command): Promise<number> {
  const { powers, parsed } = command;
  const now = powers.environment.now();
  const status = oneOf(parsed, "status", TaskStatus.options);
  const since = flag(parsed, "since");
  const from = since === undefined ? 0 : parseSince(since, now);
  const ofAgent = agentFilter(parsed);
  const all = has(parsed, "all");
  const before = flag(parsed, "before");
  const limit = all ? Infinity : limitOf(flag(parsed, "limit"));
  const tasks: Readonly<Record<string, Json>>[] = [];
  let more = false;
  const link = await reachKernel(command);
  try {
    const query = {
      ...(all ? { archived: true } : {}),
      ...(status === undefined ? {} : { statuses: [status] }),
      ...(before === undefined ? {} : { before: idOf(TaskId, before, "task") }),
    };
    for await (const task of newestTasks(link, query)) {
      if (Number(task["createdAt"] ?? 0) < from || ofAgent?.(task) === false) continue;
      more = tasks.length >= limit;
      if (more) break;
      tasks.push(task);
    }
  } finally {
    link.close();
  }
  tasks.reverse();
  const tellMore = (): void => {
    const [first] = tasks;
    if (!more || first === undefined) return;
    const older = commandText(command, `task list --before ${cell(first["id"])}`);
    powers.screen.say(`the newest ${tasks.length}; "${older}" shows older ones, --all shows all`);
  };
  if (command.json) {
    printJson(command, tasks);
    tellMore();
    return EXIT.success;
  }
  const rows = tasks.map((task) => taskCells(task, now));
  const heads = ["TASK", "STATUS", "AGE", "REQUEST"];
  const filtered = status !== undefined || since !== undefined || ofAgent !== undefined;
  printLines(
    command,
    tableLines(
      heads,
      rows,
      powers.screen.outWidth ?? PIPE_COLUMNS,
      filtered ? "no task is so" : "no tasks",
    ),
  );
  tellMore();
  return EXIT.success;
}
