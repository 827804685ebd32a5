import assert from "node:assert/strict";
import { join } from "node:path";
import { Fault, type FaultCode } from "../../../contracts/base/mod.ts";
import { McpServerName } from "../../../contracts/exchange/mod.ts";
import { type FreshCommand, freshCommand } from "../../../cli/_fixture/mcp_command.ts";
import { fakeKernel, type FakeOps } from "../../../cli/_fixture/world.ts";
import { lockedServer, lockedTool } from "../../../cli/_fixture/mcp_lock.ts";
import { loadConfig } from "../../../config/files.ts";
import { importedOf, keepRenewed, lendMcp } from "./handover.ts";
import { resolveGrant } from "./paths.ts";
import { sweepTrees } from "./store/sweep.ts";
import { type LockedServer, openMcpLock } from "./lock.ts";
import { keepMcpOAuth, keepMcpSecret, readMcpLoan } from "./secrets.ts";
import { provideWarm, warmFolder } from "./store/sweep.ts";
import { settle } from "../../../cli/run/run_setting.ts";
import { registryOf, serversOf } from "../../../cli/mcp/work.ts";

const fault = (code: FaultCode, said: RegExp) => (error: unknown): boolean => {
  assert.ok(error instanceof Fault, String(error));
  assert.match(error.message, said);
  return error.code === code;
};

function having(command: FreshCommand, ...servers: readonly LockedServer[]): void {
  const { powers: { disk, mcpStore }, places } = command;
  const lock = openMcpLock({ disk, places, store: mcpStore });
  for (const each of servers) lock.add(each);
}

/** The names of what a task is handed with these files: the operator's, the folder's. */
function chosen(command: FreshCommand, own = "", folders = ""): ReturnType<typeof serversOf> {
  const { powers: { environment, disk }, places } = command;
  const write = (path: string, text: string): void =>
    text === "" ? disk.remove(path) : disk.write(path, `version: 1\n${text}`);
  write(places.config, own);
  write(join(environment.cwd, "remit.yaml"), folders);
  return serversOf(command, loadConfig(disk, places, { folder: environment.cwd, mounts: [] }));
}
const names = (servers: ReturnType<typeof serversOf>): string[] => servers.map(({ name }) => name);

Deno.test("a task is handed what alice approved, with the tools that she left on", () => {
  const command = freshCommand();
  const tools = ["one", "two", "three"].map((name) => lockedTool("files", name));
  having(
    command,
    lockedServer("added", { state: "added" }),
    lockedServer("revoked", { state: "revoked" }),
    lockedServer("empty", { reviewed: [] }),
    lockedServer("files", {
      reviewed: [
        ...tools,
        lockedTool("files", "off", { off: true }),
        lockedTool("files", "changed", { suspended: "it changed" }),
      ],
    }),
    lockedServer("pages", { reviewed: [], offers: { resources: true, prompts: false } }),
  );
  const servers = chosen(command);
  assert.deepEqual(names(servers), ["files", "pages"]);
  assert.deepEqual(servers[0]?.tools.map(({ tool }) => tool), ["one", "two", "three"]);
  // What is not for a task stays behind.
  assert.ok(!("reviewed" in (servers[0] ?? {})) && !("from" in (servers[0] ?? {})));
});

Deno.test("remit.yaml narrows: names, tools, tokens, questions, clearance; it never widens", () => {
  const command = freshCommand();
  having(
    command,
    lockedServer("a", { samplingTokens: 100, clearance: "secret" }),
    lockedServer("b", { elicitation: false, clearance: "public" }),
  );
  assert.deepEqual(names(chosen(command, "mcp: { use: [b] }")), ["b"]);
  assert.deepEqual(names(chosen(command, "mcp: { use: [] }")), []);
  const yaml = (a: string, b: string): string => `mcp: { servers: { a: { ${a} }, b: { ${b} } } }`;
  const [a, b] = chosen(
    command,
    yaml(
      "samplingTokens: 5, clearance: internal, elicitation: false",
      "elicitation: true, samplingTokens: 9, clearance: secret",
    ),
  );
  assert.deepEqual([a?.samplingTokens, a?.clearance, a?.elicitation], [5, "internal", false]);
  assert.deepEqual([b?.samplingTokens, b?.clearance, b?.elicitation], [0, "public", false]);
  assert.deepEqual(names(chosen(command, yaml("off: [one]", "off: [other]"))), ["b"]);
});

