/** `mcp list`: imported servers in one table. @module */
import { EXIT } from "../../../contracts/mod.ts";
import { type Command, commandText, printJson, printLines } from "../../command.ts";
import type { LockedServer } from "../lock/lock.ts";
import { wrapTable } from "../../terminal/wrapped_table.ts";
import { familyOf, mayWords, runsAsWords } from "../review/words.ts";
import { lockOf } from "../work.ts";

/** Tools that are on, off, suspended. */
function counts(server: LockedServer): { on: number; off: number; suspended: number } {
  const suspended = server.reviewed.filter((each) => each.suspended !== undefined).length;
  const off = server.reviewed.filter((each) => each.off).length;
  const on = server.reviewed.filter((each) => !each.off && each.suspended === undefined).length;
  return { on, off, suspended };
}

/** The same in a cell. */
export function toolsCell(server: LockedServer): string {
  const { on, off, suspended } = counts(server);
  return [
    // Of one that waits nothing is on or off yet.
    server.state === "added" && server.reviewed.length === 0 ? "none yet" : `${on} on`,
    ...(off > 0 ? [`${off} off`] : []),
    ...(suspended > 0 ? [`${suspended} SUSPENDED`] : []),
  ].join(", ");
}

/** A server for programs. */
export function serverDocument(server: LockedServer): Record<string, unknown> {
  const { name, state, launch, grants, clearance, seen, offers } = server;
  return {
    ...{ name, state, transport: launch.kind === "http" ? "http" : "stdio", launch, grants },
    ...{ clearance, offers, env: Object.keys(server.env), secretEnv: server.secretEnv },
    secretHeaders: server.secretHeaders,
    samplingTokens: server.samplingTokens,
    ...(seen === undefined ? {} : { seen }),
    tools: server.reviewed.map(({ tool, off, suspended }) => ({
      ...{ tool: tool.tool, name: tool.name, effect: tool.effect, off },
      ...(suspended === undefined ? {} : { suspended }),
    })),
    notes: server.notes,
  };
}

/** Runs the command. */
export function mcpList(command: Command): Promise<number> {
  const { screen } = command.hands;
  const servers = lockOf(command).list().filter((each) => familyOf(each) === "mcp");
  if (command.json) {
    printJson(command, servers.map(serverDocument));
    return Promise.resolve(EXIT.success);
  }
  if (servers.length === 0) {
    screen.say(`There are no MCP servers; "${commandText(command, "mcp import")}" finds yours.`);
    return Promise.resolve(EXIT.success);
  }
  const rows = servers.map((server) => [
    server.name,
    server.state,
    runsAsWords(server.launch),
    mayWords(server),
    toolsCell(server),
  ]);
  printLines(
    command,
    wrapTable(
      ["NAME", "STATE", "RUNS AS", "MAY", "TOOLS"],
      rows,
      screen.outWidth ?? 200,
    ),
  );
  const waiting = servers.filter(({ state }) => state === "added").map(({ name }) => name);
  if (waiting.length > 0) {
    screen.say(
      `Not approved, and handed to no task: ${waiting.join(", ")}. Look: ${
        commandText(command, `mcp review ${waiting.length === 1 ? waiting[0] : "NAME"}`)
      }`,
    );
  }
  for (const { name } of servers.filter((each) => counts(each).suspended > 0)) {
    screen.say(
      `${name} changed since it was reviewed: ${commandText(command, `mcp review ${name}`)}`,
    );
  }
  return Promise.resolve(EXIT.success);
}
