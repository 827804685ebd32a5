/** `mcp tool|grant|revoke|remove`: changes what a server may do from now on. @module */
import { cleared } from "../../../contracts/authority/mod.ts";
import { EXIT, Fault } from "../../../contracts/base/mod.ts";
import { displayText } from "../../../text/mod.ts";
import { type Command, commandText, printJson, printLines } from "../../command.ts";
import { sweepTrees } from "../../../bridges/mcp/registry/store/sweep.ts";
import {
  familyOf,
  type LockedServer,
  type MoreGrants,
  parseHost,
  withGrants,
} from "../../../bridges/mcp/registry/lock.ts";
import { readGrantFlags, takeSecrets } from "../grant_flags.ts";
import { serverDocument } from "./show.ts";
import { dropLook } from "../../../bridges/mcp/registry/look.ts";
import { forgetMcpSecrets } from "../../../bridges/mcp/registry/secrets.ts";
import { translatedAnew } from "../../../bridges/mcp/registry/review.ts";
import { grantsDocument, mayLines, namesWords } from "../words.ts";
import { endServer, lockOf, registryOf, serverName } from "../work.ts";
import { absolute } from "../../../launch/disk/places.ts";
import type { Basic } from "../../powers.ts";

/** `mcp tool NAME on|off TOOL…`. Running tasks keep the tools that they have. */
export function mcpTool(command: Command<Basic | "mcpStore">): Promise<number> {
  const [, word = "", ...tools] = command.parsed.args;
  if (word !== "on" && word !== "off") {
    throw new Fault("invalidInput", `Cannot switch tools "${word}": say on or off`);
  }
  const off = word === "off";
  const server = lockOf(command).change(serverName(command), (before) => {
    for (const tool of tools) {
      if (before.reviewed.some((each) => each.tool.tool === tool)) continue;
      const known = namesWords(before.reviewed.map((each) => each.tool.tool));
      throw new Fault(
        "notFound",
        `Cannot switch "${tool}": server "${before.name}" has ${known}`,
      );
    }
    const reviewed = before.reviewed.map((each) =>
      tools.includes(each.tool.tool) ? { ...each, off } : each
    );
    return { ...before, reviewed };
  });
  if (command.json) printJson(command, serverDocument(server));
  else {
    const names = tools.map((tool) => displayText(tool, { max: 64 })).join(", ");
    printLines(command, [`${server.name}: ${names} ${tools.length === 1 ? "is" : "are"} ${word}`]);
  }
  return Promise.resolve(EXIT.success);
}

/** Removes a granted folder, host, variable or header. Throws `notFound`. */
function without(command: Command, server: LockedServer, dropped: string): LockedServer {
  const { disk, environment } = command.powers;
  const path = absolute(environment, dropped);
  const real = disk.real(path) ?? path;
  const spellings = new Set([dropped, dropped.toLowerCase(), path, real, `unix:${real}`]);
  try {
    spellings.add(parseHost(dropped));
  } catch (error) {
    // `dropped` may be a folder or a variable, which does not parse as a host.
    if (!(error instanceof Fault)) throw error;
  }
  const kept = (list: readonly string[]): string[] => list.filter((each) => !spellings.has(each));
  const { grants } = server;
  const next: LockedServer = {
    ...server,
    grants: { read: kept(grants.read), write: kept(grants.write), net: kept(grants.net) },
    ...(server.direct === undefined ? {} : { direct: kept(server.direct) }),
    env: Object.fromEntries(Object.entries(server.env).filter(([name]) => name !== dropped)),
    secretEnv: kept(server.secretEnv),
    secretHeaders: kept(server.secretHeaders),
  };
  const size = (each: LockedServer): number =>
    [each.grants.read, each.grants.write, each.grants.net, each.secretEnv, each.secretHeaders]
      .reduce((sum, list) => sum + list.length, Object.keys(each.env).length);
  if (size(next) < size(server)) return next;
  throw new Fault(
    "notFound",
    `Cannot take "${dropped}" back: MCP server "${server.name}" was not granted it`,
  );
}

