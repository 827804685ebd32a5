/** `remit stop`: ends the kernel when it is idle. @module */
import { EXIT, Fault } from "../contracts/mod.ts";
import { type Command, printJson, printLines } from "./command.ts";

/** Runs the command. */
export async function stopCommand(command: Command): Promise<number> {
  const link = await command.hands.kernels(command.places).find();
  if (link !== undefined) {
    try {
      await link.ask("stop", null);
    } catch (error) {
      // A kernel that ended before it could answer did what was asked.
      if (!(error instanceof Fault) || error.code !== "gone") throw error;
    } finally {
      link.close();
    }
  }
  if (command.json) printJson(command, { stopped: link !== undefined });
  else printLines(command, [link === undefined ? "no kernel runs" : "the kernel ends"]);
  return EXIT.success;
}
