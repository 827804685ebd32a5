import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { HAS_BWRAP, HAS_PRLIMIT, runs } from "../../_fixture/small_children.ts";
import { makeProgram } from "../../../tests/fake/mcp_tree.ts";
import { waitUntil } from "../../../tests/fake/wait_until.ts";
import { EVAL_SERVER, makeMcpWorld, type McpWorld, TASK } from "../../_fixture/mcp_world.ts";
import { Digest } from "../../../contracts/authority/mod.ts";
import { Fault, type JsonObject } from "../../../contracts/base/mod.ts";
import { type ImportedServer, type McpGrants, NO_GRANTS } from "../../../contracts/exchange/mod.ts";
import { McpCallResult } from "../../../contracts/wire/mod.ts";

function test(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, ignore: !HAS_BWRAP || !HAS_PRLIMIT, fn });
}

/** A program of the machine that may do everything that its walls let it: Deno, with all rights. */
async function program(mcp: McpWorld, grants: Partial<McpGrants> = {}): Promise<ImportedServer> {
  const launch = await makeProgram(`${mcp.dir}/code`, EVAL_SERVER);
  return await mcp.server("", {
    launch: { ...launch, env: { OWN: "x" } },
    grants: { ...NO_GRANTS, ...grants },
    env: { PLAIN: "1" },
  });
}

const read = (path: string): string => `return Deno.readTextFileSync(${JSON.stringify(path)})`;
const write = (path: string): string =>
  `Deno.writeTextFileSync(${JSON.stringify(path)}, "mallory"); return "written"`;

test("a program of the machine sees what it was granted, its code and the machine's programs, and nothing else", async () => {
  await using mcp = await makeMcpWorld();
  const { dir } = mcp;
  await Deno.mkdir(`${dir}/vault`);
  await Deno.writeTextFile(`${dir}/vault/key`, "the key");
  await Deno.symlink(`${dir}/vault/key`, `${dir}/desk/link`);
  const server = await program(mcp, { read: [`${dir}/desk`] });
  equal(await mcp.run(server, read(`${dir}/desk/notes/a.md`)), "alpha\n");
  for (
    const path of [
      `${dir}/vault/key`,
      `${dir}/desk/link`,
      "/etc/passwd",
      "/root/.profile",
      `${dir}/state`,
    ]
  ) {
    match(await mcp.run(server, read(path)), /^!(?:NotFound|PermissionDenied)/, path);
  }
  for (const path of [`${dir}/desk/b`, `${dir}/code/server.js`, "/usr/bin/b", "/b"]) {
    match(await mcp.run(server, write(path)), /^!/, path);
  }
  const env = await mcp.run(server, "return Object.keys(Deno.env.toObject()).sort().join()");
  equal(env, "HOME,LANG,NO_COLOR,OWN,PATH,PLAIN,PWD,TERM,TMPDIR");
});

test("a program writes where it was granted to, and makes links that lead nowhere outside", async () => {
  await using mcp = await makeMcpWorld();
  const { dir } = mcp, server = await program(mcp, { write: [`${dir}/desk`] });
  equal(await mcp.run(server, write(`${dir}/desk/b`)), "written");
  equal(await Deno.readTextFile(`${dir}/desk/b`), "mallory");
  const out = `Deno.symlinkSync("/etc/passwd", "${dir}/desk/users"); ${read(`${dir}/desk/users`)}`;
  match(await mcp.run(server, out), /^!NotFound/);
});

test("a program reaches nobody, and sees no process but its own", async () => {
  await using mcp = await makeMcpWorld();
  const server = await program(mcp);
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  match(
    await mcp.run(
      server,
      `await Deno.connect({ hostname: "127.0.0.1", port: ${listener.addr.port} })`,
    ),
    /^!ConnectionRefused/,
  );
  match(await mcp.run(server, `return await Deno.resolveDns("example.org", "A")`), /^!/);
  const pids = await mcp.run(
    server,
    `return [...Deno.readDirSync("/proc")].filter(({ name }) => /^[0-9]+$/.test(name)).length`,
  );
  ok(Number(pids) < 8, pids);
  match(
    await mcp.run(server, `return Deno.readTextFileSync("/proc/1/environ")`),
    /^(?!.*remit-k)/s,
  );
});

