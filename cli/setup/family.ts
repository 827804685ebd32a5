/** The commands that set Remit up and show its status. @module */
import { type CommandSpec, type FlagSpec, simple } from "../arguments/command_spec.ts";
import { family } from "../arguments/family.ts";
import { BASIC } from "../powers.ts";

const FOLDER: FlagSpec = {
  name: "folder",
  help: "the remit.yaml of this folder in place of your own",
};

const SETUP_COMMANDS: readonly CommandSpec[] = [
  simple("init", "[DIR]", [0, 1], "write a remit.yaml to begin with, where there is none", [
    "remit init",
    "remit init --own",
  ], [{ name: "own", help: "your own one, which holds everywhere" }]),
  simple("status", "", [0, 0], "kernel, model, this folder, what waits, what today cost", [
    "remit status",
  ]),
  simple("config get", "[KEY]", [0, 1], "what your remit.yaml says", [
    "remit config get model",
    "remit config get limits --folder",
  ], [FOLDER]),
  simple("config set", "KEY VALUE", [2, 2], "change one value; comments stay as they are", [
    "remit config set limits.money 2",
    `remit config set 'clearance."model:api.anthropic.com"' internal`,
  ], [FOLDER]),
  simple("config unset", "KEY", [1, 1], "take one value out", ["remit config unset model"], [
    FOLDER,
  ]),
  simple("config path", "", [0, 0], "which files are read here", ["remit config path"]),
  simple("completion", "bash|zsh|fish", [1, 1], "print what a shell loads to complete at Tab", [
    "source <(remit completion bash)",
    "remit completion fish | source",
  ]),
  simple("complete", "-- [WORD]…", [0, 256], "what may come next, for shells; starts no kernel", [
    "remit complete -- model use ''",
  ]),
  simple("explain", "[WORD]", [0, 1], "what a word means: RED, label, staged …", [
    "remit explain RED",
  ]),
  simple("version", "", [0, 0], "the version, and those of the formats it keeps", [
    "remit version",
  ]),
  simple("upgrade", "", [0, 0], "whether there is a newer version, and how to get it", [
    "remit upgrade",
  ]),
];

/** The commands that set Remit up and show its status. */
export const SETUP = family(SETUP_COMMANDS, [...BASIC, "wikis"], {
  init: async () => (await import("./init_command.ts")).initCommand,
  status: async () => (await import("./status_command.ts")).statusCommand,
  "config get": async () => (await import("./config_command.ts")).configGet,
  "config set": async () => (await import("./config_command.ts")).configSet,
  "config unset": async () => (await import("./config_command.ts")).configSet,
  "config path": async () => (await import("./config_command.ts")).configPath,
  completion: async () => (await import("./complete_command.ts")).completionCommand,
  complete: async () => (await import("./complete_command.ts")).completeCommand,
  explain: async () => (await import("./explain_command.ts")).explainCommand,
  version: async () => (await import("./version_command.ts")).versionCommand,
  upgrade: async () => (await import("./version_command.ts")).upgradeCommand,
});
