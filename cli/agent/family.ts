/** The commands `remit agent …`. @module */
import { simple } from "../arguments/command_spec.ts";
import { family } from "../arguments/family.ts";
import { BASIC } from "../powers.ts";

/** The commands over foreign agents. */
export const AGENTS = family(
  [
    simple(
      "agent add",
      "claude|codex|gemini|goose|opencode|COMMAND...",
      [1, 32],
      "run an agent of others within walls: over a copy, its key held outside",
      ["remit agent add codex --from ~/agents/codex", "remit agent add my-agent acp --name mine"],
      [
        { name: "name", value: "NAME", help: "what it is called; absent: its program's name" },
        { name: "from", value: "DIR", help: "where its npm package is installed" },
        { name: "use", value: "MODEL", help: "the model that it asks its provider for" },
        { name: "provider", value: "ORIGIN", help: "where it asks: https://HOST" },
        { name: "wire", value: "anthropic|openai|gemini", help: "how its provider is spoken to" },
        { name: "secret", value: "NAME", help: "the secret that the relay puts in as its key" },
        {
          name: "env",
          value: "NAME=VALUE",
          many: true,
          help: "a variable of its environment; ${BASE} in it is its provider's address",
        },
        { name: "price", value: "IN/OUT", help: "US dollars for a million tokens of that model" },
        { name: "tokens", value: "N", help: "most tokens that one run may use; 2,000,000" },
      ],
    ),
    simple("agent list", "", [0, 0], "agents of others that were added", ["remit agent list"]),
    simple("agent show", "NAME", [1, 1], "how one is started, and what it may reach", [
      "remit agent show codex",
    ]),
    simple("agent remove", "NAME", [1, 1], "forget one", ["remit agent remove codex"]),
  ],
  BASIC,
  {
    "agent add": async () => (await import("./commands.ts")).addCommand,
    "agent list": async () => (await import("./commands.ts")).listCommand,
    "agent show": async () => (await import("./commands.ts")).showCommand,
    "agent remove": async () => (await import("./commands.ts")).removeCommand,
  },
);
