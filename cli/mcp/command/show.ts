/** `mcp list|inspect|log`: imported servers, one of them in detail, and what one did. @module */
import { EXIT, Fault } from "../../../contracts/base/mod.ts";
import type { McpLook } from "../../../contracts/exchange/mod.ts";
import {
  askKernel,
  cell,
  type Command,
  commandText,
  printJson,
  printJsonLines,
  printLines,
  rowsOf,
} from "../../command.ts";
import { familyOf, type LockedServer, parseMcpName } from "../../../bridges/mcp/registry/lock.ts";
import { wrapTable } from "../../terminal/wrapped_table.ts";
import { accessWords, bytesWords, mayWords, runsAsWords } from "../words.ts";
import { lockOf, serverName } from "../work.ts";
import { displayText } from "../../../text/mod.ts";
import { showFailure } from "../onboard.ts";
import { serverLines, untrustedLines } from "../review_lines.ts";
import { lookForReview } from "./review.ts";
import { fieldLines } from "../../plugin/review.ts";
import { cutTo, padTo } from "../../terminal/columns.ts";
import { flag } from "../../arguments/parse_arguments.ts";
import type { Basic } from "../../powers.ts";

/** How many tools of a server are on, off, suspended. */
function counts(server: LockedServer): { on: number; off: number; suspended: number } {
  const suspended = server.reviewed.filter((each) => each.suspended !== undefined).length;
  const off = server.reviewed.filter((each) => each.off).length;
  const on = server.reviewed.filter((each) => !each.off && each.suspended === undefined).length;
  return { on, off, suspended };
}

/** {@link counts} as a cell of a table. */
export function toolsCell(server: LockedServer): string {
  const { on, off, suspended } = counts(server);
  return [
    // Before approval no tool is on or off.
    server.state === "added" && server.reviewed.length === 0 ? "none yet" : `${on} on`,
    ...(off > 0 ? [`${off} off`] : []),
    ...(suspended > 0 ? [`${suspended} SUSPENDED`] : []),
  ].join(", ");
}

/** A server's `--json` document. */
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

/** `mcp list`. */
export function mcpList(command: Command<Basic | "mcpStore">): Promise<number> {
  const { screen } = command.powers;
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
    wrapTable(["NAME", "STATE", "RUNS AS", "MAY", "TOOLS"], rows, screen.outWidth ?? 200),
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

const MAX_SHOWN = 40;

function shortened(list: readonly string[]): readonly string[] {
  if (list.length === 0) return ["nothing"];
  return list.length <= MAX_SHOWN
    ? list
    : [...list.slice(0, MAX_SHOWN), `and ${list.length - MAX_SHOWN} more`];
}

const safe = (text: string): string => displayText(text, { max: 300 });

function foundFields(look: McpLook): readonly (readonly [string, readonly string[]])[] {
  const { words, accesses } = look;
  return [
    [
      "ready",
      [
        look.readyMs === undefined ? "never" : `${Math.round(look.readyMs)} ms after its start`,
        ...(look.bytes === undefined ? [] : [`${bytesWords(look.bytes)} of memory`]),
      ],
    ],
    ...(words === undefined ? [] : [
      ["says", [
        `${safe(words.server.name)} ${safe(words.server.version)}, protocol ${
          safe(words.protocol)
        }`,
        `can ${words.capabilities.map(safe).join(", ") || "nothing"}`,
      ]],
      ["tools", shortened(words.tools.map(({ name }) => safe(name)))],
      [
        "resources",
        shortened([
          ...words.resources.map(({ uri = "" }) => safe(uri)),
          ...words.templates.map(({ uriTemplate = "" }) => safe(uriTemplate)),
        ]),
      ],
      ["prompts", shortened(words.prompts.map(({ name }) => safe(name)))],
    ] as const),
    ["asked for", shortened(accesses.map(accessWords))],
  ];
}

/** `mcp inspect NAME`: starts a server, ends it, and tells what it said and asked for. */
export async function mcpInspect(command: Command<Basic | "mcpStore">): Promise<number> {
  const { screen } = command.powers;
  const server = lockOf(command).need(serverName(command));
  const look = await lookForReview(command, server);
  const exit = look.words === undefined ? EXIT.upstreamFailure : EXIT.success;
  if (command.json) {
    printJson(command, { ...serverDocument(server), look });
    return exit;
  }
  const layout = { paint: screen.paint, width: screen.outWidth ?? screen.width };
  printLines(command, [
    ...serverLines(layout, server, []),
    ...fieldLines(layout, foundFields(look)),
    ...(look.errors === ""
      ? []
      : ["  it printed, as errors:", ...untrustedLines(layout, look.errors, 60)]),
  ]);
  if (look.words === undefined) showFailure(command, server, { ...look, errors: "" });
  return exit;
}

const DEFAULT_LINES = 200;
const MAX_LINES = 100_000;
/** Columns of a line where the output is no terminal. */
const DEFAULT_COLUMNS = 2_000;

function limitOf(command: Command): number {
  const given = flag(command.parsed, "limit");
  const limit = given === undefined ? DEFAULT_LINES : Number(given);
  if (Number.isSafeInteger(limit) && limit > 0 && limit <= MAX_LINES) return limit;
  throw new Fault("invalidInput", `Cannot read --limit "${given}": it takes 1 to ${MAX_LINES}`);
}

/** `mcp log NAME`: what a server did and tried in every task and look, also after its removal. */
export async function mcpLog(command: Command): Promise<number> {
  const { screen } = command.powers;
  const server = parseMcpName(command.parsed.args[0] ?? "");
  const rows = rowsOf(await askKernel(command, "mcpLog", { server, limit: limitOf(command) }));
  if (command.json) {
    printJsonLines(command, rows);
    return EXIT.success;
  }
  if (rows.length === 0) {
    screen.say(`${server} did nothing yet.`);
    return EXIT.success;
  }
  const width = screen.outWidth ?? DEFAULT_COLUMNS;
  printLines(
    command,
    rows.map((row) => {
      const time = new Date(Number(row["at"] ?? 0)).toISOString().slice(0, 19).replace("T", " ");
      const text = displayText(String(row["text"] ?? ""), { max: 1_000 });
      const what = padTo(cell(row["what"], 16), 9);
      return cutTo(`${time}  ${padTo(cell(row["task"], 16), 13)}  ${what}  ${text}`, width)
        .trimEnd();
    }),
  );
  return EXIT.success;
}