Deno.test("clearance in remit.yaml holds for a server by its name, its address or its origin; a folder's file lowers", () => {
  const command = freshCommand();
  const launch = { kind: "http", url: "https://far.test/mcp" } as const;
  having(command, lockedServer("far", { launch, clearance: "public" }), lockedServer("near"));
  const of = (own: string, folder = ""): string[] =>
    chosen(command, own, folder).map(({ clearance }) => clearance);
  assert.deepEqual(of(""), ["public", "internal"]);
  for (const sink of ["mcp:far", "https://far.test", "https://far.test/mcp", "HTTPS://FAR.TEST/"]) {
    assert.deepEqual(of(`clearance: { "${sink}": secret }`), ["secret", "internal"], sink);
  }
  assert.deepEqual(of('clearance: { "mcp:near": public }'), ["public", "public"]);
  assert.deepEqual(of('clearance: { "https://other.test": secret }'), ["public", "internal"]);
  // Nobody vouched for the folder's file.
  assert.deepEqual(of("", 'clearance: { "mcp:far": secret }'), ["public", "internal"]);
  const lowered = 'clearance: { "https://far.test": public }';
  assert.deepEqual(of('clearance: { "mcp:far": secret }', lowered), ["public", "internal"]);
});

Deno.test("a folder's own file that nobody vouched for takes away, and gives nothing back", () => {
  const command = freshCommand();
  having(command, lockedServer("a", { samplingTokens: 100 }), lockedServer("b"), lockedServer("c"));
  const own = "mcp: { use: [a, b], servers: { a: { samplingTokens: 50, off: [] } } }";
  const folder =
    "mcp: { use: [b, c, a], servers: { a: { samplingTokens: 80, elicitation: false } } }";
  const servers = chosen(command, own, folder);
  assert.deepEqual(names(servers), ["a", "b"]);
  assert.deepEqual([servers[0]?.samplingTokens, servers[0]?.elicitation], [50, false]);
  assert.deepEqual(names(chosen(command, own, "mcp: { use: [c] }")), []);
  assert.deepEqual(names(chosen(command, "", "mcp: { use: [c] }")), ["c"]);
  assert.deepEqual(names(chosen(command, own, "mcp: { servers: { b: { off: [one] } } }")), ["a"]);
  const lower = chosen(
    command,
    "mcp: { servers: { a: { clearance: public } } }",
    "mcp: { servers: { a: { clearance: internal } } }",
  );
  assert.equal(lower[0]?.clearance, "public");
});

Deno.test("a name in remit.yaml that is not approved is said", () => {
  const command = freshCommand();
  having(command, lockedServer("a", { state: "added" }), lockedServer("b"));
  assert.deepEqual(names(chosen(command, "mcp: { use: [a, b, c] }")), ["b"]);
  const said = command.powers.screen.lines.join("\n");
  assert.match(said, /a is left out: nobody approved it/);
  assert.match(said, /c is left out: there is none of that name/);
});

