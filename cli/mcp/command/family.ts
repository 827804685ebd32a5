/** The `mcp` commands, for help, parsing and dispatch. @module */
import {
  ANSWERS,
  type CommandSpec,
  type FlagSpec,
  MOUNT,
  ON_QUESTION,
  PROFILE,
  simple,
  TRACE,
} from "../../arguments/command_spec.ts";
import { family } from "../../arguments/family.ts";

const GRANTS: readonly FlagSpec[] = [
  { name: "read", value: "PATH", many: true, help: "a file or folder that it may read" },
  {
    name: "write",
    value: "PATH",
    many: true,
    help: "a file or folder that it may change: you review each change before it is there",
  },
  {
    name: "direct",
    value: "PATH",
    many: true,
    help: "a file or folder that it may change at once, but for files that run later",
  },
  { name: "net", value: "HOST[:PORT]", many: true, help: "a host that it may reach; port 443" },
  { name: "socket", value: "PATH", many: true, help: "a unix socket that it may connect to" },
  {
    name: "env",
    value: "VAR[=VALUE]",
    many: true,
    help: "a variable of its environment; without a value: yours",
  },
  {
    name: "secret",
    value: "VAR",
    many: true,
    help: "a variable whose value is kept as a secret; it is typed, or piped in",
  },
  {
    name: "header",
    value: "NAME",
    many: true,
    help: "of a server at a URL: a header whose value is kept as a secret",
  },
  {
    name: "reads",
    value: "TOOL,...",
    many: true,
    help: "tools that only read: a process that can change nothing serves them",
  },
  {
    name: "writes",
    value: "TOOL,...",
    many: true,
    help: "tools that change something, whatever they are called",
  },
  {
    name: "sampling",
    value: "TOKENS",
    help: "what it may ask the task's model for, in each task, if you allow each time; 0 is none",
  },
];
const CLEARANCE: FlagSpec = {
  name: "clearance",
  value: "public|internal|secret",
  help: "the most confidential text that it may be told; public where it can send it on",
};
const YES: FlagSpec = {
  name: "yes",
  short: "y",
  help: "agree to what is proposed and approve what is not flagged; it is still shown",
};
const TOOL: FlagSpec = {
  name: "tool",
  value: "TOOL",
  many: true,
  help: "only this tool, by the server's name for it",
};

/** `mcp login`, which the A2A commands reuse. */
export const MCP_LOGIN: CommandSpec = simple(
  "mcp login",
  "NAME",
  [1, 1],
  "log in at a server at a URL, with your browser; its tokens are kept as secrets",
  [
    "remit mcp login tickets",
    `remit mcp login tickets --scope "tickets:read"`,
    "remit mcp login tickets --client-id 0oa1b2c3 --port 8765",
  ],
  [
    { name: "scope", value: "SCOPES", help: "ask for these, separated by spaces, and no others" },
    { name: "issuer", value: "URL", help: "which authorization server, where it names several" },
    { name: "client-id", value: "ID", help: "the id of an app that you registered there" },
    { name: "client-secret", help: "that app has a secret: it is typed, or piped in" },
    { name: "client-document", value: "URL", help: "the address of a description of the app" },
    { name: "port", value: "N", help: "the port on 127.0.0.1 that the browser is sent back to" },
    { name: "yes", short: "y", help: "go on without being asked; what it asks for is still shown" },
  ],
);

