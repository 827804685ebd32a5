/** `mcp call NAME TOOL JSON`: calls one imported tool, as `tool call` does. @module */
import { Fault } from "../../../contracts/base/mod.ts";
import { mcpPart } from "../../../contracts/exchange/mod.ts";
import { namesWords } from "../words.ts";
import type { Command } from "../../command.ts";
import { familyOf, type LockedServer, nounOf } from "../../../bridges/mcp/registry/lock.ts";
import { OWN_TOOLS } from "../../../bridges/mcp/review/mod.ts";
import { lockOf, serverName } from "../work.ts";
import { toolCall } from "../../tool/call_command.ts";
import type { Basic } from "../../powers.ts";

/** Why a tool cannot be called, and what to do; undefined when it can. */
function whyNot(server: LockedServer, tool: string): string | undefined {
  const { name, state, reviewed } = server, family = familyOf(server);
  if (state === "revoked") {
    return `the server is revoked; "remit ${family} approve ${name}" takes it back`;
  }
  if (state === "added") {
    return `the server is not approved; "remit ${family} review ${name}" shows it`;
  }
  const found = reviewed.find((each) => each.tool.tool === tool);
  if (found === undefined) return undefined;
  if (found.off) return `it is switched off; "remit mcp tool ${name} on ${tool}"`;
  if (found.suspended === undefined) return undefined;
  return `it changed since it was reviewed; "remit ${family} review ${name}" shows how`;
}

/** Models' name of a tool, from that or the server's name. Throws `refused`, `unknownTool`. */
export function calledAs(server: LockedServer, tool: string): string {
  const why = whyNot(server, tool);
  if (why !== undefined) {
    throw new Fault(
      "refused",
      `Cannot call "${tool}" of ${nounOf(server)} "${server.name}": ${why}`,
    );
  }
  const found = server.reviewed.find((each) => each.tool.tool === tool || each.tool.name === tool);
  if (found !== undefined) return found.tool.name;
  const family = familyOf(server);
  const own = OWN_TOOLS[family].find((each) =>
    tool === each || tool === `${family}_${mcpPart(server.name)}_${each}`
  );
  if (own !== undefined) return `${family}_${mcpPart(server.name)}_${own}`;
  const known = namesWords(server.reviewed.map((each) => each.tool.tool));
  throw new Fault(
    "unknownTool",
    `Cannot call "${tool}": ${nounOf(server)} "${server.name}" has ${known}`,
  );
}

/** `mcp call`. */
export async function mcpCall(
  command: Command<
    Basic | "interrupts" | "keyboard" | "mcpStore" | "models" | "readInput" | "wikis"
  >,
): Promise<number> {
  const server = lockOf(command).need(serverName(command));
  const [, tool = "", ...rest] = command.parsed.args;
  const name = calledAs(server, tool);
  return await toolCall({ ...command, parsed: { ...command.parsed, args: [name, ...rest] } });
}
