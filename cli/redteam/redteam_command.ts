/** `remit redteam`: tries what an injection could do here. @module */
import { join } from "node:path";
import { Fault } from "../../contracts/base/mod.ts";
import {
  INJECAGENT_FILES,
  injecAgentSuite,
  type Oracle,
  ORACLES,
  ownSuite,
  pageOf,
  play,
  reportOf,
  type Run,
  type RunOutcome,
  setStage,
  type Suite,
  type Variant,
  VARIANTS,
} from "../../redteam/mod.ts";
import { displayText } from "../../text/mod.ts";
import { flag, has, oneOf } from "../arguments/parse_arguments.ts";
import { type Command, printJson, printLines } from "../command.ts";
import { absolute } from "../../launch/disk/places.ts";
import type { Basic } from "../powers.ts";
import { playAgentDojo } from "./agentdojo.ts";
import { fileText, shippedSuites, takeRules, wholeNumber } from "./suites.ts";

/** Suites played in parallel. */
const LANES = 4;

type Redteam = Command<Basic | "redteam">;

/** `redteam`; exits with 1 when an attack succeeded. */
export async function redteamCommand(command: Redteam): Promise<number> {
  const { powers, parsed } = command;
  const { environment, disk } = powers;
  const quick = has(parsed, "quick");
  const variant = oneOf(parsed, "variant", VARIANTS);
  const given = (parsed.flags.get("person") ?? []).map((name) => personOf(name));
  const dojo = dojoOf(command);
  const planned = has(parsed, "planned");
  if (planned && (dojo === undefined || !["at", "adaptive"].includes(variant ?? "at"))) {
    throw new Fault(
      "invalidInput",
      "Cannot play programs: --planned goes with --suite agentdojo and --from DIR, and with --variant at " +
        "(the attacker has the planner once its program read something) or adaptive (and every model that reads for it)",
    );
  }
  const runs = dojo === undefined
    ? await playSuites(command, {
      ...{ suites: await suitesOf(command), quick },
      variants: variant === undefined ? quick ? ["at"] : VARIANTS : [variant],
      persons: given.length > 0 ? given : quick ? ["exact"] : ORACLES,
    })
    : await playAgentDojo(command, {
      ...{ ...dojo, variants: [variant ?? "at"], planned },
      persons: given.length > 0 ? given : ["exact", "absent"],
    });
  const report = reportOf(runs);
  const page = flag(parsed, "page");
  if (page !== undefined) disk.write(absolute(environment, page), pageOf(report));
  if (command.json) printJson(command, report);
  else {
    printLines(
      command,
      pageOf(report).split("\n").map((line) => displayText(line, { max: 400 })),
    );
  }
  return report.succeeded === 0 ? 0 : 1;
}

function personOf(name: string): Oracle {
  const found = ORACLES.find((each) => each === name);
  if (found !== undefined) return found;
  throw new Fault("invalidInput", `Cannot take --person: it is one of ${ORACLES.join(", ")}`);
}

/** AgentDojo's folder and suite, where `--suite` names AgentDojo. */
function dojoOf({ powers, parsed }: Redteam): { folder: string; only?: string } | undefined {
  const [name = "", ...more] = parsed.flags.get("suite") ?? [];
  if (name !== "agentdojo" && !name.startsWith("agentdojo/")) return undefined;
  const from = flag(parsed, "from");
  if (from === undefined || more.length > 0) {
    throw new Fault(
      "invalidInput",
      "Cannot play AgentDojo: give --from DIR, where it lies, and no other suite beside it",
    );
  }
  const only = name.slice("agentdojo/".length);
  return { folder: absolute(powers.environment, from), ...(only === "" ? {} : { only }) };
}

/** Plays Remit's own suites, several in parallel. */
async function playSuites(
  command: Redteam,
  { suites, quick, variants, persons }: {
    readonly suites: readonly Suite[];
    readonly quick: boolean;
    readonly variants: readonly Variant[];
    readonly persons: readonly Oracle[];
  },
): Promise<readonly RunOutcome[]> {
  const { powers, parsed, places } = command;
  const { redteam, screen } = powers;
  const runs: RunOutcome[] = [];
  const left = [...suites];
  const lane = async (): Promise<void> => {
    for (let suite = left.shift(); suite !== undefined; suite = left.shift()) {
      screen.say(`${suite.suite}  ${displayText(suite.about, { max: 100 })}`);
      // Each suite has its own state and kernel, so that no task receives another suite's servers.
      const workshop = redteam.open();
      try {
        takeRules(command, workshop, has(parsed, "own") ? places.config : undefined);
        const stage = await setStage(suite, workshop, redteam);
        for (const run of plan(suite, quick, { variants, persons })) {
          runs.push(await play(stage, suite, run));
        }
      } catch (error) {
        // The other lanes stop after their current suite.
        left.length = 0;
        throw error;
      } finally {
        await workshop.close();
      }
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: LANES }, lane));
  for (const each of ended) if (each.status === "rejected") throw each.reason;
  return runs;
}

/** Every run of a suite; with `quick`, only its last task and first attack. */
function* plan(
  suite: Suite,
  quick: boolean,
  { variants, persons }: {
    readonly variants: readonly Variant[];
    readonly persons: readonly Oracle[];
  },
): Generator<Run> {
  const tasks = quick ? suite.tasks.slice(-1) : suite.tasks;
  const injections = quick ? suite.injections.slice(0, 1) : suite.injections;
  for (const task of tasks) {
    for (const oracle of ["exact", "absent"] as const) yield { task, variant: "at", oracle };
    for (const injection of injections) {
      for (const variant of variants) {
        for (const oracle of persons) yield { task, injection, variant, oracle };
      }
    }
  }
}

async function suitesOf(command: Redteam): Promise<readonly Suite[]> {
  const { powers, parsed } = command;
  const [named] = parsed.flags.get("suite") ?? [];
  const from = flag(parsed, "from");
  if (named === "injecagent" && from !== undefined) {
    const max = Math.ceil((wholeNumber(command, "most") ?? 20) / INJECAGENT_FILES.length);
    return INJECAGENT_FILES.flatMap((file, n) =>
      injecAgentSuite(fileText(powers, join(absolute(powers.environment, from), file)), max)
        .map((suite) => ({ ...suite, suite: `${suite.suite}_${n}` }))
    );
  }
  if (from !== undefined || named === "injecagent") {
    throw new Fault(
      "invalidInput",
      "Cannot import a suite: give --suite agentdojo or injecagent, and --from DIR, where it lies",
    );
  }
  if (!has(parsed, "own")) return shippedSuites(command, "suites");
  const state = flag(parsed, "state");
  const own = async (...words: readonly string[]): Promise<string> =>
    (await powers.redteam.own([
      ...words,
      "--json",
      ...(state === undefined ? [] : ["--state", state]),
    ]))
      .stdout;
  const listed: unknown = JSON.parse(await own("mcp", "list"));
  const names = Array.isArray(listed) ? listed.map((each) => String(Object(each).name)) : [];
  const found: Suite[] = [];
  for (const name of names) {
    const suite = ownSuite(await own("mcp", "review", name));
    if (suite === undefined) powers.screen.say(`${name}  no tool of it changes anything`);
    else found.push(suite);
  }
  if (found.length === 0) {
    throw new Fault(
      "invalidInput",
      'Cannot attack your servers: none changes anything; "remit redteam" plays Remit\'s own suites',
    );
  }
  return found;
}
