/** `task phase TASK PHASE`: a plan becomes work by a person's word. @module */
import { Fault } from "../../contracts/base/mod.ts";
import { Phase } from "../../contracts/task/mod.ts";
import {
  askKernel,
  cell,
  type Command,
  printJson,
  printLines,
  recordOf,
  taskOf,
} from "../command.ts";

/** Runs the command. Throws `invalidInput` for a phase that there is not. */
export async function taskPhase(command: Command): Promise<number> {
  const [, word = ""] = command.parsed.args;
  const phase = Phase.safeParse(word);
  if (!phase.success) {
    throw new Fault(
      "invalidInput",
      `Cannot move to phase ${JSON.stringify(word)}: there is ${Phase.options.join(", ")}`,
    );
  }
  const task = await askKernel(command, "phase", { task: taskOf(command), phase: phase.data });
  return command.json
    ? printJson(command, task)
    : printLines(command, [`${cell(recordOf(task)["id"])}  ${phase.data}`]);
}
