/** The work of {@link TRIGGER_COMMANDS}; each is loaded when it is asked for. @module */
import type { Work } from "../command.ts";

/** The work by the words of its command. */
export const TRIGGER_WORK: Readonly<Record<string, Work>> = {
  "schedule list": async (command) =>
    await (await import("./trigger_commands.ts")).scheduleList(command),
  "schedule run": async (command) =>
    await (await import("./trigger_commands.ts")).scheduleRun(command),
  "webhook list": async (command) =>
    await (await import("./trigger_commands.ts")).webhookList(command),
  "webhook secret": async (command) =>
    await (await import("./trigger_commands.ts")).webhookSecret(command),
  "webhook test": async (command) =>
    await (await import("./trigger_commands.ts")).webhookTest(command),
  backup: async (command) => await (await import("./backup_commands.ts")).backupCommand(command),
  restore: async (command) => await (await import("./backup_commands.ts")).restoreCommand(command),
  "serve unit": async (command) => await (await import("./unit.ts")).serveUnit(command),
  "serve container": async (command) => await (await import("./unit.ts")).serveContainer(command),
};