Deno.test("a server whose folder is gone, or leads elsewhere now, is left out and said", () => {
  const command = freshCommand();
  const { root } = command.powers;
  const [desk, other] = [join(root, "desk"), join(root, "other")];
  Deno.mkdirSync(desk);
  Deno.mkdirSync(other);
  Deno.writeTextFileSync(join(desk, "new.json"), "");
  having(
    command,
    lockedServer("a", { grants: { read: [desk], write: [join(desk, "new.json")], net: [] } }),
  );
  assert.deepEqual(names(chosen(command)), ["a"]);
  Deno.removeSync(join(desk, "new.json"));
  assert.deepEqual(names(chosen(command)), []);
  assert.match(command.powers.screen.lines.join("\n"), /new.json" is not there; grant it again/);
  Deno.removeSync(desk);
  Deno.symlinkSync(other, desk);
  assert.deepEqual(names(chosen(command)), []);
  assert.match(
    command.powers.screen.lines.join("\n"),
    /leads to another place now; grant it again, or take it back: remit mcp grant a --drop /,
  );
  Deno.removeSync(desk);
  assert.deepEqual(names(chosen(command)), []);
});

Deno.test("a server that was granted writing before changes were staged goes on, and it is said", () => {
  const command = freshCommand();
  const desk = join(command.powers.root, "desk");
  Deno.mkdirSync(desk);
  Deno.writeTextFileSync(join(desk, "graph.json"), "{}");
  const tool = (name: string): LockedServer["reviewed"][number] => {
    const { tool, ...rest } = lockedTool("files", name);
    // As it was pinned then: whatever a program may write with was a change.
    return { ...rest, tool: { ...tool, effect: "mutateLocal" } };
  };
  const reviewed = ["get_note", "save_note"].map(tool);
  const grants = { read: [], write: [desk, join(desk, "graph.json")], net: [] };
  having(
    command,
    lockedServer("files", { grants, reviewed }),
    lockedServer("agreed", { grants, reviewed, direct: [] }),
  );
  const [agreed, files] = chosen(command);
  for (const server of [agreed, files]) {
    assert.deepEqual(server?.tools.map(({ effect, holds }) => [effect, holds]), [
      ["read", "read"],
      ["stage", "all"],
    ]);
    assert.deepEqual(server?.files, [join(desk, "graph.json")]);
  }
  const said = command.powers.screen.lines.join("\n");
  assert.match(
    said,
    /MCP server files: what it changes is staged now.*remit mcp grant files --write/,
  );
  assert.doesNotMatch(said, /MCP server agreed/);
});

Deno.test("a server whose secret is not kept is left out, and its name is said", () => {
  const command = freshCommand();
  having(command, lockedServer("a", { secretEnv: ["A_KEY"], secretHeaders: ["authorization"] }));
  const a = McpServerName.parse("a");
  assert.deepEqual(names(chosen(command)), []);
  assert.match(
    command.powers.screen.lines.join("\n"),
    /its secret "A_KEY", "authorization" is not kept/,
  );
  keepMcpSecret(registryOf(command), a, { env: "A_KEY" }, "hush");
  keepMcpOAuth(registryOf(command), a, {
    ...{
      tokenEndpoint: "https://a.org/t",
      clientId: "c",
      resource: "https://a.org",
      accessToken: "t",
    },
  });
  assert.deepEqual(names(chosen(command)), ["a"]);
});

Deno.test("a grant is absolute and real, and never where Remit keeps its own", () => {
  const command = freshCommand();
  const { powers: { root, environment }, places } = command;
  Deno.mkdirSync(join(root, "desk"));
  Deno.symlinkSync(join(root, "desk"), join(root, "link"));
  Deno.writeTextFileSync(join(environment.cwd, "file"), "");
  assert.equal(resolveGrant(registryOf(command), "~/desk"), join(root, "desk"));
  assert.equal(resolveGrant(registryOf(command), "~/link"), join(root, "desk"));
  assert.equal(resolveGrant(registryOf(command), "file"), join(environment.cwd, "file"));
  // A server cannot be started with what is not there: it is said when it is granted.
  assert.throws(
    () => resolveGrant(registryOf(command), "~/link/new.json"),
    fault("notFound", /make it first/),
  );
  Deno.mkdirSync(join(root, ".config/remit"), { recursive: true });
  Deno.symlinkSync(places.person, join(root, "keys"));
  Deno.mkdirSync(places.mcpTrees, { recursive: true });
  for (
    const path of [
      ...["/", "~", "~/keys", "~/.local", "~/.config", "~/.config/remit", places.state],
      ...[
        places.mcpTrees,
        join(places.runtime, "x"),
        environment.home,
        join(environment.home, "cli"),
      ],
    ]
  ) {
    assert.throws(
      () => resolveGrant(registryOf(command), path),
      fault("refused", /Remit's own|whole machine/),
      path,
    );
  }
  assert.equal(
    resolveGrant(registryOf(command), join(environment.home, "docs"), "read"),
    join(environment.home, "docs"),
  );
  // What no tool reads no server is granted, by whichever name, to read or to change.
  Deno.mkdirSync(join(root, ".ssh/hosts"), { recursive: true });
  Deno.writeTextFileSync(join(root, "keys.ENV"), "");
  Deno.symlinkSync(join(root, ".ssh"), join(root, "door"));
  for (
    const path of ["~/.ssh", "~/.ssh/hosts", "~/.ssh/new", "~/door", "~/door/hosts", "~/keys.ENV"]
  ) {
    for (const right of ["read", "write"] as const) {
      const never = fault("refused", /Cannot grant ".*": it is on the never-list/);
      assert.throws(() => resolveGrant(registryOf(command), path, right), never, path);
    }
  }
  assert.throws(
    () => resolveGrant(registryOf(command), "~/nowhere/new"),
    fault("notFound", /no such/),
  );
  Deno.mkdirSync(join(root, "a,b"));
  assert.throws(() => resolveGrant(registryOf(command), "~/a,b"), fault("invalidInput", /comma/));
});

async function withKernel(
  ops: FakeOps,
  f: (link: Awaited<ReturnType<typeof fakeKernel>>) => Promise<void>,
): Promise<void> {
  const kernel = await fakeKernel(ops);
  try {
    await f(kernel);
  } finally {
    kernel.link.close();
  }
}

Deno.test("a kernel is lent what a server was granted, no other secret, and nothing for one without", async () => {
  const command = freshCommand();
  const a = lockedServer("a", { secretEnv: ["A_KEY"] });
  const name = a.name;
  keepMcpSecret(registryOf(command), name, { env: "A_KEY" }, "hush");
  keepMcpSecret(registryOf(command), name, { env: "TAKEN_BACK" }, "hush");
  keepMcpSecret(registryOf(command), name, { header: "x-old" }, "hush");
  await withKernel({ mcpLend: () => null }, async ({ link, kernel }) => {
    await lendMcp(registryOf(command), link, [importedOf(a), importedOf(lockedServer("b"))]);
    assert.deepEqual(kernel.asked, [["mcpLend", {
      server: "a",
      env: { A_KEY: "hush" },
      headers: {},
    }]]);
  });
});

Deno.test("renewed tokens are kept; a kernel that knows none changes nothing", async () => {
  const command = freshCommand();
  const launch = { kind: "http", url: "https://a.org/mcp" } as const;
  const server = importedOf(lockedServer("a", { launch }));
  const tokens = {
    ...{
      tokenEndpoint: "https://a.org/t",
      clientId: "c",
      resource: "https://a.org",
      accessToken: "old",
    },
  };
  keepMcpOAuth(registryOf(command), server.name, tokens);
  const kept = (): string | undefined =>
    readMcpLoan(registryOf(command), server.name).oauth?.accessToken;
  for (
    const [answer, after] of [[null, "old"], [{ accessToken: 5 }, "old"], [{
      ...tokens,
      accessToken: "new",
    }, "new"]] as const
  ) {
    await withKernel(
      { mcpTokens: () => answer },
      ({ link }) => keepRenewed(registryOf(command), link, [server]),
    );
    assert.equal(kept(), after);
  }
  await withKernel({}, ({ link }) => keepRenewed(registryOf(command), link, [server]));
  assert.equal(kept(), "new");
});

Deno.test("trees that no server has are removed, and so are old drafts", () => {
  const command = freshCommand();
  const { powers: { disk, mcpStore }, places } = command;
  having(command, lockedServer("a"));
  for (const name of ["npm-a", "npm-gone", ".new-now"]) {
    disk.makeFolder(join(places.mcpTrees, name, "deep"));
    Deno.writeTextFileSync(join(places.mcpTrees, name, "deep/x"), "");
    Deno.chmodSync(join(places.mcpTrees, name, "deep"), 0o500);
  }
  for (const id of ["npm-a", "npm-gone"]) provideWarm(disk, places, { id });
  const old = mcpStore.draft(places.mcpTrees);
  Deno.utimeSync(old, 1, 1);
  const gone = sweepTrees(registryOf(command));
  assert.equal(gone.length, 2);
  assert.deepEqual(disk.list(places.mcpTrees), [".new-now", "npm-a"]);
  assert.deepEqual(disk.list(warmFolder(places)), ["npm-a"]);
  const warm = join(warmFolder(places), "npm-a");
  assert.deepEqual(disk.list(warm), ["deno.lock", "location_data", "npm"]);
});

Deno.test("run and session hand their tasks what was chosen", async () => {
  const command = freshCommand();
  having(command, lockedServer("a"));
  const play = JSON.stringify({ scenario: "x", turns: [{ say: "done" }] });
  const setting = await settle(command, {
    folder: command.powers.environment.cwd,
    mounts: [],
    play,
  });
  assert.deepEqual(names(setting.mcp), ["a"]);
});
