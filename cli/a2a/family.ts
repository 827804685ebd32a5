/** The commands over A2A peers. @module */
import {
  ANSWERS,
  type CommandSpec,
  type FlagSpec,
  MOUNT,
  ON_QUESTION,
  PROFILE,
  simple,
  TRACE,
} from "../arguments/command_spec.ts";
import { MCP_LOGIN } from "../mcp/command/family.ts";
import { family } from "../arguments/family.ts";
import { BASIC } from "../powers.ts";

const YES: FlagSpec = {
  name: "yes",
  short: "y",
  help: "approve what is not flagged; it is still shown",
};
const CLEARANCE: FlagSpec = {
  name: "clearance",
  value: "public|internal|secret",
  help: "the most confidential text that it may be told; public at first",
};
const THROUGH_GATE: readonly FlagSpec[] = [MOUNT, ON_QUESTION, ANSWERS, TRACE, PROFILE];

/** `a2a …`, in the order of help. */
const A2A_COMMANDS: readonly CommandSpec[] = [
  simple(
    "a2a add",
    "URL",
    [1, 1],
    "take a remote agent in as a peer: its card fetched, checked, shown, pinned",
    [
      "remit a2a add https://agents.example.org",
      "remit a2a add http://127.0.0.1:7433 --name desk --token-file token.txt",
    ],
    [
      { name: "name", value: "NAME", help: "what it is called here; else made of its host" },
      {
        name: "secret",
        value: "NAME",
        help: "a secret of `remit secret set`, for its origin, that it is shown",
      },
      {
        name: "token-file",
        value: "FILE",
        help: "a bearer token that it is shown; - is the input",
      },
      CLEARANCE,
      YES,
    ],
  ),
  simple("a2a list", "", [0, 0], "peers, who signed their cards, which skills are on", [
    "remit a2a list",
  ]),
  simple(
    "a2a describe",
    "NAME",
    [1, 1],
    "what was reviewed of a peer: who it is, skills, cost, labels, what it takes",
    ["remit a2a describe desk"],
  ),
  simple(
    "a2a review",
    "NAME",
    [1, 1],
    "exactly what would be pinned of a peer, and what changed since it was",
    ["remit a2a review desk"],
    [{ name: "last", help: "show the last look again, and ask nobody" }],
  ),
  simple(
    "a2a approve",
    "NAME",
    [1, 1],
    "pin what the last look showed; what is flagged is left out",
    ["remit a2a approve desk", "remit a2a approve desk --clearance internal"],
    [
      {
        name: "tool",
        value: "SKILL",
        many: true,
        help: "only this skill, by the peer's name for it",
      },
      { name: "flagged", help: "what is flagged, too: you have read it" },
      CLEARANCE,
    ],
  ),
  simple(
    "a2a send",
    "NAME[/SKILL] TEXT | NAME[/SKILL] -",
    [2, 2],
    "one message to a peer, through the gate; prints what it answers",
    [
      "remit a2a send desk 'When does the north quay open?'",
      "remit a2a send desk/summarize - --file report.md < question.txt",
    ],
    [
      { name: "task", value: "TASK", help: "go on with this task of the peer" },
      { name: "file", value: "FILE", many: true, help: "a text file that is sent along" },
      { name: "no-wait", help: "do not wait for the end of its task" },
      ...THROUGH_GATE,
    ],
  ),
  simple(
    "a2a watch",
    "NAME TASK",
    [2, 2],
    "wait for a task at a peer, and print what became of it",
    ["remit a2a watch desk x3k9"],
    THROUGH_GATE,
  ),
  simple("a2a log", "NAME", [1, 1], "what a peer did and tried, in every task", [
    "remit a2a log desk",
  ], [{ name: "limit", value: "N", help: "at most so many lines, the newest; 200" }]),
  {
    ...MCP_LOGIN,
    name: "a2a login",
    help: "log in at a peer, in your browser; its tokens are kept",
    examples: ["remit a2a login desk"],
  },
  simple("a2a revoke", "NAME", [1, 1], "stop a peer now, also in tasks that run", [
    "remit a2a revoke desk",
  ]),
  simple("a2a remove", "NAME", [1, 1], "stop a peer, and forget it and its secrets", [
    "remit a2a remove desk",
  ]),
];

/** The commands over A2A peers. */
export const A2A = family(A2A_COMMANDS, [
  ...BASIC,
  "interrupts",
  "keyboard",
  "login",
  "mcpStore",
  "models",
  "plugins",
  "readInput",
  "wikis",
], {
  "a2a add": async () => (await import("./add_command.ts")).a2aAdd,
  "a2a list": async () => (await import("./peer_commands.ts")).a2aList,
  "a2a describe": async () => (await import("./peer_commands.ts")).a2aDescribe,
  "a2a review": async () => (await import("./peer_commands.ts")).a2aReview,
  "a2a approve": async () => (await import("./peer_commands.ts")).a2aApprove,
  "a2a send": async () => (await import("./send_command.ts")).a2aSend,
  "a2a watch": async () => (await import("./send_command.ts")).a2aWatch,
  "a2a log": async () => (await import("./peer_commands.ts")).a2aLog,
  "a2a login": async () => (await import("./peer_commands.ts")).a2aLogin,
  "a2a revoke": async () => (await import("./peer_commands.ts")).a2aRevoke,
  "a2a remove": async () => (await import("./peer_commands.ts")).a2aRemove,
});
