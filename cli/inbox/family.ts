/** The commands over inboxes. @module */
import { type CommandSpec, simple } from "../arguments/command_spec.ts";
import { family } from "../arguments/family.ts";
import { BASIC } from "../powers.ts";

/** `inbox …`, in the order of help. */
const INBOX_COMMANDS: readonly CommandSpec[] = [
  simple("inbox list", "", [0, 0], "messages of agents, peers and programs that wait", [
    "remit inbox list",
    "remit inbox list --where delivered --box agent:desk",
  ], [
    { name: "box", value: "BOX", help: "of one inbox: agent:NAME, task:ID or host" },
    {
      name: "where",
      value: "queued|held|quarantined|delivered|dismissed|expired|all",
      help: "those that stand so; without it, those that wait",
    },
  ]),
  simple("inbox show", "ID", [1, 1], "one message, whole, and what it asks for", [
    "remit inbox show m3k9…",
  ]),
  simple("inbox release", "ID", [1, 1], "let a held or quarantined message through, as data", [
    "remit inbox release m3k9…",
  ]),
  simple("inbox dismiss", "ID", [1, 1], "put a message away: no agent sees it", [
    "remit inbox dismiss m3k9… --say 'Not our order'",
  ], [{ name: "say", value: "WHY", help: "why; a peer is told only that it was declined" }]),
  simple("inbox mute", "SENDER", [1, 1], "hear a sender no more, until you say so", [
    "remit inbox mute peer:acme",
  ]),
  simple("inbox unmute", "SENDER", [1, 1], "hear a sender again", ["remit inbox unmute peer:acme"]),
  simple("inbox reply", "ID TEXT", [2, 2], "answer a message, in your own name", [
    "remit inbox reply m3k9… 'On Tuesday'",
  ]),
];

/** The commands over inboxes. */
export const INBOX = family(INBOX_COMMANDS, [...BASIC, "keyboard", "mcpStore", "models"], {
  "inbox list": async () => (await import("./inbox_commands.ts")).inboxList,
  "inbox show": async () => (await import("./inbox_commands.ts")).inboxShow,
  "inbox release": async () => (await import("./inbox_commands.ts")).inboxRelease,
  "inbox dismiss": async () => (await import("./inbox_commands.ts")).inboxDismiss,
  "inbox mute": async () => (await import("./inbox_commands.ts")).inboxMute,
  "inbox unmute": async () => (await import("./inbox_commands.ts")).inboxUnmute,
  "inbox reply": async () => (await import("./inbox_commands.ts")).inboxReply,
});
