/** `mcp list`: imported servers in one table. Issue 6. @module */
import { EXIT } from "../contracts/mod.ts";
import { displayText } from "../text/mod.ts";
import { type Command, commandText, printJson, printLines } from "./command.ts";
import type { LockedServer } from "./mcp_lock.ts";
import { wrapTable } from "./mcp_table.ts";
import { mayWords, runsAs } from "./mcp_words.ts";
import { lockOf } from "./mcp_work.ts";

function counts(server: LockedServer): { on: number; off: number; suspended: number } {
  const suspended = server.reviewed.filter((each) => each.suspended !== undefined).length;
  const off = server.reviewed.filter((each) => each.off).length;
  const on = server.reviewed.filter((each) => !each.off && each.suspended === undefined).length;
  return { on, off, suspended };
}

function toolsCell(server: LockedServer): string {
  const { on, off, suspended } = counts(server);
  return [
    `${on} on`,
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
  const servers = lockOf(command).list();
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
    server.launch.kind === "http" ? "http" : "stdio",
    runsAs(server.launch),
    mayWords(server),
    toolsCell(server),
    displayText(server.seen?.version ?? "", { max: 40 }),
  ]);
  printLines(
    command,
    wrapTable(
      ["NAME", "STATE", "VIA", "RUNS AS", "MAY", "TOOLS", "VERSION"],
      rows,
      screen.outWidth ?? 200,
    ),
  );
  for (const { name } of servers.filter((each) => counts(each).suspended > 0)) {
    screen.say(
      `${name} changed since it was reviewed: ${commandText(command, `mcp review ${name}`)}`,
    );
  }
  return Promise.resolve(EXIT.success);
}