function effectLines(before: LockedServer, after: LockedServer): readonly string[] {
  const was = new Map(before.reviewed.map(({ tool }) => [tool.tool, tool.effect]));
  return after.reviewed.filter(({ tool }) => was.get(tool.tool) !== tool.effect).map(({ tool }) =>
    `  ${displayText(tool.tool, { max: 64 })}: ${was.get(tool.tool) ?? "new"} → ${tool.effect}`
  );
}

function isEmpty(flags: MoreGrants): boolean {
  const { grants, env, secretEnv, secretHeaders, reads = [], writes = [] } = flags;
  return flags.sampling === undefined && flags.clearance === undefined &&
    [reads, writes, ...Object.values(grants), Object.keys(env), secretEnv, secretHeaders]
      .every((each) => each.length === 0);
}

/** `mcp grant NAME …`. Revocations act at once in every task, new grants from the next task. */
export async function mcpGrant(
  command: Command<Basic | "keyboard" | "mcpStore" | "readInput">,
): Promise<number> {
  const lock = lockOf(command);
  const before = lock.need(serverName(command));
  const flags = readGrantFlags(command);
  const drops = command.parsed.flags.get("drop") ?? [];
  if (isEmpty(flags) && drops.length === 0) {
    throw new Fault(
      "invalidInput",
      "Cannot change grants: say what, with --read PATH or another flag",
    );
  }
  const files = [...flags.grants.read, ...flags.grants.write, ...flags.grants.net];
  if (before.launch.kind === "http" ? files.length > 0 : flags.secretHeaders.length > 0) {
    throw new Fault(
      "invalidInput",
      `Cannot grant that to MCP server "${before.name}": it is ${
        before.launch.kind === "http" ? "at a URL" : "a program of this machine"
      }`,
    );
  }
  for (const tool of [...flags.reads ?? [], ...flags.writes ?? []]) {
    if (before.reviewed.some((each) => each.words.name === tool)) continue;
    const known = namesWords(before.reviewed.map((each) => each.words.name));
    throw new Fault(
      "notFound",
      `Cannot say what "${
        displayText(tool, { max: 64 })
      }" does: server "${before.name}" has ${known}`,
    );
  }
  await takeSecrets(command, before.name, flags);
  const after = lock.change(before.name, (server) => {
    const narrowed = drops.reduce((each, drop) => without(command, each, drop), server);
    const changed = withGrants(narrowed, flags);
    return { ...changed, reviewed: translatedAnew(changed) };
  });
  const narrows = drops.length > 0 || after.samplingTokens < before.samplingTokens ||
    flags.clearance !== undefined && !cleared(before.clearance, after.clearance);
  const ended = !narrows ? 0 : await endServer(command, after.name);
  if (command.json) {
    const { name, clearance } = after;
    printJson(command, { name, grants: grantsDocument(after.grants), clearance, ended });
    return EXIT.success;
  }
  printLines(command, [
    `${after.name} may now:`,
    ...mayLines(after).map((line) => `  ${line}`),
    ...effectLines(before, after),
  ]);
  if (ended > 0) command.powers.screen.say(`${ended} of its processes were ended.`);
  return EXIT.success;
}

/** `mcp revoke NAME`: no task gets the server any more, and running tasks lose it now. */
export async function mcpRevoke(command: Command<Basic | "mcpStore">): Promise<number> {
  const server = lockOf(command).change(serverName(command), (before) => ({
    ...before,
    state: "revoked",
  }));
  const { name } = server;
  const ended = await endServer(command, name);
  if (command.json) printJson(command, { name, state: "revoked", ended });
  else {
    printLines(command, [
      `${name} is revoked${ended > 0 ? `; ${ended} of its processes were ended` : ""}`,
    ]);
    command.powers.screen.say(
      `take it back: ${commandText(command, `${familyOf(server)} approve ${name}`)}`,
    );
  }
  return EXIT.success;
}

/** `mcp remove NAME`: ends the server and removes it with its secrets and its code. */
export async function mcpRemove(command: Command<Basic | "mcpStore">): Promise<number> {
  const powers = registryOf(command), lock = lockOf(command);
  const { name } = lock.need(serverName(command));
  const ended = await endServer(command, name);
  lock.remove(name);
  forgetMcpSecrets(powers, name);
  dropLook(powers, name);
  sweepTrees(powers);
  if (command.json) printJson(command, { removed: name, ended });
  else printLines(command, [`removed ${name}`]);
  return EXIT.success;
}
