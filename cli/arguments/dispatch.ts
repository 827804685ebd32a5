/** From words to a command's work, and from faults to exit codes. @module */
import { EXIT, EXIT_OF_FAULT, Fault } from "../../contracts/mod.ts";
import { displayBlock } from "../../text/mod.ts";
import { findCommand } from "./command_table.ts";
import { diskFault } from "../disk/disk_fault.ts";
import type { Hands, KernelLink, Kernels } from "../hands.ts";
import { RUNS_AS_ROOT } from "../command.ts";
import { everythingText, familyLines, familyText, helpText } from "./help.ts";
import { flag, has, parseArguments } from "./parse_arguments.ts";
import { placesOf } from "../disk/places.ts";
import { safeJson } from "../terminal/safe_json.ts";
import { withWholeTask } from "./task_word.ts";
import { VERSION } from "../version.ts";
import { WORK } from "./work_table.ts";

function report(hands: Hands, fault: Fault, json: boolean): number {
  if (json) {
    hands.screen.out(`${safeJson({ error: { code: fault.code, message: fault.message } }, 2)}\n`);
  } else {
    const { paint } = hands.screen;
    displayBlock(fault.message, { prefix: "", max: 20_000, maxLines: 60, columns: 1_000 }).forEach((
      line,
      n,
    ) => hands.screen.say(n === 0 ? `${paint.red("remit:")} ${line}` : line));
  }
  return EXIT_OF_FAULT[fault.code];
}

/** Says before its first kernel that root is at work: for a state that was not there before, so once for each. */
function warningRoot(hands: Hands): Hands {
  const { screen } = hands;
  let said = false;
  return {
    ...hands,
    kernels(places): Kernels {
      const { find, provide } = hands.kernels(places);
      return {
        find,
        provide(wish): Promise<KernelLink> {
          if (!said) screen.say(screen.paint.yellow(`  ${RUNS_AS_ROOT}`));
          said = true;
          return provide(wish);
        },
      };
    },
  };
}

/** What stands after `--` is another program's. */
function asksJson(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  const own = end < 0 ? argv : argv.slice(0, end);
  return own.includes("--json") ||
    own.some((word, at) =>
      /^--output-format=(?:stream-)?json$/.test(word) ||
      (word === "--output-format" && /^(?:stream-)?json$/.test(own[at + 1] ?? ""))
    );
}

/** Runs one command line; gives the exit code. Bugs are thrown, faults are reported. */
export async function runCommandLine(argv: readonly string[], hands: Hands): Promise<number> {
  const [first, ...rest] = argv;
  if (first === "help") {
    const words = rest.filter((word) => !word.startsWith("-"));
    if (words[0] !== "all") return await runCommandLine([...rest, "--help"], hands);
    hands.screen.out(everythingText());
    return EXIT.success;
  }
  const family = argv.filter((word) => !word.startsWith("-"));
  const [word = ""] = family;
  const asksHelp = argv.includes("--help") || argv.includes("-h");
  if (
    asksHelp && family.length === 1 && familyLines(word).length > 0 &&
    findCommand(word) === undefined
  ) {
    hands.screen.out(familyText(word));
    return EXIT.success;
  }
  try {
    const parsed = parseArguments(argv);
    const json = has(parsed, "json");
    if (has(parsed, "version")) {
      hands.screen.out(json ? `${safeJson({ version: VERSION })}\n` : `remit ${VERSION}\n`);
      return EXIT.success;
    }
    if (has(parsed, "help")) {
      hands.screen.out(helpText(parsed.command));
      return EXIT.success;
    }
    const work = WORK[parsed.command.name];
    if (work === undefined) throw new TypeError(`Cannot run "${parsed.command.name}": no work`);
    const places = placesOf(hands.around, flag(parsed, "state"));
    const fresh = hands.disk.stat(places.state) === undefined;
    const told = fresh && !json && hands.around.root ? warningRoot(hands) : hands;
    return await work(await withWholeTask({ hands: told, parsed, places, json }));
  } catch (error) {
    const fault = error instanceof Fault ? error : diskFault(error);
    if (fault !== undefined) return report(hands, fault, asksJson(argv));
    throw error;
  }
}
