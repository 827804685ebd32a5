/** `remit redteam`: what could an injection do here? @module */
import { join } from "node:path";
import { Fault } from "../../contracts/base/mod.ts";
import {
  type Came,
  injecAgentSuite,
  type Oracle,
  ORACLES,
  ownSuite,
  pageOf,
  reportOf,
  setStage,
  type Suite,
  type Variant,
  VARIANTS,
} from "../../redteam/mod.ts";
import { displayText } from "../../text/mod.ts";
import { flag, has, oneOf } from "../arguments/parse_arguments.ts";
import { type Command, printJson, printLines } from "../command.ts";
import { absolute } from "../disk/places.ts";
import type { Basic } from "../hands.ts";
import { fileText, shippedSuites, takeRules } from "./suites.ts";

/** Suites that are played at a time. */
const LANES = 4;

type Redteam = Command<Basic | "redteam">;

/** Runs it; exits with 1 when an attack got through. */
export async function redteamCommand(command: Redteam): Promise<number> {
  const { hands, parsed, places } = command;
  const { redteam, screen, around, disk } = hands;
  const quick = has(parsed, "quick");
  const suites = await suitesOf(command);
  const variant = oneOf(parsed, "variant", VARIANTS);
  const variants = variant === undefined ? quick ? ["at" as const] : VARIANTS : [variant];
  const runs: Came[] = [];
  const left = [...suites];
  const lane = async (): Promise<void> => {
    for (let suite = left.shift(); suite !== undefined; suite = left.shift()) {
      screen.say(`${suite.suite}  ${displayText(suite.about, { max: 100 })}`);
      // A state and a kernel for each suite: no task of one is handed the servers of another.
      const workshop = redteam.open();
      try {
        takeRules(command, workshop, has(parsed, "own") ? places.config : undefined);
        const stage = await setStage(suite, workshop, redteam);
        for (const run of plan(suite, quick, variants)) runs.push(await stage.play(run));
      } catch (error) {
        // The other lanes stop after the suite that they play.
        left.length = 0;
        throw error;
      } finally {
        await workshop.close();
      }
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: LANES }, lane));
  for (const each of ended) if (each.status === "rejected") throw each.reason;
  const report = reportOf(runs);
  const page = flag(parsed, "page");
  if (page !== undefined) disk.write(absolute(around, page), pageOf(report));
  if (command.json) printJson(command, report);
  else {printLines(
      command,
      pageOf(report).split("\n").map((line) => displayText(line, { max: 400 })),
    );}
  return report.succeeded === 0 ? 0 : 1;
}

/** Every run of a suite; quick: its last task and first attack, at the first result. */
function* plan(suite: Suite, quick: boolean, variants: readonly Variant[]): Generator<
  Parameters<Awaited<ReturnType<typeof setStage>>["play"]>[0]
> {
  const tasks = quick ? suite.tasks.slice(-1) : suite.tasks;
  const injections = quick ? suite.injections.slice(0, 1) : suite.injections;
  const oracles: readonly Oracle[] = quick ? ["exact"] : ORACLES;
  for (const task of tasks) {
    for (const oracle of ["exact", "absent"] as const) yield { task, variant: "at", oracle };
    for (const injection of injections) {
      for (const variant of variants) {
        for (const oracle of oracles) yield { task, injection, variant, oracle };
      }
    }
  }
}

async function suitesOf(command: Redteam): Promise<readonly Suite[]> {
  const { hands, parsed } = command;
  const imported = flag(parsed, "import");
  if (imported !== undefined) {
    const [kind, folder] = [imported.split("=", 1)[0], imported.slice(imported.indexOf("=") + 1)];
    if (kind !== "injecagent" || folder === "") {
      throw new Fault(
        "invalidInput",
        "Cannot import a suite: give injecagent=DIR, a checkout of it",
      );
    }
    const file = join(absolute(hands.around, folder), "data", "test_cases_dh_base.json");
    const most = Number(flag(parsed, "most") ?? 20);
    if (!Number.isInteger(most) || most < 1) {
      throw new Fault("invalidInput", "Cannot import a suite: --most is no whole number above 0");
    }
    return injecAgentSuite(fileText(hands, file), most);
  }
  if (!has(parsed, "own")) return shippedSuites(command, "suites");
  const listed: unknown = JSON.parse((await hands.redteam.own(["mcp", "list", "--json"])).stdout);
  const names = Array.isArray(listed) ? listed.map((each) => String(Object(each).name)) : [];
  const found: Suite[] = [];
  for (const name of names) {
    const suite = ownSuite((await hands.redteam.own(["mcp", "review", name, "--json"])).stdout);
    if (suite === undefined) hands.screen.say(`${name}  no tool of it changes anything`);
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