/** `mcp …`, in the order in which help lists them. */
const MCP_COMMANDS: readonly CommandSpec[] = [
  simple(
    "mcp add",
    "NAME URL | NAME -- COMMAND...",
    [2, 80],
    "take an MCP server in: fetched, watched once, shown, pinned",
    [
      "remit mcp add files -- npx -y @modelcontextprotocol/server-filesystem ~/notes",
      "remit mcp add files --read ~/notes --yes -- npx -y @modelcontextprotocol/server-filesystem ~/notes",
      "remit mcp add tickets https://mcp.example.org/mcp --header authorization",
    ],
    [...GRANTS, CLEARANCE, YES],
  ),
  simple(
    "mcp import",
    "[FILE]",
    [0, 1],
    "take in the servers that Claude, Cursor and VS Code know, in one table",
    ["remit mcp import", "remit mcp import ~/.cursor/mcp.json", "remit mcp import --yes"],
    [CLEARANCE, YES],
  ),
  simple(
    "mcp review",
    "NAME",
    [1, 1],
    "exactly what would be pinned of a server, and what changed since it was",
    ["remit mcp review files"],
    [{ name: "last", help: "show the last look again, and start nothing" }],
  ),
  simple(
    "mcp approve",
    "[NAME]",
    [0, 1],
    "pin what the last look showed; what is flagged is left out",
    [
      "remit mcp approve files",
      "remit mcp approve --all",
      "remit mcp approve files --tool read_file --flagged",
    ],
    [
      { name: "all", help: "every server that waits for it" },
      TOOL,
      { name: "flagged", help: "what is flagged, too: you have read it" },
    ],
  ),
  simple("mcp list", "", [0, 0], "imported servers, what they may do, which tools are on", [
    "remit mcp list",
  ]),
  simple(
    "mcp call",
    "NAME TOOL [JSON | -]",
    [2, 3],
    "one call of one of its tools, through the gate",
    [`remit mcp call files list_directory '{"path":"/home/me/notes"}'`],
    [MOUNT, ON_QUESTION, ANSWERS, TRACE, PROFILE],
  ),
  simple(
    "mcp tool",
    "NAME on|off TOOL...",
    [3, 200],
    "switch tools of a server on or off",
    ["remit mcp tool files off write_file edit_file"],
  ),
  simple(
    "mcp grant",
    "NAME",
    [1, 1],
    "change what a server may reach; what is taken back ends at once",
    [
      "remit mcp grant files --write ~/notes/inbox",
      "remit mcp grant weather --net api.example.org",
      "remit mcp grant bank --writes get_unread_messages",
      "remit mcp grant files --drop ~/notes",
      "remit mcp grant tickets --clearance internal",
    ],
    [
      ...GRANTS,
      CLEARANCE,
      {
        name: "drop",
        value: "PATH|HOST|VAR",
        many: true,
        help: "a folder, host, variable or header that it may have no more",
      },
    ],
  ),
  simple(
    "mcp inspect",
    "NAME",
    [1, 1],
    "start a server and tell what it says, asks for and takes",
    ["remit mcp inspect files"],
  ),
  simple("mcp log", "NAME", [1, 1], "what a server did and tried, in every task", [
    "remit mcp log files",
  ], [{ name: "limit", value: "N", help: "at most so many lines, the newest; 200" }]),
  MCP_LOGIN,
  simple("mcp revoke", "NAME", [1, 1], "stop a server now, also in tasks that run", [
    "remit mcp revoke files",
  ]),
  simple("mcp remove", "NAME", [1, 1], "stop a server, and forget it and its secrets", [
    "remit mcp remove files",
  ]),
];

/** The family of `mcp` commands. */
export const MCP = family(MCP_COMMANDS, [
  "screen",
  "disk",
  "environment",
  "kernels",
  "interrupts",
  "keyboard",
  "login",
  "mcpStore",
  "models",
  "plugins",
  "readInput",
  "wikis",
], {
  "mcp add": async () => (await import("./add.ts")).mcpAdd,
  "mcp import": async () => (await import("../import/command.ts")).mcpImport,
  "mcp review": async () => (await import("./review.ts")).mcpReview,
  "mcp approve": async () => (await import("./review.ts")).mcpApprove,
  "mcp list": async () => (await import("./show.ts")).mcpList,
  "mcp call": async () => (await import("./call.ts")).mcpCall,
  "mcp tool": async () => (await import("./keep.ts")).mcpTool,
  "mcp grant": async () => (await import("./keep.ts")).mcpGrant,
  "mcp inspect": async () => (await import("./show.ts")).mcpInspect,
  "mcp log": async () => (await import("./show.ts")).mcpLog,
  "mcp login": async () => (await import("./login.ts")).mcpLogin,
  "mcp revoke": async () => (await import("./keep.ts")).mcpRevoke,
  "mcp remove": async () => (await import("./keep.ts")).mcpRemove,
});
