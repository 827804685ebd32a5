/** `workspace …`: lists the scratch of finished tasks, and decides how long it stays. @module */
import * as z from "zod";
import { Colour, Label, TaskId } from "../../contracts/authority/mod.ts";
import { EXIT, type Json } from "../../contracts/base/mod.ts";
import { displayText } from "../../text/mod.ts";
import { askKernel, cell, type Command, idOf, printJson, printLines } from "../command.ts";
import { spanText } from "../terminal/span.ts";
import { tableLines } from "../terminal/table.ts";

const Standing = z.object({
  ...{ task: TaskId, objective: z.string(), folder: z.string() },
  ...{ files: z.number(), bytes: z.number(), colour: Colour, label: Label },
  ...{ expiresAt: z.number().optional(), warned: z.boolean(), promoted: z.boolean() },
});
/** The scratch of one finished task, as the kernel reports it. */
export type WorkspaceStanding = z.infer<typeof Standing>;

/** Parses the kernel's answer. */
export function readWorkspaces(answer: Json): readonly WorkspaceStanding[] {
  return z.array(Standing).parse(answer);
}

/** The scratch of every finished task. */
export const listedWorkspaces = async (command: Command): Promise<readonly WorkspaceStanding[]> =>
  readWorkspaces(await askKernel(command, "workspaces", { do: "list" }));

/** `workspace list`. */
export async function workspaceList(command: Command): Promise<number> {
  const all = await listedWorkspaces(command);
  if (command.json) return printJson(command, all);
  const now = command.powers.environment.now();
  const rows = all.map(({ task, files, bytes, expiresAt, promoted, objective }) => [
    ...[task, cell(files), cell(bytes)],
    expiresAt === undefined ? "kept" : `in ${spanText(Math.max(0, expiresAt - now))}`,
    promoted ? "yes" : "",
    displayText(objective, { max: 200 }),
  ]);
  return printLines(
    command,
    tableLines(
      ["TASK", "FILES", "BYTES", "EXPIRES", "IN MEMORY", "REQUEST"],
      rows,
      command.powers.screen.outWidth ?? 200,
      "no task that is over left anything in scratch",
    ),
  );
}

/** `workspace keep` and `workspace release`. */
export function workspaceDecide(how: "keep" | "release"): (command: Command) => Promise<number> {
  return async (command) => {
    const task = idOf(TaskId, command.parsed.args[0] ?? "", "task");
    const [now] = readWorkspaces(await askKernel(command, "workspaces", { do: how, task }));
    if (command.json) printJson(command, now ?? null);
    else {
      const until = now?.expiresAt;
      const what = until === undefined
        ? "is kept until you release it"
        : `expires in ${spanText(until - command.powers.environment.now())}`;
      printLines(command, [`scratch of task ${task} ${what}`]);
    }
    return EXIT.success;
  };
}