test("what a program started ends with it", async () => {
  await using mcp = await makeMcpWorld();
  const server = await program(mcp);
  const spawn =
    `new Deno.Command("/bin/sleep", { args: ["86399"], stdin: "null", stdout: "null", stderr: "null" }).spawn().unref(); return "started"`;
  equal(await mcp.run(server, spawn), "started");
  // It is a copy of the server until it has become the program.
  await waitUntil("it sleeps", () => sleeping().length === 1 || undefined);
  const [pid = 0] = mcp.servers.osPids(TASK);
  await mcp.servers.close(TASK);
  equal(runs(pid), false);
  equal(sleeping().length, 0);
});

test("a program whose bytes changed is not started", async () => {
  await using mcp = await makeMcpWorld();
  const made = await program(mcp), { launch } = made;
  const other = {
    ...made,
    launch: { ...launch, sha256: Digest.parse("0".repeat(64)) },
  } as ImportedServer;
  await rejects(
    mcp.run(other, "return 1"),
    (error) =>
      error instanceof Fault && error.code === "refused" &&
      /not as it was reviewed/.test(error.message),
  );
});

test("a lease that is taken back ends a program, whose next start has what is left", async () => {
  await using mcp = await makeMcpWorld();
  const { dir } = mcp, server = await program(mcp, { read: [`${dir}/desk`] });
  equal(await mcp.run(server, read(`${dir}/desk/notes/a.md`)), "alpha\n");
  mcp.leases.revoke(`hostile${dir}/desk`);
  match(await mcp.run(server, read(`${dir}/desk/notes/a.md`)), /^!NotFound/);
});

test("a program with the network goes through the relay to the one socket, and nowhere else", async () => {
  await using net = await proxy();
  await using mcp = await makeMcpWorld({
    proxies: { open: () => Promise.resolve({ path: net.path, close: () => undefined }) },
  });
  const server = await program(mcp, { net: ["api.example.org:80"] });
  equal(
    await mcp.run(server, `return await (await fetch("http://api.example.org/v1")).text()`),
    "through",
  );
  equal(net.asked[0], "GET http://api.example.org/v1 HTTP/1.1");
  match(await mcp.run(server, `return Deno.env.get("HTTPS_PROXY")`), /^http:\/\/127\.0\.0\.1:\d+$/);
  match(await mcp.run(server, `await fetch("https://api.example.org/v1")`), /^!TypeError/);
  equal(net.asked[1], "CONNECT api.example.org:443 HTTP/1.1");
  match(await mcp.run(server, `await Deno.connect({ hostname: "1.1.1.1", port: 80 })`), /^!/);
  equal(await mcp.run(server, `return Deno.env.get("DENO_DIR") ?? "none"`), "none");
});

test("a server of npm with the network goes to that socket, for hosts that it was granted", async () => {
  await using net = await proxy();
  await using mcp = await makeMcpWorld({
    proxies: { open: () => Promise.resolve({ path: net.path, close: () => undefined }) },
  });
  const server = await mcp.server(EVAL_SERVER, {
    grants: { ...NO_GRANTS, net: ["api.example.org:443"] },
  });
  equal(
    await mcp.run(server, `return await (await fetch("https://api.example.org/v1")).text()`),
    "through",
  );
  equal(net.asked[0], "GET https://api.example.org/v1 HTTP/1.1");
  match(
    await mcp.run(server, `await fetch("https://evil.example.org/v1")`),
    /^!TypeError|^!NotCapable/,
  );
  match(
    await mcp.run(
      server,
      `return (await (await import("node:dns/promises")).lookup("data.evil.example.org")).address`,
    ),
    /^!/,
  );
  equal(net.asked.length, 1);
  mcp.leases.revoke("hostile/net/api.example.org:443");
  match(await mcp.run(server, `await fetch("https://api.example.org/v1")`), /^!/);
  equal(net.asked.length, 1);
});

