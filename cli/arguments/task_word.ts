/** A task by the first letters of its id, or as `last`: nobody types thirteen letters twice. @module */
import { Fault, TaskId } from "../../contracts/mod.ts";
import { askKernel, cell, type Command, commandText, rowsOf } from "../command.ts";

const TAKES_TASK = /^\[?TASK(\|NAME)?\]?( |$)/;
/** What cannot be taken back is done to the task that was named, not to whichever came last. */
const NAMED_ONLY: ReadonlySet<string> = new Set([
  "task cancel",
  "task archive",
  "task purge",
  "task phase",
  "task extend",
]);

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
  const tasks = rowsOf(await askKernel(command, "tasks", { archived: true }));
  const all = tasks.flatMap(({ id, createdAt }) => {
    const read = TaskId.safeParse(id);
    return read.success ? [{ id: read.data, at: Number(createdAt ?? 0) }] : [];
  });
  const found = last
    ? all.toSorted((a, b) => a.at - b.at).slice(-1)
    : all.filter(({ id }) => id.startsWith(word));
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
  return { ...command, parsed: { ...parsed, args: [one.id, ...rest] } };
}
