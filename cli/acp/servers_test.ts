import assert from "node:assert/strict";
import { dirname } from "node:path";
import type { McpServer } from "@agentclientprotocol/sdk";
import { loadConfig } from "../../config/files.ts";
import { type FreshCommand, freshCommand } from "../_fixture/mcp_command.ts";
import { fakeKernel } from "../_fixture/world.ts";
import { makeHandedServers } from "./servers.ts";

/** What mallory's project has an editor hand over, `parts` of it otherwise. */
function stdio(parts: Partial<Extract<McpServer, { readonly command: string }>> = {}): McpServer {
  return { name: "x", command: "node", args: [], env: [], ...parts };
}

/** Servers of a session over alice's folder; each question is answered with `allow`, and all that is told is kept. */
async function session(
  servers: readonly McpServer[],
  { command = freshCommand(), yaml = "", allow = false }: {
    readonly command?: FreshCommand;
    readonly yaml?: string;
    readonly allow?: boolean;
  } = {},
) {
  const { hands: { disk, around }, places } = command;
  disk.makeFolder(dirname(places.config), 0o700);
  disk.write(places.config, `version: 1\n${yaml}`);
  const folder = around.cwd;
  const config = loadConfig(disk, places, { folder, mounts: [] });
  const { link } = await fakeKernel({ mcpLend: () => null });
  const handed = makeHandedServers(command, { servers, setting: { folder, config }, link });
  const told: string[] = [], asked: string[] = [];
  const settle = async () => {
    const found = await handed.settle({
      voice: {
        update: () => Promise.resolve(),
        ask: ({ toolCall }) => {
          asked.push(toolCall.toolCallId);
          return Promise.resolve(allow ? "allow" : "deny");
        },
        text: () => Promise.resolve(undefined),
      },
      signal: new AbortController().signal,
    }, (text) => Promise.resolve(void told.push(text)));
    return { found, told: told.join("\n") };
  };
  return { command, folder, told, asked, settle };
}

Deno.test("the command that alice is told to type runs nothing but what it says", async () => {
  const typed = async (server: McpServer): Promise<string> => {
    const at = await session([server]);
    return (await at.settle()).told;
  };
  assert.match(
    await typed(stdio({ args: ["/srv/x.js", ";", "curl", "evil|sh", "it's"] })),
    /type in a terminal: `remit mcp add x -- node \/srv\/x\.js ';' curl 'evil\|sh' 'it'\\''s'`$/,
  );
  const url = { type: "http" as const, name: "x", url: "https://e.org/$(touch${IFS}/tmp/pwn)" };
  assert.match(
    await typed({ ...url, headers: [{ name: "X-Key", value: "k" }] }),
    /`remit mcp add x 'https:\/\/e\.org\/\$\(touch\$\{?[^ ]*\)' --header x-key`$/,
  );
  const long = await typed(stdio({ args: ["a".repeat(300), "b".repeat(300)] }));
  assert.match(long, /add it by its configuration file, `remit mcp import`$/);
  assert.doesNotMatch(long, /mcp add|aaa/);
  assert.doesNotMatch(await typed(stdio({ args: ["a`b"] })), /mcp add/);
});
