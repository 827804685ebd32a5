/** The commands over plugins and secrets, for help, parsing and dispatch. @module */
import {
  ANSWERS,
  type CommandSpec,
  MOUNT,
  ON_QUESTION,
  PROFILE,
  simple,
  TRACE,
  WIKI,
} from "../arguments/command_spec.ts";
import { family } from "../arguments/family.ts";

/** `tool …` and `secret …`, in the order in which help lists them. */
const PLUGIN_COMMANDS: readonly CommandSpec[] = [
  simple("tool list", "", [0, 0], "all tools: of Remit and of the plugins that you added", [
    "remit tool list",
  ]),
  simple("tool inspect", "NAME|FILE|FOLDER", [1, 1], "what a tool takes; what a plugin asks for", [
    "remit tool inspect file_read",
    "remit tool inspect text",
    "remit tool inspect target/plugin.wasm",
  ]),
  simple(
    "tool add",
    "FILE.wasm|FOLDER",
    [1, 1],
    "review a plugin and take it in; any change on disk ends this",
    [
      "remit tool add ./weather",
      "remit tool add count_vowels.wasm --tool count_vowels=count_vowels",
      "remit tool add plugin.wasm --name notes --function fs.read --yes",
    ],
    [
      { name: "yes", short: "y", help: "add it without asking; the review is still shown" },
      { name: "name", value: "NAME", help: "of a module without tool.yaml: the plugin's name" },
      {
        name: "tool",
        value: "NAME[=EXPORT]",
        many: true,
        help: "of a module without tool.yaml: a tool, and the export that it is",
      },
      {
        name: "function",
        value: "FUNCTION",
        many: true,
        help: "of a module without tool.yaml: a host function that it asks for",
      },
      { name: "pages", value: "N", help: "of a module without tool.yaml: memory, in 64 KiB" },
      { name: "description", value: "TEXT", help: "of a module without tool.yaml: for the model" },
      { name: "licence", value: "TEXT", help: "of a module without tool.yaml" },
    ],
  ),
  simple("tool remove", "NAME", [1, 1], "take a plugin out", ["remit tool remove weather"]),
  simple(
    "tool call",
    "TOOL [JSON | -]",
    [1, 2],
    "one call of one tool, through the gate",
    [
      `remit tool call file_list '{"path":"desk"}' --mount desk=.:ro`,
      `remit tool call exec '{"code":"return 6 * 7"}'`,
    ],
    [MOUNT, WIKI, ON_QUESTION, ANSWERS, TRACE, PROFILE],
  ),
  simple("tool new", "NAME", [1, 1], "make a folder with a tool that works", [
    "remit tool new weather",
    "remit tool new hash --lang as",
  ], [{ name: "lang", value: "ts|as", help: "TypeScript (the default), or AssemblyScript" }]),
  simple("tool build", "[FOLDER]", [0, 1], "build a plugin into FOLDER/build", [
    "remit tool build weather",
  ]),
  simple("tool test", "[FOLDER]", [0, 1], "build a plugin and run its tool_test.yaml", [
    "remit tool test weather",
  ]),
  simple("tool dev", "[FOLDER]", [0, 1], "test a plugin whenever a file is saved", [
    "remit tool dev weather",
  ]),
  simple("tool sign", "[FOLDER]", [0, 1], "build a plugin and sign it", [
    "remit tool sign weather --key my.pem",
  ], [{ name: "key", value: "FILE", help: "an Ed25519 private key in PEM" }]),
  simple(
    "secret set",
    "NAME",
    [1, 1],
    "keep a key for one header of one origin; its value is typed or piped in",
    [
      "remit secret set tracker --origin https://api.example.org --header authorization --prefix 'Bearer '",
      "remit secret set tracker --origin https://api.example.org --header x-api-key < key.txt",
    ],
    [
      { name: "origin", value: "ORIGIN", help: "the one origin that it is sent to" },
      { name: "header", value: "HEADER", help: "the header that it is sent in" },
      { name: "prefix", value: "TEXT", help: "what stands before it in the header" },
    ],
  ),
  simple("secret list", "", [0, 0], "names and places of secrets, never values", [
    "remit secret list",
  ]),
  simple("secret remove", "NAME", [1, 1], "forget a secret", ["remit secret remove tracker"]),
];

/** The family of commands over plugins, tools and secrets. */
export const TOOL = family(PLUGIN_COMMANDS, [
  "screen",
  "disk",
  "environment",
  "kernels",
  "interrupts",
  "keyboard",
  "mcpStore",
  "models",
  "plugins",
  "readInput",
  "watch",
  "wikis",
], {
  "tool list": async () => (await import("../tool/commands.ts")).toolList,
  "tool inspect": async () => (await import("../tool/inspect_command.ts")).toolInspect,
  "tool add": async () => (await import("../tool/commands.ts")).toolAdd,
  "tool remove": async () => (await import("../tool/commands.ts")).toolRemove,
  "tool call": async () => (await import("../tool/call_command.ts")).toolCall,
  "tool new": async () => (await import("../tool/make_commands.ts")).toolNew,
  "tool build": async () => (await import("../tool/make_commands.ts")).toolBuild,
  "tool test": async () => (await import("../tool/make_commands.ts")).toolTest,
  "tool dev": async () => (await import("../tool/make_commands.ts")).toolDev,
  "tool sign": async () => (await import("../tool/make_commands.ts")).toolSign,
  "secret set": async () => (await import("../secret/commands.ts")).secretSet,
  "secret list": async () => (await import("../secret/commands.ts")).secretList,
  "secret remove": async () => (await import("../secret/commands.ts")).secretRemove,
});
