/** Expands a task's prefix, or `last`, to the whole id. @module */
import { TaskId } from "../../contracts/authority/mod.ts";
import { Fault } from "../../contracts/base/mod.ts";
import { TAKES_TASK } from "./parse_arguments.ts";
import { askKernel, cell, type Command, commandText, rowsOf } from "../command.ts";

/** Commands that cannot be undone take a task by name, not as `last`. */
const NAMED_ONLY: ReadonlySet<string> = new Set([
  "task cancel",
  "task archive",
  "task purge",
  "task phase",
  "task extend",
]);

/** Tasks that are counted to report an ambiguous prefix. */
const MAX_NAMED = 100;

/**
 * The command with the task's whole id as its first argument, where it takes a task. Asks the kernel only for `last` and
 * for a possible prefix.
 *
 * @throws Fault `notFound` when no id matches, `invalidInput` when several do.
 */
export async function withWholeTask(command: Command): Promise<Command> {
  const { parsed } = command;
  const [word, ...rest] = parsed.args;
  const takes = TAKES_TASK.exec(parsed.command.args);
  if (word === undefined || takes === null) return command;
  const named = NAMED_ONLY.has(parsed.command.name);
  if (word === "last" && named) {
    throw new Fault(
      "invalidInput",
      `Cannot run "${parsed.command.name}" on "last": it takes a task by its id or the first letters of it; "${
        commandText(command, "task list")
      }" names them`,
    );
  }
  const last = word === "last";
  if (!last && !/^t[0-9a-z]{1,11}$/.test(word)) return command;
  // A conversation's name takes precedence over a prefix.
  if (takes[1] !== undefined) {
    const named = rowsOf(await askKernel(command, "conversations", null));
    if (named.some(({ name }) => name === word)) return command;
  }
  // The newest task is the last in the log: clocks may have been set back.
  const query = last ? { limit: 1 } : { prefix: word, limit: MAX_NAMED };
  const found = rowsOf(await askKernel(command, "tasks", { archived: true, ...query }))
    .flatMap(({ id }) => TaskId.safeParse(id).data ?? []);
  const [one, other] = found;
  const how = `"${commandText(command, "task list")}" names them`;
  if (one === undefined) {
    throw new Fault("notFound", `Cannot find task "${cell(word)}": there is none; ${how}`);
  }
  if (other !== undefined) {
    throw new Fault(
      "invalidInput",
      `Cannot tell which task "${cell(word)}" is: ${found.length} begin so; ${how}`,
    );
  }
  return { ...command, parsed: { ...parsed, args: [one, ...rest] } };
}
