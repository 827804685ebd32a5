/** The commands over worlds. @module */
import { type FlagSpec, MODEL, simple } from "../arguments/command_spec.ts";
import { family } from "../arguments/family.ts";
import { BASIC } from "../powers.ts";
import { MODEL_FLAGS } from "../model/command/family.ts";

const WORLD: FlagSpec = {
  name: "world",
  value: "NAME",
  help: "which world; needed where the state has several",
};

/** The commands over worlds. docs/world.md. */
export const WORLDS = family(
  [
    simple(
      "world run",
      "FILE",
      [1, 1],
      "let the people of a world live on: each step a task without tools",
      [
        "remit world run examples/npc/aurelian.yaml --hours 16 --model scripted:examples/npc/play.yaml",
        "remit world run village.yaml --hours 1 --model ollama:qwen3:4b",
      ],
      [
        { name: "hours", value: "N", help: "hours of the world; 1 when not given" },
        {
          name: "at-once",
          value: "N",
          help: "steps that are asked for at a time; 4 when not given",
        },
        { name: "fresh", help: "begin anew, and forget what stands" },
        MODEL,
        ...MODEL_FLAGS.filter(({ name }) => name === "seed" || name === "temperature"),
      ],
    ),
    simple(
      "world show",
      "[PERSON]",
      [0, 1],
      "who met, what was said where, what it cost; or what one of them remembers",
      ["remit world show", "remit world show ada", "remit world show --said"],
      [WORLD, { name: "said", help: "everything that was said, with its place and time" }],
    ),
    simple(
      "world review",
      "PERSON N keep|forget",
      [3, 3],
      "say whether a person keeps a reflection; until then it is RED",
      ["remit world review ada 12 keep"],
      [WORLD],
    ),
  ],
  [
    ...BASIC,
    ...["interrupts", "keyboard", "mcpStore", "models", "wikis"] as const,
  ],
  {
    "world run": async () => (await import("./run_command.ts")).worldRun,
    "world show": async () => (await import("./show_commands.ts")).worldShow,
    "world review": async () => (await import("./show_commands.ts")).worldReview,
  },
);
