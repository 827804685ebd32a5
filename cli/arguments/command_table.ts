/** The families of commands. Help, parsing and dispatch all read this list. @module */
import { A2A } from "../a2a/family.ts";
import { ACP } from "../acp/family.ts";
import { AGENTS } from "../agent/family.ts";
import { RECORD } from "../audit/family.ts";
import { CONVERSATION } from "../conversation/family.ts";
import { FLEET, FLEET_DOOR } from "../fleet/family.ts";
import { INBOX } from "../inbox/family.ts";
import { MACHINE } from "../kernel/family.ts";
import { BROWSER, KEY } from "../key/family.ts";
import { MAIL } from "../mail/family.ts";
import { MCP } from "../mcp/command/family.ts";
import { MCP_SERVE } from "../mcp_serve/family.ts";
import { MODELS } from "../model/command/family.ts";
import { TOOL } from "../plugin/family.ts";
import { REDTEAM } from "../redteam/family.ts";
import { RUN } from "../run/family.ts";
import { SERVICE, TRIGGER } from "../service/family.ts";
import { SETUP } from "../setup/family.ts";
import { SEMANTIC } from "../sgrep/family.ts";
import { SWARM } from "../swarm/family.ts";
import { RESOURCES, TASK, TEMPLATE, WORKSPACES } from "../task/family.ts";
import { WIKIS } from "../wiki/command/family.ts";
import { WORLDS } from "../world/family.ts";
import type { CommandSpec, FlagSpec } from "./command_spec.ts";
import type { Family } from "./family.ts";
export type { CommandSpec, FlagSpec };

/** Flags that every command takes. */
export const COMMON_FLAGS: readonly FlagSpec[] = [
  { name: "state", value: "DIR", help: "where Remit keeps its state" },
  {
    name: "store",
    value: "URL",
    help: "where a new state keeps its log: postgres://…",
  },
  { name: "fleet", value: "URL", help: "ask the gateway of a fleet's kernel; default: fleet.url" },
  { name: "json", help: "print one JSON document, or JSON lines for a stream" },
  { name: "help", short: "h", help: "show this" },
  { name: "version", short: "V", help: "show the version" },
];

/** All families, in the order of help. */
export const FAMILIES: readonly Family[] = [
  ...[RUN, ACP, AGENTS, SWARM, TASK, TEMPLATE, RECORD, KEY, BROWSER, MCP, A2A],
  ...[MCP_SERVE, SERVICE, TRIGGER, INBOX, MAIL, WIKIS],
  ...[SEMANTIC, MODELS, CONVERSATION, TOOL, REDTEAM, WORLDS, MACHINE, FLEET, FLEET_DOOR, RESOURCES],
  ...[WORKSPACES, SETUP],
];

/** Every command. */
export const COMMANDS: readonly CommandSpec[] = FAMILIES.flatMap(({ spec }) => spec);

/** Finds a command by its words. */
export function findCommand(name: string): CommandSpec | undefined {
  return COMMANDS.find((command) => command.name === name);
}

/** The family of a command. */
export function familyOf(command: CommandSpec): Family {
  const found = FAMILIES.find(({ spec }) => spec.includes(command));
  if (found === undefined) throw new TypeError(`Cannot run "${command.name}": no family`);
  return found;
}
