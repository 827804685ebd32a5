import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { Fault } from "../../../contracts/base/mod.ts";
import { fakePowers } from "../../_fixture/world.ts";
import type { HostServer } from "./entry.ts";
import { findHostConfigs, parseJsonc, readHostConfig } from "./hosts.ts";

// Made up, in the form of a real one, and in no one piece here.
const TOKEN = ["ghp", "16C7e42F292c6912E7710c838347Ae178B4a"].join("_");
const RANDOM = "q8Zt3vKx0mWc7RbY2nLd5HsJ";

function place(path: string, text: unknown): void {
  Deno.mkdirSync(dirname(path), { recursive: true });
  Deno.writeTextFileSync(path, typeof text === "string" ? text : JSON.stringify(text));
}

function read(config: unknown, env: Record<string, string> = {}): readonly HostServer[] {
  const powers = fakePowers({ env });
  const file = join(powers.root, "config.json");
  place(file, config);
  return readHostConfig({ powers }, file);
}

const one = (entry: unknown, env: Record<string, string> = {}): HostServer => {
  const [server] = read({ mcpServers: { one: entry } }, env);
  assert.ok(server);
  return server;
};

Deno.test("alice's desktop host with five npm servers: five wishes, keys apart, the file as it was", () => {
  const config = {
    mcpServers: {
      filesystem: {
        command: "npx",
        args: ["-y", "@modelcontextprotocol/server-filesystem", "~/desk"],
      },
      memory: {
        command: "npx",
        args: ["-y", "@modelcontextprotocol/server-memory"],
        env: { MEMORY_FILE_PATH: "/home/alice/memory.jsonl" },
      },
      "everything-server": {
        command: "npx",
        args: ["@modelcontextprotocol/server-everything@1.0.0"],
      },
      github: {
        command: "npx",
        args: ["-y", "@modelcontextprotocol/server-github"],
        env: { GITHUB_PERSONAL_ACCESS_TOKEN: TOKEN, LOG_LEVEL: "debug" },
      },
      "Brave Search!": { command: "npx", args: ["-y", "brave"], env: { BRAVE_API_KEY: RANDOM } },
    },
  };
  const powers = fakePowers();
  const file = join(powers.root, ".config/Claude/claude_desktop_config.json");
  place(file, config);
  const before = Deno.readTextFileSync(file);
  assert.deepEqual(findHostConfigs({ powers }), [{ host: "claude-desktop", file }]);
  const servers = readHostConfig({ powers }, file, "claude-desktop");
  assert.deepEqual(servers.map(({ name }) => name), [
    ...["filesystem", "memory", "everything-server", "github", "bravesearch"],
  ]);
  assert.ok(servers.every(({ wish }) => wish.kind === "npm"));
  const [files, memory, , github, brave] = servers;
  assert.deepEqual(files?.wish.kind === "npm" && files.wish.args, [join(powers.root, "desk")]);
  assert.deepEqual(memory?.env, { MEMORY_FILE_PATH: "/home/alice/memory.jsonl" });
  assert.deepEqual(github?.env, { LOG_LEVEL: "debug" });
  assert.deepEqual(github?.secrets, [{
    ...{ place: { env: "GITHUB_PERSONAL_ACCESS_TOKEN" }, value: TOKEN },
  }]);
  assert.deepEqual(brave?.secrets.map((each) => each.place), [{ env: "BRAVE_API_KEY" }]);
  assert.equal(Deno.readTextFileSync(file), before);
});

Deno.test("the files of each host are found, those of this folder among them, and no link out", () => {
  const powers = fakePowers();
  const { root, environment: { cwd } } = powers;
  const files = [
    ...[
      `${root}/.claude.json`,
      `${cwd}/.mcp.json`,
      `${root}/.cursor/mcp.json`,
      `${cwd}/.cursor/mcp.json`,
    ],
    ...[`${cwd}/.vscode/mcp.json`, `${root}/.config/Code/User/mcp.json`],
    `${root}/Library/Application Support/Claude/claude_desktop_config.json`,
  ];
  for (const file of files) place(file, {});
  place(`${root}/.config/Code/User/settings.json`, {});
  const elsewhere = Deno.makeTempFileSync();
  Deno.mkdirSync(`${root}/.config/Claude`, { recursive: true });
  Deno.symlinkSync(elsewhere, `${root}/.config/Claude/claude_desktop_config.json`);
  const found = findHostConfigs({ powers }).map(({ file }) => file);
  assert.deepEqual([...found].sort(), [...files, `${root}/.config/Code/User/settings.json`].sort());
  Deno.removeSync(elsewhere);
});

