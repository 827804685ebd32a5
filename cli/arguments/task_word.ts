/** A task by the first letters of its id, or as `last`: nobody types thirteen letters twice. @module */
import { TaskId } from "../../contracts/authority/mod.ts";
import { Fault } from "../../contracts/base/mod.ts";
import { TAKES_TASK } from "./parse_arguments.ts";
import { askKernel, cell, type Command, commandText, rowsOf } from "../command.ts";

/** What cannot be taken back is done to the task that was named, not to whichever came last. */
const NAMED_ONLY: ReadonlySet<string> = new Set([
  "task cancel",
  "task archive",
  "task purge",
  "task phase",
  "task extend",
]);

/** Most tasks that are counted to say that a beginning is not enough. */
const MAX_NAMED = 100;

/**
 * The same command with the task's whole id as its first word, where it takes a task. Asks the kernel only for `last`
 * and for what may be the beginning of an id.
 *
 * @throws Fault `notFound` when none begins so, `invalidInput` when several do.
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
  // What somebody called so is that.
  if (takes[1] !== undefined) {
    const named = rowsOf(await askKernel(command, "conversations", null));
    if (named.some(({ name }) => name === word)) return command;
  }
  // The newest is the one that the log has last: a clock may have been set back since.
  const asked = last ? { limit: 1 } : { prefix: word, limit: MAX_NAMED };
  const found = rowsOf(await askKernel(command, "tasks", { archived: true, ...asked }))
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
