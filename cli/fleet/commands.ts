/** `fleet …`: manages the kernels that share this state's database. @module */
import { EXIT, Fault, type Json } from "../../contracts/base/mod.ts";
import { TASK_TRANSITIONS, TaskStatus } from "../../contracts/task/mod.ts";
import {
  askKernel,
  cell,
  type Command,
  printJson,
  printLines,
  recordOf,
  rowsOf,
  type Work,
} from "../command.ts";
import { spanText } from "../terminal/span.ts";
import { tableLines } from "../terminal/table.ts";
import { taskCells } from "../task/list.ts";
import { preparePlaces } from "../../launch/disk/places.ts";
import type { Basic } from "../powers.ts";
import { FLEET_PLACE } from "../../config/secret/hook_secret.ts";
import { openSecretKeep } from "../../config/secret/keep.ts";
import { parseSecretValue } from "../../config/secret/rules.ts";
import { fleetOrigin, parseGatewayUrl } from "./over_gateway.ts";

const UNFINISHED = TaskStatus.options.filter((each) => TASK_TRANSITIONS[each].length > 0);

function width(command: Command): number {
  return command.powers.screen.outWidth ?? 200;
}

/** A kernel's state, in one word. */
function standing(row: Readonly<Record<string, Json>>): string {
  return row["alive"] === true ? cell(row["state"]) : "gone";
}

/** `fleet list`. */
export async function fleetList(command: Command): Promise<number> {
  const kernels = rowsOf(await askKernel(command, "fleet", { kind: "list" }));
  return command.json ? printJson(command, kernels) : printLines(
    command,
    tableLines(
      ["KERNEL", "STANDS", "LEASE", "TASKS", "LATE", "VERSION"],
      kernels.map((row) => [
        ...[cell(row["name"]), standing(row), spanText(Number(row["leaseMs"]))],
        ...[cell(row["tasks"]), cell(row["late"]), cell(row["version"])],
      ]),
      width(command),
    ),
  );
}

/** `fleet tasks`. */
export async function fleetTasks(command: Command): Promise<number> {
  const tasks = rowsOf(
    await askKernel(command, "fleet", { kind: "tasks", states: [...UNFINISHED] }),
  );
  if (command.json) printJson(command, tasks);
  else if (tasks.length === 0) command.powers.screen.say("no task of the fleet is under way");
  else {
    const now = command.powers.environment.now();
    printLines(
      command,
      tableLines(
        ["TASK", "STATUS", "AGE", "REQUEST"],
        tasks.map((task) => taskCells(task, now)),
        width(command),
      ),
    );
  }
  return EXIT.success;
}

/** `fleet verify`; exits with 1 when a log does not hold. */
export async function fleetVerify(command: Command): Promise<number> {
  const report = recordOf(await askKernel(command, "fleet", { kind: "verify" }));
  const ok = report["ok"] === true;
  if (command.json) printJson(command, report);
  else {
    printLines(command, [
      ok ? "every log of the fleet holds" : "a log of the fleet does NOT hold",
      ...rowsOf(report["kernels"] ?? []).map((row) => {
        const bad = recordOf(row["bad"]);
        const what = row["ok"] === true
          ? "holds"
          : `event ${cell(bad["seq"])}: ${cell(bad["why"], 500)}`;
        return `  ${cell(row["kernel"]).padEnd(16)} ${cell(row["events"])} events, ${what}`;
      }),
    ]);
  }
  return ok ? EXIT.success : EXIT.failure;
}

/** `fleet enroll KERNEL`: the address holds a password, and is shown only once. */
export async function fleetEnroll(command: Command): Promise<number> {
  const name = command.parsed.args[0] ?? "";
  const answer = recordOf(await askKernel(command, "fleet", { kind: "enroll", name }));
  if (command.json) printJson(command, answer);
  else {
    printLines(command, [cell(answer["address"], 1_000)]);
    command.powers.screen.say(
      "It holds the role's password and is not shown again. On the other machine: remit --state DIR --store ADDRESS …",
    );
  }
  return EXIT.success;
}

/** A command that sets whether a kernel takes work. */
function setting(state: "up" | "cordoned" | "draining", words: string): Work {
  return async (command) => {
    const name = command.parsed.args[0] ?? "";
    await askKernel(command, "fleet", { kind: "state", name, state });
    return command.json
      ? printJson(command, { name, state })
      : printLines(command, [`${cell(name)} ${words}`]);
  };
}

/** `fleet cordon KERNEL`. */
export const fleetCordon = setting("cordoned", "takes no new work");
/** `fleet drain KERNEL`. */
export const fleetDrain = setting("draining", "takes no new work, and ends when it is idle");
/** `fleet uncordon KERNEL`. */
export const fleetUncordon = setting("up", "takes work again");

/** `fleet login URL`: reads the token from the keyboard or input, and never shows it. */
export async function fleetLogin(
  command: Command<Basic | "keyboard" | "readInput">,
): Promise<number> {
  const { powers, parsed, places } = command;
  const url = parseGatewayUrl(parsed.args[0] ?? "");
  preparePlaces(powers.disk, places, powers.environment.uid);
  const typed = powers.keyboard === undefined
    ? await powers.readInput()
    : await powers.keyboard.line("  token (not shown) › ", { echo: false });
  if (typed === undefined) throw new Fault("cancelled", "Cannot keep the token: cancelled");
  const origin = fleetOrigin(url);
  const name = origin.replaceAll(/[^a-z0-9_-]/gi, "-").toLowerCase().slice(0, 64);
  const value = parseSecretValue(typed);
  const keep = openSecretKeep(powers.disk, places);
  const done = keep.set({ ...FLEET_PLACE, origin, name, value });
  if (command.json) printJson(command, { url: url.origin, done });
  else {
    powers.screen.say(
      `  ${done}: the token for ${url.origin}; try remit --fleet ${url.origin} tasks`,
    );
  }
  return EXIT.success;
}
