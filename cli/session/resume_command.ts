/** `remit resume`. @module */
import { type Command, reachKernel } from "../command.ts";
import { taskNamed } from "../conversation/name.ts";
import { inItsPlace } from "../kernel/task_rules.ts";
import { resumeFollowing } from "../run/run_command.ts";
import type { Basic } from "../powers.ts";

/** `resume TASK`. */
export async function resumeCommand(
  command: Command<Basic | "interrupts" | "keyboard" | "mcpStore" | "models">,
): Promise<number> {
  let link = await reachKernel(command);
  try {
    const task = await taskNamed(link, command.parsed.args[0] ?? "");
    link = await inItsPlace(command, link, task);
    return await resumeFollowing(command, link, task);
  } finally {
    link.close();
  }
}
