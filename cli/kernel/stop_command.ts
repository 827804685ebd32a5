/** `remit stop`: ends the kernel as soon as nobody is connected to it and no task is at work. @module */
import { join } from "node:path";
import { EXIT, Fault } from "../../contracts/mod.ts";
import { type Command, printJson, printLines } from "../command.ts";

/** A service holds its lock as long as it lives. */
function serviceRuns({ hands, places }: Command): boolean {
  const lock = hands.service.lock(join(places.person, "serve.lock"));
  lock?.[Symbol.dispose]();
  return lock === undefined;
}

/** Runs the command. */
export async function stopCommand(command: Command): Promise<number> {
  const link = await command.hands.kernels(command.places).find();
  const service = link !== undefined && serviceRuns(command);
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
  if (command.json) printJson(command, { stopped: link !== undefined, service });
  else {
    printLines(command, [
      link === undefined
        ? "no kernel runs"
        : service
        ? 'the kernel ends when "remit serve" has ended: Ctrl-C where it runs, or its service manager'
        : "the kernel ends as soon as no task and no session is at work",
    ]);
  }
  return EXIT.success;
}
