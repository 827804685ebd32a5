/** `remit schedule list|run` and `remit webhook list|secret|test`. @module */
import { SessionId } from "../../contracts/authority/mod.ts";
import { EXIT, Fault, type Json, toJson } from "../../contracts/base/mod.ts";
import type { ScheduleConfig } from "../../contracts/policy/mod.ts";
import { displayText } from "../../text/mod.ts";
import { shellQuoted } from "../../text/shell.ts";
import { cell, type Command, commandText, printJson, printLines, recordOf } from "../command.ts";
import { loadConfig } from "../../config/files.ts";
import type { Basic } from "../powers.ts";
import type { KernelLink } from "../../launch/kernel/kernels.ts";
import { kernelFor } from "../run/kernel_for.ts";
import { tableLines } from "../terminal/table.ts";
import type { ServiceConfig } from "../../config/serve.ts";
import {
  hookPath,
  openFiringBook,
  readCron,
  scheduleIngress,
  signHook,
} from "../../service/trigger/mod.ts";
import { settleGiven } from "./setting.ts";
import { flag, has } from "../arguments/parse_arguments.ts";
import { preparePlaces } from "../../launch/disk/places.ts";
import { openSecretKeep } from "../../config/secret/keep.ts";
import { parseSecretValue } from "../../config/secret/rules.ts";
import { HOOK_PLACE } from "../../config/secret/hook_secret.ts";

/** Future times that a list shows. */
const AHEAD = 3;

/** The service's part of the operator's remit.yaml. */
function serviceConfig({ powers, places }: Command): ServiceConfig {
  return loadConfig(powers.disk, places, { folder: powers.environment.cwd, mounts: [] }).service;
}

/** An entry of remit.yaml by its name. Throws `notFound`. */
function entryOf<T>(
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

/** `schedule list`: starts no kernel; a running one adds the state of the last tasks. */
export async function scheduleList(command: Command): Promise<number> {
  const { powers, places } = command;
  const { schedules, at } = serviceConfig(command);
  const book = openFiringBook(powers.disk, places);
  const link = await powers.kernels(places).find();
  const now = powers.environment.now();
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
    powers.screen.say("There are no schedules; docs/service.md says how remit.yaml names one.");
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
    printLines(command, tableLines(heads, cells, powers.screen.outWidth ?? 2_000));
  }
  return EXIT.success;
}

/** `schedule run NAME`: fires once now, beside the schedule's times. */
export async function scheduleRun(
  command: Command<Basic | "keyboard" | "mcpStore" | "models" | "wikis">,
): Promise<number> {
  const { powers, parsed } = command;
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
    // A firing by hand has its own session, which no time of the schedule has.
    session: SessionId.parse(powers.environment.id("s")),
    interactive: false,
  });
  const link = await kernelFor(command, settled.setting);
  try {
    const task = cell(recordOf(await link.ask("run", toJson(request)))["task"]);
    if (command.json) printJson(command, { task });
    else printLines(command, [task]);
    if (!command.json) {
      powers.screen.say(`It goes on by itself: ${commandText(command, `log ${task} --follow`)}`);
    }
  } finally {
    link.close();
  }
  return EXIT.success;
}

const LISTEN = "127.0.0.1:7433";

function keepOf({ powers, places }: Command): ReturnType<typeof openSecretKeep> {
  preparePlaces(powers.disk, places, powers.environment.uid);
  return openSecretKeep(powers.disk, places);
}

function baseUrl(command: Command): string {
  const { serve } = serviceConfig(command);
  return (serve.url ?? `http://${serve.listen ?? LISTEN}`).replace(/\/+$/, "");
}

