/** The work of `INBOX_COMMANDS`. @module */
import type { Work } from "../command.ts";
import {
  inboxDismiss,
  inboxList,
  inboxMute,
  inboxRelease,
  inboxReply,
  inboxShow,
  inboxUnmute,
} from "./inbox_commands.ts";

/** See the module. */
export const INBOX_WORK: Readonly<Record<string, Work>> = {
  "inbox list": inboxList,
  "inbox show": inboxShow,
  "inbox release": inboxRelease,
  "inbox dismiss": inboxDismiss,
  "inbox mute": inboxMute,
  "inbox unmute": inboxUnmute,
  "inbox reply": inboxReply,
};
