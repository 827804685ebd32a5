/** `remit resume`. @module */
import { type Command, reachKernel } from "./command.ts";
import { taskNamed } from "./conversation_name.ts";
import { resumeFollowing } from "./run_command.ts";

/** `resume TASK`. */
export async function resumeCommand(command: Command): Promise<number> {
  const link = await reachKernel(command);
  try {
    return await resumeFollowing(
      command,
      link,
      await taskNamed(link, command.parsed.args[0] ?? ""),
    );
  } finally {
    link.close();
  }
}
