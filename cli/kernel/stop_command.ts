/** `remit stop`: ends the kernel once no session is connected; asks first while tasks are at work. @module */
import { join } from "node:path";
import { Fault } from "../../contracts/base/mod.ts";
import { has } from "../arguments/parse_arguments.ts";
import { type Command, printJson, printLines } from "../command.ts";
import type { Basic } from "../powers.ts";
import { tasksAtWork } from "../../launch/kernel/link.ts";

/** Whether a service runs: it holds this lock during its life. */
function serviceRuns({ powers, places }: Command<Basic | "service">): boolean {
  const lock = powers.service.lock(join(places.person, "serve.lock"));
  lock?.[Symbol.dispose]();
  return lock === undefined;
}

/** Whether to end the kernel during these tasks. Throws `conflict` where nobody can be asked. */
async function mayEnd(
  { powers, parsed }: Command<Basic | "keyboard">,
  tasks: readonly string[],
): Promise<boolean> {
  if (tasks.length === 0) return false;
  if (has(parsed, "force")) return true;
  const which = `${tasks.slice(0, 3).join(", ")}${
    tasks.length > 3 ? ` and ${tasks.length - 3} more` : ""
  }`;
  if (powers.keyboard === undefined || has(parsed, "json")) {
    throw new Fault(
      "conflict",
      `Cannot end the kernel: ${which} is at work; wait for it, end it with "remit task cancel", or give --force: ` +
        "the next kernel goes on with it",
    );
  }
  powers.screen.say(`  ${which} is at work. The next kernel goes on with it.`);
  const typed = await powers.keyboard.line("  end the kernel now? y/N › ", {});
  if (/^y(es)?$/i.test(typed?.trim() ?? "")) return true;
  throw new Fault("cancelled", "Cannot end the kernel: you said no");
}

/** `stop`. */
export async function stopCommand(
  command: Command<Basic | "keyboard" | "service">,
): Promise<number> {
  const link = await command.powers.kernels(command.places).find();
  const service = link !== undefined && serviceRuns(command);
  let forced = false;
  if (link !== undefined) {
    try {
      forced = await mayEnd(command, service ? [] : await tasksAtWork(link));
      await link.ask("stop", forced ? { force: true } : null);
    } catch (error) {
      // A kernel that ended before its answer has stopped, too.
      if (!(error instanceof Fault) || error.code !== "gone") throw error;
    } finally {
      link.close();
    }
  }
  return command.json
    ? printJson(command, { stopped: link !== undefined, service })
    : printLines(command, [
      link === undefined
        ? "no kernel runs"
        : service
        ? 'the kernel ends when "remit serve" has ended: Ctrl-C where it runs, or its service manager'
        : forced
        ? "the kernel ends; the next one goes on with what was under way"
        : "the kernel ends as soon as no session is at work",
    ]);
}
