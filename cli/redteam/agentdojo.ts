/** Plays AgentDojo's pairs on several kernels in parallel. @module */
import {
  type Dojo,
  type DojoPair,
  type DojoRun,
  openDojo,
  type Oracle,
  type RunOutcome,
  setStage,
  type Stage,
  type Variant,
} from "../../redteam/mod.ts";
import { Fault } from "../../contracts/base/mod.ts";
import { displayText } from "../../text/mod.ts";
import { flag } from "../arguments/parse_arguments.ts";
import type { Command } from "../command.ts";
import { absolute } from "../../launch/disk/places.ts";
import type { Basic } from "../powers.ts";
import { takeRules, wholeNumber } from "./suites.ts";

/** The part of AgentDojo to play. */
interface DojoChoice {
  /** Absolute. */
  readonly folder: string;
  /** One of AgentDojo's suites; absent: all. */
  readonly only?: string | undefined;
  readonly variants: readonly Variant[];
  readonly persons: readonly Oracle[];
  /** Plays each task as one program. */
  readonly planned: boolean;
}

/**
 * Plays each user task with each person, then each pair of task and attack with each variant and person.
 * @throws Fault `invalidInput` for an unknown suite or release, `unavailable` where a run breaks off
 */
export async function playAgentDojo(
  command: Command<Basic | "redteam">,
  { folder, only, variants, persons, planned }: DojoChoice,
): Promise<readonly RunOutcome[]> {
  const { redteam, screen } = command.powers;
  const driver = redteam.driver("agentdojo_driver.py", folder);
  try {
    const dojo = await openDojo(driver, flag(command.parsed, "release") ?? "v1");
    const suites = dojo.suites.filter(({ suite }) => only === undefined || suite === only);
    if (suites.length === 0) {
      const names = dojo.suites.map(({ suite }) => suite).join(", ");
      throw new Fault(
        "invalidInput",
        `Cannot play AgentDojo: it has no suite ${JSON.stringify(only)}; it has ${names}`,
      );
    }
    const pairs = chosen(
      suites.flatMap(({ suite }) => dojo.pairs(suite)),
      flag(command.parsed, "most") === "0" ? 0 : wholeNumber(command, "most"),
    );
    const came: RunOutcome[] = [];
    for (const suite of suites) {
      const runs = pairs.filter((pair) => pair.suite === suite.suite).flatMap((pair): DojoRun[] =>
        (pair.injection === undefined ? (["at"] as const) : variants).flatMap((variant) =>
          persons.map((oracle) => ({ pair, variant, oracle, planned }))
        )
      );
      const began = redteam.now();
      came.push(...await playSuite(command, { dojo, suite, runs }));
      const seconds = Math.round((redteam.now() - began) / 1_000);
      screen.say(`agentdojo/${suite.suite}  ${runs.length} runs in ${seconds} s`);
    }
    return came;
  } finally {
    await driver.close();
  }
}

/** At most `max` attacks, evenly spread, with the user tasks they attack; for 0, all user tasks alone. */
function chosen(pairs: readonly DojoPair[], max: number | undefined): readonly DojoPair[] {
  const attacks = pairs.filter(({ injection }) => injection !== undefined);
  if (max === undefined || attacks.length <= max) return pairs;
  if (max === 0) return pairs.filter(({ injection }) => injection === undefined);
  const few = Array.from(
    { length: max },
    (_, at) => attacks[Math.floor(at * attacks.length / max)],
  ).filter((pair) => pair !== undefined);
  const tasks = new Set(few.map(({ suite, task }) => `${suite}/${task}`));
  return [
    ...pairs.filter(({ suite, task, injection }) =>
      injection === undefined && tasks.has(`${suite}/${task}`)
    ),
    ...few,
  ];
}

/** Plays runs in lanes: each has its own state, kernel and server, and takes the next run. */
async function playSuite(
  command: Command<Basic | "redteam">,
  { dojo, suite, runs }: {
    readonly dojo: Dojo;
    readonly suite: Dojo["suites"][number];
    readonly runs: readonly DojoRun[];
  },
): Promise<readonly RunOutcome[]> {
  const { environment, disk, redteam, screen } = command.powers;
  const file = flag(command.parsed, "runs");
  const left = [...runs];
  const came: RunOutcome[] = [];
  /** Repeats a run once: a machine under load may end one of its processes. */
  const twice = async (stage: Stage, run: DojoRun): Promise<RunOutcome> => {
    try {
      return await dojo.play(stage, run);
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== "unavailable") throw error;
      screen.say(`again: ${displayText(error.message, { max: 300 })}`);
      return await dojo.play(stage, run);
    }
  };
  const lane = async (): Promise<void> => {
    const workshop = redteam.open();
    try {
      takeRules(command, workshop);
      const stage = await setStage(suite, workshop, redteam);
      for (let run = left.shift(); run !== undefined; run = left.shift()) {
        const each = await twice(stage, run);
        came.push(each);
        if (file !== undefined) {
          disk.append(absolute(environment, file), `${JSON.stringify(each)}\n`);
        }
        screen.hint(`agentdojo/${suite.suite}  ${came.length} of ${runs.length}`);
      }
    } catch (error) {
      left.length = 0;
      throw error;
    } finally {
      await workshop.close();
    }
  };
  const jobs = Math.min(wholeNumber(command, "jobs") ?? 2, runs.length);
  const ended = await Promise.allSettled(Array.from({ length: jobs }, lane));
  for (const each of ended) if (each.status === "rejected") throw each.reason;
  return came;
}
