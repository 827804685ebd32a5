/** `remit schedule list|run`: when the operator's schedules fire, and one firing now. @module */
import {
  EXIT,
  Fault,
  type Json,
  type ScheduleConfig,
  SessionId,
  toJson,
} from "../../../contracts/mod.ts";
import { displayText } from "../../../text/mod.ts";
import { cell, type Command, commandText, printJson, printLines, recordOf } from "../../command.ts";
import { loadConfig } from "../../config/files.ts";
import type { KernelLink } from "../../hands.ts";
import { kernelFor } from "../../run/kernel_for.ts";
import { tableLines } from "../../terminal/table.ts";
import type { ServiceConfig } from "../../config/serve.ts";
import { readCron } from "./cron.ts";
import { scheduleIngress } from "./firing.ts";
import { openFiringBook } from "./firing_book.ts";
import { settleGiven } from "../setting/given_request.ts";

/** Times ahead that a list shows. */
const AHEAD = 3;

/** The service's part of the operator's remit.yaml. */
export function serviceConfig({ hands, places }: Command): ServiceConfig {
  return loadConfig(hands.disk, places, { folder: hands.around.cwd, mounts: [] }).service;
}

/** An entry of remit.yaml by its name. Throws `notFound`. */
export function entryOf<T>(
  entries: Readonly<Record<string, T>>,
  name: string,
  what: string,
): T {
  const found = Object.hasOwn(entries, name) ? entries[name] : undefined;
  if (found !== undefined) return found;
  const known = Object.keys(entries).join(", ");
  throw new Fault(
    "notFound",
    `Cannot find ${what} "${name}": remit.yaml has ${known === "" ? "none" : known}`,
  );
}

function ahead(config: ScheduleConfig, now: number, where: string): readonly string[] {
  const times = readCron(config, where);
  const found: string[] = [];
  for (let at = times.next(now); at !== undefined && found.length < AHEAD; at = times.next(at)) {
    found.push(new Date(at).toISOString());
  }
  return found;
}

async function statusOf(link: KernelLink | undefined, task: string | undefined): Promise<string> {
  if (link === undefined || task === undefined) return "";
  try {
    return cell(recordOf(await link.ask("task", { task }))["status"]);
  } catch (error) {
    if (error instanceof Fault) return displayText(error.code);
    throw error;
  }
}

/** `schedule list`: starts no kernel; with one that runs, how the last tasks stand. */
export async function scheduleList(command: Command): Promise<number> {
  const { hands, places } = command;
  const { schedules, at } = serviceConfig(command);
  const book = openFiringBook(hands.disk, places);
  const link = await hands.kernels(places).find();
  const now = hands.around.now();
  const rows: Json[] = [];
  try {
    for (const [name, config] of Object.entries(schedules)) {
      const settled = book.schedule(name);
      const { fired, task, skipped } = settled ?? {};
      rows.push(toJson({
        ...{ name, cron: config.cron, timezone: config.timezone ?? "UTC" },
        next: ahead(config, now, `schedule "${name}" (${at(`schedules.${name}`)})`),
        missed: config.missed ?? "skip",
        last: fired === undefined ? null : new Date(fired).toISOString(),
        task: task ?? null,
        status: await statusOf(link, task),
        skipped: skipped ?? 0,
      }));
    }
  } finally {
    link?.close();
  }
  if (command.json) printJson(command, rows);
  else if (rows.length === 0) {
    hands.screen.say("There are no schedules; docs/service.md says how remit.yaml names one.");
  } else {
    const heads = ["NAME", "CRON", "ZONE", "NEXT", "LAST", "TASK", "STATUS"];
    const cells = rows.map((row) => {
      const found = recordOf(row);
      const [next] = Array.isArray(found["next"]) ? found["next"] : [];
      return [
        ...[cell(found["name"]), cell(found["cron"]), cell(found["timezone"]), cell(next)],
        ...[cell(found["last"]), cell(found["task"]), cell(found["status"])],
      ];
    });
    printLines(command, tableLines(heads, cells, hands.screen.outWidth ?? 2_000));
  }
  return EXIT.success;
}

/** `schedule run NAME`: one firing now, beside its times. */
export async function scheduleRun(command: Command): Promise<number> {
  const { hands, parsed } = command;
  const name = parsed.args[0] ?? "";
  const { schedules, at } = serviceConfig(command);
  const config = entryOf(schedules, name, "schedule");
  const settled = await settleGiven(
    command,
    config,
    `schedules.${name} (${at(`schedules.${name}`)})`,
  );
  const request = settled.request(config.request, {
    ...scheduleIngress(name),
    // A firing of its own each time: a session that no time of the schedule has.
    session: SessionId.parse(hands.around.id("s")),
    interactive: false,
  });
  const link = await kernelFor(command, settled.setting);
  try {
    const task = cell(recordOf(await link.ask("run", toJson(request)))["task"]);
    if (command.json) printJson(command, { task });
    else printLines(command, [task]);
    if (!command.json) {
      hands.screen.say(`It goes on by itself: ${commandText(command, `log ${task} --follow`)}`);
    }
  } finally {
    link.close();
  }
  return EXIT.success;
}
