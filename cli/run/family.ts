/** The commands that start or resume a run or session. @module */
import {
  AGENT,
  ANSWERS,
  BUDGET,
  type FlagSpec,
  MODEL,
  MOUNT,
  ON_QUESTION,
  PROFILE,
  simple,
  TOOLS,
  TRACE,
  WIKI,
} from "../arguments/command_spec.ts";
import { family } from "../arguments/family.ts";
import { BASIC } from "../powers.ts";
import { MODEL_FLAGS } from "../model/command/family.ts";

const RUN_FLAGS: readonly FlagSpec[] = [
  { name: "request", short: "p", value: "TEXT", help: "what to do; - reads standard input" },
  MOUNT,
  MODEL,
  ...MODEL_FLAGS,
  AGENT,
  BUDGET,
  PROFILE,
  ON_QUESTION,
  ANSWERS,
  TOOLS,
  TRACE,
  WIKI,
  {
    name: "output-format",
    value: "text|json|stream-json",
    help: "json is --json; stream-json: JSON lines as they happen, the document last",
  },
  {
    name: "schema",
    value: "FILE|template:NAME",
    help: "the answer is one JSON value that fits this JSON Schema, else the command fails",
  },
  {
    name: "intake",
    help:
      "the model says first what the task is: objective, risk, needs, what is unclear, tools and folders; it gives up the others",
  },
  {
    name: "reasons",
    help: "with each question the model says why the call is needed and what it touches",
  },
  {
    name: "story",
    value: "NAME",
    help: "play a story: desk (the demo), exec, web, wiki, mcp, a2a",
  },
  {
    name: "anywhere",
    help: "queue it: any kernel of the fleet (--store) that has its mounts takes it",
  },
  {
    name: "planned",
    help: "the model writes one program, you agree to its calls once, and it sees no result",
  },
  { name: "plan", help: "only read and propose: nothing may be staged or applied" },
];

/** The commands that start or resume a run or session. */
export const RUN = family(
  [
    simple("", "", [0, 0], "open a session over this folder", ["remit", "remit -c"], [
      { name: "continue", short: "c", help: "go on with the last session" },
      { name: "name", value: "NAME", help: "with -c: go on with the conversation of this name" },
      MOUNT,
      MODEL,
      ...MODEL_FLAGS,
      BUDGET,
      WIKI,
      TOOLS,
      TRACE,
    ]),
    simple("run", "[REQUEST | -]", [0, 1], "hand an agent one request; without any, the demo", [
      "remit run",
      "remit run -p 'Tidy my notes' --mount desk=~/notes --model ollama:qwen3:4b",
      "git diff | remit run - --mount code=.:ro --model anthropic:NAME",
    ], RUN_FLAGS),
    simple("resume", "TASK|NAME", [1, 1], "go on with a task that stopped or waits", [
      "remit resume t1",
    ], [TRACE]),
  ],
  [
    ...BASIC,
    "gateways",
    "interrupts",
    "keyboard",
    "mcpStore",
    "models",
    "readInput",
    "schemas",
    "serveSite",
    "startPeer",
    "wikis",
  ],
  {
    "": async () => (await import("../session/session_command.ts")).sessionCommand,
    run: async () => (await import("./run_command.ts")).runCommand,
    resume: async () => (await import("./run_command.ts")).resumeCommand,
  },
);
