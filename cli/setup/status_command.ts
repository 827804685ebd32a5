/** `status`: one screen about the kernel, the model, this folder, waiting questions and today's cost. @module */

import { displayText } from "../../text/mod.ts";
import { newestTasks } from "../arguments/agent_filter.ts";
import {
  cell,
  type Command,
  commandText,
  printJson,
  printLines,
  recordOf,
  rowsOf,
  withKernel,
} from "../command.ts";
import { budgetStandings, runningOut, type Standing, standingLine } from "../audit/standings.ts";
import { readWorkspaces } from "../task/workspace_commands.ts";
import { loadConfig } from "../../config/files.ts";
import type { KernelLink } from "../../launch/kernel/kernels.ts";
import { waitingQuestions } from "../question/waiting.ts";
import { spanText } from "../terminal/span.ts";
import { VERSION } from "../../launch/kernel/version.ts";
import { folderConfig } from "./config_command.ts";

/** Tasks whose spans are summed up for today. */
const MAX_TASKS = 200;

interface Work {
  readonly pid: number;
  readonly running: number;
  readonly waiting: readonly {
    readonly id: string;
    readonly summary: string;
    readonly ageMs: number;
  }[];
  readonly today: { readonly tasks: number; readonly tokens: number; readonly money: number };
  /** Number of scratch folders that expire soon. */
  readonly expiring: number;
  /** Budgets that are used up, or nearly. */
  readonly budgets: readonly Standing[];
}

/** The start of `now`'s day on this machine, milliseconds since 1970. */
function midnight(now: number): number {
  return new Date(now).setHours(0, 0, 0, 0);
}

async function spentSince(link: KernelLink, from: number): Promise<Work["today"]> {
  let [tasks, tokens, money] = [0, 0, 0];
  let seen = 0;
  for await (const task of newestTasks(link, { archived: true })) {
    if (++seen > MAX_TASKS) break;
    if (Number(task["updatedAt"] ?? 0) < from) continue;
    tasks += 1;
    for (const span of rowsOf(await link.ask("spans", { task: task["id"] ?? null }))) {
      if (span["kind"] !== "inference" || Number(span["to"] ?? 0) < from) continue;
      const used = recordOf(span["attributes"]);
      tokens += Number(used["inputTokens"] ?? 0) + Number(used["outputTokens"] ?? 0);
      money += Number(used["money"] ?? 0);
    }
  }
  return { tasks, tokens, money };
}

async function workOf(command: Command): Promise<Work | undefined> {
  // A new state holds nothing, so no kernel needs to start.
  if (command.powers.disk.stat(command.places.state) === undefined) return undefined;
  const now = command.powers.environment.now();
  return await withKernel(command, async (link) => {
    const questions = await waitingQuestions((op, body) => link.ask(op, body));
    return {
      pid: link.pid,
      running: rowsOf(await link.ask("ps", null)).length,
      waiting: questions.map(({ id, summary, createdAt }) => ({
        id,
        summary,
        ageMs: now - createdAt,
      })),
      today: await spentSince(link, midnight(now)),
      expiring: readWorkspaces(await link.ask("workspaces", { do: "list" }))
        .filter(({ expiresAt, warned }) => warned && expiresAt !== undefined).length,
      budgets: runningOut(await budgetStandings(link)),
    };
  });
}

/** `status`. */
export async function statusCommand(command: Command): Promise<number> {
  const { powers, places } = command;
  const config = loadConfig(powers.disk, places, { folder: powers.environment.cwd, mounts: [] });
  const folder = folderConfig(command);
  const work = await workOf(command);
  const today = work?.today ?? { tasks: 0, tokens: 0, money: 0 };
  if (command.json) {
    return printJson(command, {
      version: VERSION,
      kernel: work === undefined ? null : { pid: work.pid },
      model: config.model ?? null,
      folder,
      running: work?.running ?? 0,
      waiting: (work?.waiting ?? []).map(({ id, summary }) => ({ id, summary })),
      today,
      expiring: work?.expiring ?? 0,
      budgets: (work?.budgets ?? []).map(({ name, most, spent, held }) => ({
        ...{ name, most, used: spent + held },
      })),
      notes: config.notes,
    });
  }
  const line = (name: string, text: string): string => `  ${name.padEnd(8)} ${text}`;
  const waiting = work?.waiting ?? [];
  const trust = folder.trusted
    ? "its remit.yaml is trusted"
    : `its remit.yaml only narrows; "${commandText(command, "trust")}" accepts it`;
  return printLines(command, [
    `remit ${VERSION}`,
    line(
      "kernel",
      work === undefined
        ? "none yet: it starts with the first task"
        : `process ${work.pid}, ${work.running} at work`,
    ),
    line(
      "model",
      config.model === undefined
        ? `none is chosen; "${commandText(command, "model list")}" shows what there is`
        : displayText(config.model, { max: 200 }),
    ),
    line(
      "folder",
      `${displayText(powers.environment.cwd, { max: 300 })}: ${
        folder.there ? trust : "no remit.yaml"
      }`,
    ),
    line("today", `${today.tasks} tasks, ${today.tokens} tokens, ${today.money.toFixed(4)} USD`),
    ...((work?.expiring ?? 0) === 0 ? [] : [
      powers.screen.paint.yellow(
        line(
          "expires",
          `scratch of ${work?.expiring} tasks: "${commandText(command, "workspace list")}"`,
        ),
      ),
    ]),
    ...(work?.budgets ?? []).slice(0, 8).map((budget) =>
      powers.screen.paint.yellow(line("budget", standingLine(budget, powers.environment.now())))
    ),
    line(
      "waits",
      waiting.length === 0
        ? "nothing"
        : `${waiting.length}: "${commandText(command, "questions")}"`,
    ),
    ...waiting.slice(0, 8).map(({ id, summary, ageMs }) =>
      `             ${cell(id)}  ${spanText(ageMs)}  ${cell(summary, 200)}`
    ),
    ...config.notes.slice(0, 4).map((note) =>
      powers.screen.paint.yellow(`  ${displayText(note, { max: 300 })}`)
    ),
  ]);
}
