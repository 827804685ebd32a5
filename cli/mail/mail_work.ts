/** The work of `MAIL_COMMANDS`; each is loaded when it is asked for. @module */
import type { Work } from "../command.ts";

/** See the module. */
export const MAIL_WORK: Readonly<Record<string, Work>> = {
  "mail list": async (command) => await (await import("./mail_commands.ts")).mailList(command),
  "mail show": async (command) => await (await import("./mail_commands.ts")).mailShow(command),
  "mail send": async (command) => await (await import("./send_commands.ts")).mailSend(command),
  "mail adopt": async (command) => await (await import("./mail_commands.ts")).mailAdopt(command),
  "mail dismiss": async (command) =>
    await (await import("./mail_commands.ts")).mailDismiss(command),
  "mail resolve": async (command) =>
    await (await import("./send_commands.ts")).mailResolve(command),
  "mail reject": async (command) => await (await import("./send_commands.ts")).mailReject(command),
  "proposals list": async (command) =>
    await (await import("./proposal_commands.ts")).proposalsList(command),
  "proposals show": async (command) =>
    await (await import("./proposal_commands.ts")).proposalsShow(command),
  "proposals grant": async (command) =>
    await (await import("./proposal_commands.ts")).proposalsGrant(command),
  "proposals reject": async (command) =>
    await (await import("./proposal_commands.ts")).proposalsReject(command),
  "proposals counter": async (command) =>
    await (await import("./proposal_commands.ts")).proposalsCounter(command),
  simulate: async (command) => await (await import("./simulate_command.ts")).simulate(command),
};
