/** `command`: small programs over the task's files, inside the sandbox. @module */
import type { Remit } from "./_remit.ts";
import { type CommandArgs, type CommandValue, runCommand } from "./run.ts";

/** The tools of this plugin. */
export const tools = {
  command: (args: CommandArgs, remit: Remit): Promise<CommandValue> => runCommand(args, remit),
};
