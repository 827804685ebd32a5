/** `remit eval`: measures any model on tasks with checks. @module */
import { play, plotOf, type Score, setStage } from "../../redteam/mod.ts";
import { displayText } from "../../text/mod.ts";
import { flag } from "../arguments/parse_arguments.ts";
import { type Command, printJson, printLines } from "../command.ts";
import { absolute } from "../../launch/disk/places.ts";
import type { Basic } from "../powers.ts";
import { shippedSuites, takeRules } from "./suites.ts";

/** `eval`; exits with 1 when a task failed its checks. */
export async function evalCommand(command: Command<Basic | "redteam">): Promise<number> {
  const { powers, parsed } = command;
  const model = flag(parsed, "model");
  const scores: Score[] = [];
  for (const suite of shippedSuites(command, "evals")) {
    const workshop = powers.redteam.open();
    try {
      takeRules(command, workshop);
      const stage = await setStage(suite, workshop, powers.redteam);
      for (const task of suite.tasks) {
        const came = await play(stage, suite, { task, variant: "at", oracle: "exact" }, model);
        const { useful: passed, tokens, questions, ms } = came;
        scores.push({ suite: suite.suite, task: task.id, passed, tokens, questions, ms });
      }
    } finally {
      await workshop.close();
    }
  }
  const name = model ?? "scripted";
  const passed = scores.filter((each) => each.passed).length;
  const plot = flag(parsed, "plot");
  if (plot !== undefined) {
    powers.disk.write(absolute(powers.environment, plot), plotOf(name, scores));
  }
  if (command.json) printJson(command, { model: name, tasks: scores.length, passed, scores });
  else {
    printLines(command, [
      ...scores.map(({ suite, task, passed, tokens, questions, ms }) =>
        `${passed ? "✓" : "✗"} ${
          `${suite}/${task}`.padEnd(28)
        } ${tokens} tokens  ${questions} questions  ${ms} ms`
      ),
      `${displayText(name, { max: 80 })}: ${passed} of ${scores.length} passed`,
    ]);
  }
  return passed === scores.length ? 0 : 1;
}
