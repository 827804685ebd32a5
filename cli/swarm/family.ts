/** The commands `remit swarm …`. @module */
import { ANSWERS, MODEL, MOUNT, ON_QUESTION, simple } from "../arguments/command_spec.ts";
import { family } from "../arguments/family.ts";
import { BASIC } from "../powers.ts";
import { MODEL_FLAGS } from "../model/command/family.ts";

/** The commands over swarms: many agents on one repository. */
export const SWARM = family(
  [
    simple(
      "swarm run",
      "[FILE]",
      [0, 1],
      "issues of a repository to workers, checks, reviewers, a merge queue; one diff for you",
      [
        "remit swarm run swarm.yaml",
        "remit swarm run -p 'Greet in French, too' --mount repo=. --model anthropic:NAME",
      ],
      [
        { name: "request", short: "p", value: "TEXT", help: "one issue, in place of a file" },
        { ...MOUNT, help: "the repository's folder, in place of the file's" },
        MODEL,
        ...MODEL_FLAGS,
        ON_QUESTION,
        ANSWERS,
      ],
    ),
    simple(
      "swarm resume",
      "SWARM",
      [1, 1],
      "go on with a swarm that was stopped or killed, or show its diff again",
      ["remit swarm resume sw0123456789ab"],
      [MODEL, ...MODEL_FLAGS, ON_QUESTION, ANSWERS],
    ),
    simple("swarm list", "[SWARM]", [0, 1], "the swarms of this state, or where one stands", [
      "remit swarm list",
    ]),
    simple("swarm report", "", [0, 0], "how roles and models did: finished, rejected, cost", [
      "remit swarm report",
    ]),
    simple("swarm stop", "SWARM", [1, 1], "end a swarm that runs; its tasks are cancelled", [
      "remit swarm stop sw0123456789ab",
    ]),
  ],
  [
    ...BASIC,
    ...["interrupts", "keyboard"] as const,
    ...["mcpStore", "models", "swarm", "wikis"] as const,
  ],
  {
    "swarm run": async () => (await import("./run_command.ts")).swarmRunCommand,
    "swarm resume": async () => (await import("./run_command.ts")).swarmResumeCommand,
    "swarm list": async () => (await import("./view_commands.ts")).swarmListCommand,
    "swarm report": async () => (await import("./view_commands.ts")).swarmReportCommand,
    "swarm stop": async () => (await import("./view_commands.ts")).swarmStopCommand,
  },
);