Deno.test("a folder for configurations that lies elsewhere is looked into, too", () => {
  const elsewhere = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "remit-config-" }));
  const powers = fakePowers({ env: { XDG_CONFIG_HOME: elsewhere } });
  const file = join(elsewhere, "Claude/claude_desktop_config.json");
  place(file, {});
  assert.deepEqual(findHostConfigs({ powers }), [{ host: "claude-desktop", file }]);
  Deno.removeSync(elsewhere, { recursive: true });
});

Deno.test("forms: mcpServers, servers, settings.json, projects", () => {
  const entry = { command: "npx", args: ["-y", "server"] };
  const names = (config: unknown): string[] => read(config).map(({ name }) => name);
  assert.deepEqual(names({ servers: { a: entry } }), ["a"]);
  assert.deepEqual(names({ "editor.fontSize": 12, mcp: { servers: { b: entry } } }), ["b"]);
  assert.deepEqual(
    names({ mcpServers: { a: entry }, projects: { "/x": { mcpServers: { a: entry } }, "/y": {} } }),
    ["a"],
  );
  assert.deepEqual(
    names({
      servers: { a: entry },
      projects: { "/x": { mcpServers: { a: { command: "other" } } } },
    }),
    ["a", "a2"],
  );
  assert.deepEqual(names({ mcpServers: { "9-5": entry, "": entry, "ABC-d": entry } }), [
    ...["server", "server2", "abc-d"],
  ]);
  assert.deepEqual(names({}), []);
});

Deno.test("comments and trailing commas are read, also where strings look like them", () => {
  assert.deepEqual(
    parseJsonc('\ufeff{ // a\n "u": "http://x,]", /* b\n , } */ "l": [1, 2, ], "q": "\\"//", }'),
    { u: "http://x,]", l: [1, 2], q: '"//' },
  );
  for (const wrong of ["{", "[1 2]", "{ /* }", "nothing"]) {
    assert.throws(() => parseJsonc(wrong), SyntaxError, wrong);
  }
});

Deno.test("VS Code's inputs are asked for; a password is a secret", () => {
  const [server] = read({
    inputs: [
      { id: "key", type: "promptString", description: "The key", password: true },
      { id: "region", type: "promptString", description: "Where" },
    ],
    servers: {
      x: {
        ...{ type: "stdio", command: "npx", args: ["-y", "server"] },
        env: { THING: "${input:key}", REGION: "${input:region}", AT: "${workspaceFolder}/a" },
      },
    },
  });
  assert.deepEqual(server?.inputs, [
    { id: "key", description: "The key", secret: true, place: { env: "THING" } },
    { id: "region", description: "Where", secret: false, place: { env: "REGION" } },
  ]);
  assert.match(server?.env["AT"] ?? "", /^\/.*\/work\/a$/);
});

Deno.test("variables are filled in one pass; one named like a key makes a secret", () => {
  const entry = {
    ...{ command: "npx", args: ["-y", "server", "${HOME_FOLDER:-/default}"] },
    env: { A: "${env:PLAIN}", B: "x ${MY_TOKEN}", C: "${GONE}", D: "$A ${not a name}" },
  };
  const server = one(entry, { PLAIN: "${MY_TOKEN}", MY_TOKEN: "hush-hush" });
  assert.deepEqual(server.env, { A: "${MY_TOKEN}", D: "$A ${not a name}" });
  assert.deepEqual(server.secrets, [{ place: { env: "B" }, value: "x hush-hush" }]);
  assert.deepEqual(server.inputs.map(({ id }) => id), ["GONE"]);
  assert.deepEqual(server.wish.kind === "npm" && server.wish.args, ["/default"]);
});

Deno.test("a server at an address keeps its headers as secrets, and so does a bridge to one", () => {
  const direct = one({
    type: "http",
    url: "https://x.org/mcp",
    headers: { "X-Api-Key": "k", Accept: "a" },
  });
  assert.deepEqual(direct.wish, { kind: "http", url: "https://x.org/mcp", headers: {} });
  assert.deepEqual(direct.secrets, [{ place: { header: "x-api-key" }, value: "k" }]);
  const bridged = one({
    ...{
      command: "npx",
      args: ["mcp-remote", "https://x.org/sse", "--header", "Authorization:${AUTH}"],
    },
    env: { AUTH: `Bearer ${RANDOM}` },
  });
  assert.deepEqual(bridged.secrets, [{
    place: { header: "authorization" },
    value: `Bearer ${RANDOM}`,
  }]);
  assert.equal(bridged.wish.kind, "http");
  assert.match(bridged.notes.join(), /older transport/);
});