interface TestProxy extends AsyncDisposable {
  readonly path: string;
  /** First lines of what came in. */
  readonly asked: readonly string[];
}

/** Stands where the net service listens. */
async function proxy(): Promise<TestProxy> {
  const dir = await Deno.makeTempDir({ prefix: "remit-p-" }), path = `${dir}/s`;
  const listener = Deno.listen({ transport: "unix", path });
  const asked: string[] = [];
  const serve = async (connection: Deno.Conn): Promise<void> => {
    const buffer = new Uint8Array(4_096), length = await connection.read(buffer) ?? 0;
    const [first = ""] = new TextDecoder().decode(buffer.subarray(0, length)).split("\r\n");
    asked.push(first);
    const refused = first.startsWith("CONNECT");
    await connection.write(
      new TextEncoder().encode(
        `HTTP/1.1 ${
          refused ? "403 Forbidden" : "200 OK"
        }\r\ncontent-length: 7\r\nconnection: close\r\n\r\nthrough`,
      ),
    );
    connection.close();
  };
  const accepting = (async () => {
    try {
      for await (const connection of listener) void serve(connection);
    } catch (error) {
      if (!(error instanceof Deno.errors.BadResource)) throw error;
    }
  })();
  return {
    ...{ path, asked },
    async [Symbol.asyncDispose](): Promise<void> {
      listener.close();
      await accepting;
      await Deno.remove(dir, { recursive: true });
    },
  };
}

function sleeping(): readonly string[] {
  return [...Deno.readDirSync("/proc")].flatMap(({ name }) => {
    try {
      return Deno.readTextFileSync(`/proc/${name}/cmdline`).split("\0")[1] === "86399"
        ? [name]
        : [];
    } catch {
      return [];
    }
  });
}

test("of a program, whose walls say nothing, what a failed call names and it was not granted is told", async () => {
  await using mcp = await makeMcpWorld();
  const held = mcp.servers.hold(TASK, await program(mcp, { read: [`${mcp.dir}/desk`] }));
  const call = async (args: JsonObject) =>
    McpCallResult.parse(await held.ask("call", { tool: "eval", args }, mcp.under()));
  const failed = { code: 'throw new Error("robots.txt forbids")', url: "https://example.org/a" };
  deepEqual((await call(failed)).refused, ['reach "example.org:443"']);
  const path = `${mcp.dir}/desk/notes/a.md`;
  deepEqual((await call({ ...failed, url: path, list: ["/srv/x"] })).refused, ['read "/srv/x"']);
  equal((await call({ code: "return 1", url: "https://example.org" })).refused, undefined);
});

/** Like some Python servers: silent about its revisions, it refuses a handshake behind that question. */
const SILENT = EVAL_SERVER.replace(
  "if (id === undefined) return;",
  `console.error(method);
   if (method === "server/discover") { globalThis.asked = true; return; }
   if (method === "initialize" && globalThis.asked) return say({ id, error: { code: -32022, message: "no" } });
   if (id === undefined) return;`,
);

async function methodsOf(revision?: string): Promise<readonly string[]> {
  await using mcp = await makeMcpWorld();
  const server = await mcp.server(SILENT, revision === undefined ? {} : { revision });
  const said = await mcp.servers.hold(TASK, server).words(mcp.under());
  equal(said.protocol, "2025-11-25");
  await mcp.servers.revoke(server.name);
  return mcp.noted.flatMap(({ what, text = "" }) => what === "errors" ? text.split("\n") : [])
    .filter((each) => each === "server/discover" || each === "initialize");
}

test("a server is asked for the revision that it spoke at its review, at once", async () => {
  deepEqual(await methodsOf("2025-11-25"), ["initialize"]);
});

test("a server that is silent about its revisions is asked for the older ones by a process that was asked nothing else (long)", async () => {
  deepEqual(await methodsOf(), ["server/discover", "initialize"]);
});
