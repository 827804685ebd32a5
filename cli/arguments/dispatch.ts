/** Runs a command line: finds the command, hands it its powers, turns faults into exit codes. @module */
import { EXIT, EXIT_OF_FAULT, Fault } from "../../contracts/base/mod.ts";
import { displayBlock } from "../../text/mod.ts";
import { familyOf, findCommand } from "./command_table.ts";
import { handed } from "./family.ts";
import type { GatewayParts } from "../fleet/over_gateway.ts";
import { diskFault } from "../../launch/disk/disk_fault.ts";
import {
  BASIC,
  type PowerName,
  type Powers,
  type PowerSource,
  RUNS_AS_ROOT,
  type Screen,
} from "../powers.ts";
import type { KernelLink } from "../../launch/kernel/kernels.ts";
import { everythingText, familyLines, familyText, helpText } from "./help.ts";
import { flag, has, parseArguments, takesTask } from "./parse_arguments.ts";
import { placesOf } from "../../launch/disk/places.ts";
import { safeJson } from "../terminal/safe_json.ts";
import { VERSION } from "../../launch/kernel/version.ts";

function report(screen: Screen, fault: Fault, json: boolean): number {
  if (json) {
    screen.out(`${safeJson({ error: { code: fault.code, message: fault.message } }, 2)}\n`);
  } else {
    const { paint } = screen;
    displayBlock(fault.message, { prefix: "", max: 20_000, maxLines: 60, columns: 1_000 }).forEach((
      line,
      n,
    ) => screen.say(n === 0 ? `${paint.red("remit:")} ${line}` : line));
  }
  return EXIT_OF_FAULT[fault.code];
}

/** Wraps the kernels so that starting the first one as root prints a warning; used for a new state only. */
function warningRoot(source: PowerSource, screen: Screen): PowerSource {
  let warned = false;
  const warn = (kernels: Powers["kernels"]): Powers["kernels"] => (places) => {
    const { find, provide } = kernels(places);
    return {
      find,
      provide(wish): Promise<KernelLink> {
        if (!warned) screen.say(screen.paint.yellow(`  ${RUNS_AS_ROOT}`));
        warned = true;
        return provide(wish);
      },
    };
  };
  return async <K extends PowerName>(name: K): Promise<Powers[K]> =>
    name === "kernels" ? warn(await source("kernels")) as Powers[K] : await source(name);
}

/** Replaces this machine's kernels by those of a fleet, reached over its gateway. */
async function overFleet(
  source: PowerSource,
  parts: Omit<GatewayParts, "gateways">,
): Promise<PowerSource> {
  const { gatewayKernels } = await import("../fleet/over_gateway.ts");
  const kernels = gatewayKernels({ ...parts, gateways: await source("gateways") });
  const own: Powers["kernels"] = () => kernels;
  return async <K extends PowerName>(name: K): Promise<Powers[K]> =>
    name === "kernels" ? own as Powers[K] : await source(name);
}

/** Whether the output shall be JSON, also for a line that does not parse. Words after `--` belong to another program. */
function asksJson(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  const own = end < 0 ? argv : argv.slice(0, end);
  return own.includes("--json") ||
    own.some((word, at) =>
      /^--output-format=(?:stream-)?json$/.test(word) ||
      (word === "--output-format" && /^(?:stream-)?json$/.test(own[at + 1] ?? ""))
    );
}

/** Runs one command line; returns the exit code. Reports faults; throws bugs. */
export async function runCommandLine(
  argv: readonly string[],
  source: PowerSource,
): Promise<number> {
  const screen = await source("screen");
  const [first, ...rest] = argv;
  if (first === "help") {
    const words = rest.filter((word) => !word.startsWith("-"));
    if (words[0] !== "all") return await runCommandLine([...rest, "--help"], source);
    screen.out(everythingText());
    return EXIT.success;
  }
  const family = argv.filter((word) => !word.startsWith("-"));
  const [word = ""] = family;
  const asksHelp = argv.includes("--help") || argv.includes("-h");
  if (
    asksHelp && family.length === 1 && familyLines(word).length > 0 &&
    findCommand(word) === undefined
  ) {
    screen.out(familyText(word));
    return EXIT.success;
  }
  try {
    const parsed = parseArguments(argv);
    const json = has(parsed, "json");
    if (has(parsed, "version")) {
      screen.out(json ? `${safeJson({ version: VERSION })}\n` : `remit ${VERSION}\n`);
      return EXIT.success;
    }
    if (has(parsed, "help")) {
      screen.out(helpText(parsed.command));
      return EXIT.success;
    }
    const { name } = parsed.command;
    const [environment, disk] = await Promise.all([source("environment"), source("disk")]);
    const places = placesOf(environment, flag(parsed, "state"));
    const store = flag(parsed, "store");
    if (store !== undefined) {
      const { keepStore } = await import("../../launch/kernel/store_choice.ts");
      keepStore({ disk, places, uid: environment.uid }, store);
    }
    const stateFolder = disk.stat(places.state);
    const isNew = stateFolder === undefined;
    // Checked first: later errors about the same file would mislead.
    if (stateFolder?.folder === false && name !== "doctor") {
      throw new Fault(
        "invalidInput",
        `Cannot use ${
          JSON.stringify(flag(parsed, "state") ?? places.state)
        } as state: it is a file; ` +
          "--state DIR, XDG_STATE_HOME or HOME names a folder",
      );
    }
    const url = flag(parsed, "fleet");
    const powers = url !== undefined
      ? await overFleet(source, { disk, environment, places, command: name, url })
      : isNew && !json && environment.root
      ? warningRoot(source, screen)
      : source;
    const family = familyOf(parsed.command);
    const rest = { parsed, places, json };
    if (!takesTask(parsed)) return await family.run(name, powers, rest);
    const { withWholeTask } = await import("./task_word.ts");
    const { parsed: whole } = await withWholeTask({ ...rest, powers: await handed(powers, BASIC) });
    return await family.run(name, powers, { ...rest, parsed: whole });
  } catch (error) {
    const fault = error instanceof Fault ? error : diskFault(error);
    if (fault !== undefined) return report(screen, fault, asksJson(argv));
    throw error;
  }
}