Deno.test("a key in an argument or in an address is refused, and not repeated", () => {
  const entries = [
    { command: "npx", args: ["-y", "server", "--api-key", "abc"] },
    { command: "npx", args: ["-y", "server", "--token=abc"] },
    { command: "npx", args: ["-y", "server", TOKEN] },
    { command: "npx", args: ["-y", "server", "postgres://bob:hunter2@db/x"] },
    { command: "npx", args: ["-y", "server", "API_KEY=abc"] },
    { command: "npx", args: ["-y", "server", "${MY_TOKEN}"] },
    { command: "node", args: ["x.js", `--k=${RANDOM}`] },
    { url: `https://x.org/mcp?api_key=abc` },
    { url: `https://x.org/s/${RANDOM}/mcp` },
    { command: "npx", args: ["mcp-remote", `https://x.org/s/${RANDOM}/mcp`] },
  ];
  for (const entry of entries) {
    const server = one(entry, { MY_TOKEN: "hush" });
    assert.equal(server.wish.kind, "refused", JSON.stringify(entry));
    const said = JSON.stringify(server);
    for (const key of [TOKEN, RANDOM, "hunter2", "hush"]) assert.ok(!said.includes(key), said);
  }
});

Deno.test("what looks like no key is none", () => {
  const args = [
    "-y",
    "server",
    "--token-limit",
    "4000",
    "--model=gpt-4.1-mini-2025-04-14",
    "/a/b-c/d_e",
  ];
  assert.equal(one({ command: "npx", args }).wish.kind, "npm");
  const env = {
    ...{
      LOG: "debug",
      PORT: "8080",
      KEY_FILE: "/home/a/x",
      USE_AUTH: "true",
      AT: "https://x.org/v1/things",
    },
    ...{ NAME: "a-package-with-a-long-name", REGION: "eu-central-1", URL: "http://127.0.0.1:8080" },
  };
  assert.deepEqual(one({ command: "npx", args: ["server"], env }).env, env);
});

Deno.test("variables that steer programs are left out with a note", () => {
  const env = {
    PATH: "/x",
    NODE_OPTIONS: "--require /x",
    LD_PRELOAD: "/x",
    HTTPS_PROXY: "x",
    DENO_DIR: "/",
  };
  const server = one({ command: "npx", args: ["server"], env });
  assert.deepEqual([server.env, server.secrets], [{}, []]);
  assert.equal(server.notes.length, 5);
});

Deno.test("what a host has switched off is said", () => {
  assert.equal(one({ command: "npx", args: ["server"], disabled: true }).off, true);
  assert.equal(one({ command: "npx", args: ["server"] }).off, false);
});

Deno.test("mallory's configurations are refused whole or one by one, and never repeated", () => {
  const fault = (config: unknown): string => {
    try {
      read(config);
    } catch (error) {
      if (error instanceof Fault) return `${error.code} ${error.message}`;
      throw error;
    }
    return "";
  };
  assert.match(fault(`{ "key": ${TOKEN} }`), /^invalidInput (?!.*ghp_)/);
  assert.match(fault("[]"), /^invalidInput/);
  assert.match(fault({ mcpServers: [] }), /^invalidInput/);
  const many = Object.fromEntries(Array.from({ length: 65 }, (_, n) => [`s${n}`, {}]));
  assert.match(fault({ mcpServers: many }), /^tooLarge/);
  for (
    const entry of [null, 5, "npx", [], { command: 5 }, { args: ["x"] }, {
      command: "x",
      args: "y",
    }, {}]
  ) {
    assert.equal(one(entry).wish.kind, "refused", JSON.stringify(entry));
  }
  const [server] = read('{"mcpServers":{"__proto__":{"command":"npx","args":["server"]}}}');
  assert.equal(server, undefined);
  assert.equal(one({ command: "docker", args: ["run", "x"] }).wish.kind, "refused");
});

