/** The work of `INBOX_COMMANDS`; each is loaded when it is asked for. @module */
import type { Work } from "../command.ts";

/** See the module. */
export const INBOX_WORK: Readonly<Record<string, Work>> = {
  "inbox list": async (command) => await (await import("./inbox_commands.ts")).inboxList(command),
  "inbox show": async (command) => await (await import("./inbox_commands.ts")).inboxShow(command),
  "inbox release": async (command) =>
    await (await import("./inbox_commands.ts")).inboxRelease(command),
  "inbox dismiss": async (command) =>
    await (await import("./inbox_commands.ts")).inboxDismiss(command),
  "inbox mute": async (command) => await (await import("./inbox_commands.ts")).inboxMute(command),
  "inbox unmute": async (command) =>
    await (await import("./inbox_commands.ts")).inboxUnmute(command),
  "inbox reply": async (command) => await (await import("./inbox_commands.ts")).inboxReply(command),
};