/** `webhook list`. */
export function webhookList(command: Command): Promise<number> {
  const keep = keepOf(command);
  const url = baseUrl(command);
  const rows = Object.entries(serviceConfig(command).webhooks).map(([name, config]) => ({
    name,
    url: `${url}${hookPath(name, config)}`,
    secret: config.secret,
    kept: keep.loadHook(config.secret) !== undefined,
    profile: config.profile ?? "guest",
  }));
  if (command.json) printJson(command, rows);
  else if (rows.length === 0) {
    command.powers.screen.say(
      "There are no webhooks; docs/service.md says how remit.yaml names one.",
    );
  } else {
    const cells = rows.map(({ name, url, secret, kept, profile }) => [
      ...[name, displayText(url, { max: 300 }), secret, kept ? "kept" : "MISSING", profile],
    ]);
    const heads = ["NAME", "URL", "SECRET", "", "PROFILE"];
    printLines(command, tableLines(heads, cells, command.powers.screen.outWidth ?? 2_000));
  }
  return Promise.resolve(EXIT.success);
}

/** `webhook secret NAME [--make]`: stores a typed or piped secret, or a new one. */
export async function webhookSecret(
  command: Command<Basic | "keyboard" | "readInput" | "serve">,
): Promise<number> {
  const { powers, parsed } = command;
  const hook = parsed.args[0] ?? "";
  const { secret: name } = entryOf(serviceConfig(command).webhooks, hook, "webhook");
  const keep = keepOf(command);
  if (keep.list().some((each) => each.name === name && each.origin !== HOOK_PLACE.origin)) {
    throw new Fault(
      "alreadyExists",
      `Cannot keep the secret of webhook "${hook}": "${name}" is kept for something else; name another in remit.yaml`,
    );
  }
  const made = has(parsed, "make") ? powers.serve.secret() : undefined;
  const typed = made ??
    (powers.keyboard === undefined
      ? await powers.readInput()
      : await powers.keyboard.line("  value (not shown) › ", { echo: false }));
  if (typed === undefined) throw new Fault("cancelled", "Cannot read the value: cancelled");
  const done = keep.set({ ...HOOK_PLACE, name, value: parseSecretValue(typed) });
  if (made !== undefined) powers.screen.out(`${made}\n`);
  const word = `${done} ${name}: it checks deliveries of ${hook} and is sent nowhere`;
  if (made !== undefined) {
    powers.screen.say(`${word}; give the other side what stands above: it is not shown again`);
  } else if (command.json) printJson(command, { name, done });
  else printLines(command, [word]);
  powers.screen.say("A service that runs now learns of it at SIGHUP, or when it starts next.");
  return EXIT.success;
}

/** `webhook test NAME [--body TEXT] [--url URL]`: prints a curl line that delivers. */
export function webhookTest(command: Command): Promise<number> {
  const { powers, parsed } = command;
  const hook = parsed.args[0] ?? "";
  const config = entryOf(serviceConfig(command).webhooks, hook, "webhook");
  const secret = keepOf(command).loadHook(config.secret);
  if (secret === undefined) {
    throw new Fault(
      "notFound",
      `Cannot sign for webhook "${hook}": there is no secret "${config.secret}"; keep one with "${
        commandText(command, `webhook secret ${hook} --make`)
      }"`,
    );
  }
  const body = flag(parsed, "body") ?? JSON.stringify({ test: true });
  const seconds = Math.floor(powers.environment.now() / 1_000);
  const headers = {
    "content-type": "application/json",
    [config.delivery ?? "x-github-delivery"]: powers.environment.id("test-"),
    ...signHook(body, { config, secret, seconds }),
  };
  const url = `${flag(parsed, "url") ?? baseUrl(command)}${hookPath(hook, config)}`;
  const words = [
    "curl -sS -i",
    ...Object.entries(headers).map(([name, value]) => `-H ${shellQuoted(`${name}: ${value}`)}`),
    `--data-binary ${shellQuoted(body)}`,
    shellQuoted(url),
  ];
  if (command.json) printJson(command, { url, headers, body });
  // Quoted for a shell; characters that are unsafe to show are refused.
  else printLines(command, [plainLine(words.join(" "))]);
  if (config.timestamp !== undefined) powers.screen.say("It holds for five minutes.");
  return Promise.resolve(EXIT.success);
}

function plainLine(line: string): string {
  if (displayText(line, { max: 100_000 }) === line) return line;
  throw new Fault(
    "invalidInput",
    "Cannot print that delivery: its body has characters that no terminal should be shown; use --json",
  );
}