Deno.test("every host's form is read: names of its own for a command, its variables, an address and its headers", () => {
  const local = { kind: "npm", package: "notes", wanted: "latest", args: ["-x"] };
  const far = { kind: "http", url: "https://far.example/mcp", headers: {} };
  const forms: readonly (readonly [string, unknown])[] = [
    // Windsurf, Gemini, and the names that types have.
    ["a.json", {
      mcpServers: {
        here: { command: "npx", args: ["notes", "-x"], env: { REGION: "north" } },
        there: { serverUrl: "https://far.example/mcp", headers: { "x-api-key": "k" } },
      },
    }],
    ["b.json", {
      mcpServers: {
        here: { type: "local", command: "npx", args: ["notes", "-x"], env: { REGION: "north" } },
        there: { httpUrl: "https://far.example/mcp", headers: { "x-api-key": "k" } },
      },
      mcp: { allowed: ["here"] },
    }],
    ["c.json", {
      servers: {
        here: { type: "stdio", command: "npx", args: ["notes", "-x"], env: { REGION: "north" } },
        there: {
          ...{ type: "streamable-http", url: "https://far.example/mcp" },
          headers: { "x-api-key": "k" },
        },
      },
    }],
    // Zed.
    ["d.json", {
      context_servers: {
        here: { command: { path: "npx", args: ["notes", "-x"], env: { REGION: "north" } } },
        there: { url: "https://far.example/mcp", headers: { "x-api-key": "k" } },
      },
    }],
    // opencode.
    ["e.json", {
      mcp: {
        here: {
          ...{ type: "local", command: ["npx", "notes", "-x"] },
          environment: { REGION: "{env:WHERE}" },
        },
        there: {
          ...{ type: "remote", url: "https://far.example/mcp" },
          headers: { "x-api-key": "{env:KEY}" },
        },
      },
    }],
    // Codex.
    [
      "f.toml",
      `model = "x"
[mcp_servers.here]
command = "npx"
args = ["notes", "-x"]
env = { REGION = "north" }
[mcp_servers.there]
url = "https://far.example/mcp"
env_http_headers = { "x-api-key" = "KEY" }
`,
    ],
    // goose, and Continue.
    [
      "g.yaml",
      `extensions:
  memory: { type: builtin, name: memory, enabled: true }
  here: { type: stdio, cmd: npx, args: [notes, -x], envs: { REGION: north } }
  there: { type: streamable_http, uri: "https://far.example/mcp", headers: { x-api-key: k } }
`,
    ],
    [
      "h.yaml",
      `mcpServers:
  - { name: here, command: npx, args: [notes, -x], env: { REGION: north } }
  - { name: there, url: "https://far.example/mcp", headers: { x-api-key: k } }
`,
    ],
  ];
  for (const [name, text] of forms) {
    const powers = fakePowers({ env: { KEY: "k", WHERE: "north" } });
    const file = join(powers.root, name);
    place(file, text);
    const servers = readHostConfig({ powers }, file);
    assert.deepEqual(servers.map((each) => [each.originalName, each.wish]), [
      ...[["here", local], ["there", far]],
    ], name);
    assert.deepEqual(servers[0]?.env, { REGION: "north" }, name);
    assert.deepEqual(servers[1]?.secrets, [{ place: { header: "x-api-key" }, value: "k" }], name);
  }
  const [codex] = (() => {
    const powers = fakePowers();
    const file = join(powers.root, "config.toml");
    place(file, '[mcp_servers.x]\nurl = "https://far.example"\nbearer_token_env_var = "FAR"\n');
    return readHostConfig({ powers }, file);
  })();
  assert.deepEqual(codex?.inputs.map(({ id, place }) => [id, place]), [
    ["FAR", { header: "authorization" }],
  ]);
});

Deno.test("the folder that a host started a server in: files of it are meant from there, other words are words", () => {
  const powers = fakePowers();
  const folder = join(powers.root, "servers");
  place(join(folder, "srv.mjs"), "");
  place(join(folder, "data/notes.db"), "");
  place(join(folder, "fast"), "");
  const file = join(powers.root, "config.json");
  place(file, {
    mcpServers: {
      one: {
        command: "node",
        args: ["srv.mjs", "fast", "--db=data/notes.db", "--at", "./later", "v1.2", "/etc/x"],
        cwd: folder,
      },
      two: { command: "./run", cwd: "~/servers" },
    },
  });
  const [server, other] = readHostConfig({ powers }, file);
  assert.deepEqual(server?.wish, {
    kind: "program",
    program: "node",
    args: [
      ...[`${folder}/srv.mjs`, "fast", `--db=${folder}/data/notes.db`, "--at"],
      ...[`${folder}/later`, "v1.2", "/etc/x"],
    ],
  });
  assert.match(server?.notes.join() ?? "", /started in .*servers: its arguments are taken from/);
  assert.deepEqual(other?.wish, { kind: "program", program: `${folder}/run`, args: [] });
});
