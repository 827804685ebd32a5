/** Servers of remit.lock for tests. @module */
import { Digest, Millis, ToolName } from "../../contracts/authority/mod.ts";
import { mcpPart, McpServerName, NO_GRANTS } from "../../contracts/exchange/mod.ts";
import { LockedServer, type LockedTool } from "../../bridges/mcp/registry/lock.ts";

/** A reviewed tool. */
export function lockedTool(
  server: string,
  name: string,
  more: Partial<LockedTool> = {},
): LockedTool {
  return {
    words: { name, description: `Does ${name}`, inputSchema: { type: "object" } },
    tool: {
      name: ToolName.parse(`mcp_${mcpPart(server)}_${name}`),
      tool: name,
      description: `Does ${name}`,
      paramSchema: '{"type":"object"}',
      effect: "read",
      holds: "all",
      idempotent: false,
      digest: Digest.parse("a".repeat(64)),
    },
    at: Millis.parse(1),
    by: "alice",
    off: false,
    ...more,
  };
}

/** An approved server with a tool `one`. */
export function lockedServer(name: string, more: Partial<LockedServer> = {}): LockedServer {
  return LockedServer.parse({
    name: McpServerName.parse(name),
    launch: {
      ...{ kind: "npm", package: "server", version: "1.2.3", bin: "server", args: [] },
      tree: { id: `npm-${name}`, sha256: "b".repeat(64), files: 1, bytes: 1 },
    },
    grants: NO_GRANTS,
    ...{ env: {}, secretEnv: [], secretHeaders: [], offers: { resources: false, prompts: false } },
    ...{
      samplingTokens: 0,
      elicitation: true,
      clearance: "internal",
      state: "approved",
      addedAt: 1,
    },
    from: { kind: "command", text: "npx -y server" },
    ...{ packages: [], reviewed: [lockedTool(name, "one")], notes: [] },
    ...more,
  });
}
