/** The commands over mail and proposals. @module */
import { type CommandSpec, type FlagSpec, MODEL, simple } from "../arguments/command_spec.ts";
import { family } from "../arguments/family.ts";
import { BASIC } from "../powers.ts";

const ATTACH: FlagSpec = {
  name: "attach",
  value: "NAME=JSON",
  many: true,
  help:
    "something that the message carries: extended JSON, or agent:NAME; @NAME in the text is its place",
};
const WHY: FlagSpec = { name: "why", value: "TEXT", help: "words to the agent" };

/** `mail …`, `proposals …` and `simulate`, in the order of help. */
const MAIL_COMMANDS: readonly CommandSpec[] = [
  simple("mail list", "", [0, 0], "mail that agents sent to you", ["remit mail list"]),
  simple("mail show", "MESSAGE", [1, 1], "one of them, whole", ["remit mail show m3k9…"]),
  simple("mail send", "AGENT|TASK TEXT", [2, 2], "send an agent a message", [
    "remit mail send lal 'Please increment @counter' --attach counter=41",
    `remit mail send t1 'This big: @n' --attach 'n="+12345678901234567890"'`,
  ], [ATTACH]),
  simple("mail adopt", "MESSAGE EDGE", [2, 2], "print what a message carries", [
    "remit mail adopt m3k9… report",
  ]),
  simple("mail dismiss", "MESSAGE", [1, 1], "put a message aside", ["remit mail dismiss m3k9…"]),
  simple("mail resolve", "MESSAGE JSON", [2, 2], "answer a request with a value", [
    `remit mail resolve m3k9… '{"limit":"+5"}'`,
  ]),
  simple("mail reject", "MESSAGE REASON", [2, 2], "decline a request", [
    "remit mail reject m3k9… 'Not today'",
  ]),
  simple("proposals list", "", [0, 0], "programs that agents propose and that wait for you", [
    "remit proposals list",
  ]),
  simple("proposals show", "PROPOSAL", [1, 1], "one of them, exactly as it would run", [
    "remit proposals show q3k9…",
  ]),
  simple("proposals grant", "PROPOSAL", [1, 1], "let exactly this program run", [
    "remit proposals grant q3k9…",
  ]),
  simple("proposals reject", "PROPOSAL REASON", [2, 2], "refuse it; the agent hears why", [
    "remit proposals reject q3k9… 'The counter is not yours'",
  ]),
  simple("proposals counter", "PROPOSAL FILE", [2, 2], "refuse it and propose another program", [
    "remit proposals counter q3k9… safer.js --name counter=my-counter --result count",
  ], [
    {
      name: "name",
      value: "CODE=EDGE",
      many: true,
      help: "a name in the program, and the agent's petname for it",
    },
    { name: "result", value: "NAME", help: "the petname of its result" },
    WHY,
  ]),
  simple("simulate", "FILE", [1, 1], "play mail and your answers of a file against any model", [
    "remit simulate counter.yaml --model scripted:play.yaml",
  ], [MODEL]),
];

/** The commands over mail and proposals. */
export const MAIL = family(MAIL_COMMANDS, [
  ...BASIC,
  "interrupts",
  "keyboard",
  "mcpStore",
  "models",
  "wikis",
], {
  "mail list": async () => (await import("./mail_commands.ts")).mailList,
  "mail show": async () => (await import("./mail_commands.ts")).mailShow,
  "mail send": async () => (await import("./send_commands.ts")).mailSend,
  "mail adopt": async () => (await import("./mail_commands.ts")).mailAdopt,
  "mail dismiss": async () => (await import("./mail_commands.ts")).mailDismiss,
  "mail resolve": async () => (await import("./send_commands.ts")).mailResolve,
  "mail reject": async () => (await import("./send_commands.ts")).mailReject,
  "proposals list": async () => (await import("./proposal_commands.ts")).proposalsList,
  "proposals show": async () => (await import("./proposal_commands.ts")).proposalsShow,
  "proposals grant": async () => (await import("./proposal_commands.ts")).proposalsGrant,
  "proposals reject": async () => (await import("./proposal_commands.ts")).proposalsReject,
  "proposals counter": async () => (await import("./proposal_commands.ts")).proposalsCounter,
  simulate: async () => (await import("./simulate_command.ts")).simulate,
});
