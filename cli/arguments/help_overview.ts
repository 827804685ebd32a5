/** The screen of `remit --help`, which names every command once. @module */
import { COMMANDS } from "./command_table.ts";

/** The commands for beginners, shown with their descriptions. */
const FIRST: readonly string[] = [
  "",
  "run",
  "questions",
  "answer",
  "task list",
  "log",
  "diff",
  "undo",
  "model list",
  "doctor",
  "stop",
];

/** All other commands by area: their first words. */
const AREAS: Readonly<Record<string, readonly string[]>> = {
  setup: ["init", "status", "config", "version", "upgrade", "completion", "complete", "explain"],
  tasks: ["task", "resume", "conversation", "ctx", "outbox", "ps", "kill", "why"],
  rights: ["can", "grants", "lease", "trust", "sanitize", "key", "secret", "browser"],
  record: ["audit", "cost", "receipt", "backup", "restore"],
  tools: ["tool", "mcp", "model", "redteam", "eval"],
  memory: ["wiki", "sgrep", "sdiff"],
  others: ["a2a", "inbox", "mail", "proposals", "simulate"],
  agents: ["agent", "acp", "swarm", "world", "templates", "resources", "workspace"],
  service: ["serve", "schedule", "webhook", "fleet"],
};

const isFamily = (word: string): boolean =>
  COMMANDS.some(({ name }) => name.startsWith(`${word} `));

function firstLines(): string[] {
  return FIRST.flatMap((name) => {
    const command = COMMANDS.find((each) => each.name === name);
    if (command === undefined) return [];
    return [`  ${`remit ${command.name} ${command.args}`.trim().padEnd(28)}  ${command.help}`];
  });
}

/** The lines between the title and the exit codes. `common`: lines on the flags of every command. */
export function overviewLines(common: readonly string[]): readonly string[] {
  return [
    "Usage: remit [COMMAND] [FLAGS]",
    "",
    ...firstLines(),
    "",
    'And (what ends in … is a family: "remit task --help" names its commands, "remit help all" every one):',
    ...Object.entries(AREAS).map(([area, words]) =>
      `  ${area.padEnd(9)} ${words.map((word) => isFamily(word) ? `${word} …` : word).join(", ")}`
    ),
    "",
    "Every command:",
    ...common,
    "",
    "Examples:",
    "  remit run                      the demo: a scripted model on a copy of a desk",
    "  remit run -p 'Tidy my notes' --mount notes=~/notes --model ollama:qwen3",
    "  remit run --help               what a command takes",
  ];
}

/** Every command with its arguments, one on a line. */
export function everyCommandLines(): readonly string[] {
  const width = Math.max(...COMMANDS.map((each) => `${each.name} ${each.args}`.length));
  return COMMANDS.map(({ name, args, help }) =>
    `  ${(name === "" ? "(none)" : `${name} ${args}`).padEnd(width)}  ${help}`
  );
}
