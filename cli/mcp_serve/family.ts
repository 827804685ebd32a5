/** The commands that serve hosts, for help, parsing and dispatch. @module */
import {
  type CommandSpec,
  type FlagSpec,
  MODEL,
  MOUNT,
  PROFILE,
  simple,
} from "../arguments/command_spec.ts";
import { family } from "../arguments/family.ts";

const SERVE: readonly FlagSpec[] = [
  { name: "http", help: "serve at an address instead of over this pipe; 127.0.0.1:7431" },
  PROFILE,
  MOUNT,
  { name: "agent", value: "NAME", help: "only what this agent of remit.yaml may do" },
  { name: "wiki", value: "FOLDER", help: "the wiki that hosts may read" },
  MODEL,
  {
    name: "host",
    value: "HOST",
    many: true,
    help: "with --http: one more value of Host that is let in",
  },
  { name: "origin", value: "URL", many: true, help: "with --http: a page's origin that is let in" },
  {
    name: "print",
    value: "claude|cursor|vscode",
    help: "print the block for a host's configuration",
  },
];

/** `mcp serve`, `mcp token`. */
const MCP_SERVE_COMMANDS: readonly CommandSpec[] = [
  simple("mcp serve", "[HOST:PORT]", [0, 1], "be an MCP server: gated tools, the wiki, run_task", [
    "remit mcp serve --mount notes=~/notes",
    "remit mcp serve --print claude --mount notes=~/notes",
    "remit mcp serve --http 127.0.0.1:7431",
  ], SERVE),
  simple("mcp token", "create|list|revoke [NAME]", [1, 2], "tokens that hosts show over HTTP", [
    "remit mcp token create laptop --profile guest",
    "remit mcp token revoke laptop",
  ], [
    PROFILE,
    { name: "name", value: "NAME", help: "with create: how you call it" },
  ]),
  simple(
    "fleet token",
    "create|list|revoke [NAME]",
    [1, 2],
    "tokens that people show with --fleet",
    [
      "remit fleet token create carol",
      "remit fleet token revoke carol",
    ],
    [
      PROFILE,
      { name: "name", value: "NAME", help: "with create: how you call it" },
    ],
  ),
];

/** The family of commands of the MCP server, and of hosts' tokens. */
export const MCP_SERVE = family(MCP_SERVE_COMMANDS, [
  "screen",
  "disk",
  "environment",
  "kernels",
  "interrupts",
  "keyboard",
  "mcpStore",
  "models",
  "serve",
  "wikis",
], {
  "mcp serve": async () => (await import("./command.ts")).mcpServe,
  "mcp token": async () => (await import("./token_commands.ts")).mcpToken,
  "fleet token": async () => (await import("./token_commands.ts")).fleetToken,
});
