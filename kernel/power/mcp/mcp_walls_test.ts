import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { EVAL_SERVER, makeMcpWorld, type McpWorld, TASK } from "../../_fixture/mcp_world.ts";
import { HAS_BWRAP } from "../../_fixture/small_children.ts";
import { Fault } from "../../../contracts/base/mod.ts";
import type { ImportedServer } from "../../../contracts/exchange/mod.ts";
import { McpCallResult } from "../../../contracts/wire/mod.ts";

const read = (path: string): string => `return Deno.readTextFileSync(${JSON.stringify(path)})`;
const write = (path: string): string =>
  `Deno.writeTextFileSync(${JSON.stringify(path)}, "mallory"); return "written"`;

/** A machine with a folder `desk` that is granted, and one that is not. */
async function withFiles(
  f: (
    mcp: McpWorld,
    server: (rights: "read" | "write") => Promise<ImportedServer>,
  ) => Promise<void>,
): Promise<void> {
  await using mcp = await makeMcpWorld();
  const { dir } = mcp;
  await Deno.mkdir(`${dir}/vault`);
  await Deno.writeTextFile(`${dir}/vault/key`, "the key");
  await Deno.symlink(`${dir}/vault/key`, `${dir}/desk/link`);
  await Deno.symlink("/etc/passwd", `${dir}/desk/users`);
  const grants = { read: [], write: [], net: [] };
  await f(
    mcp,
    (right) => mcp.server(EVAL_SERVER, { grants: { ...grants, [right]: [`${dir}/desk`] } }),
  );
}

function test(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, ignore: !HAS_BWRAP, fn });
}

test("mallory's server reads what it was granted, and nothing beside it, whatever it names", async () => {
  await withFiles(async (mcp, make) => {
    const { dir } = mcp, server = await make("read");
    equal(await mcp.run(server, read(`${dir}/desk/notes/a.md`)), "alpha\n");
    for (
      const path of [`${dir}/vault/key`, "/etc/passwd", "/proc/self/environ", dir, "/", "/run"]
    ) {
      match(
        await mcp.run(server, read(path)),
        /^!NotCapable: .*remit mcp grant hostile --read/,
        path,
      );
    }
    match(await mcp.run(server, read(`${dir}/desk/../vault/key`)), /^!NotCapable/);
    const asked = mcp.noted.filter(({ what, body }) =>
      what === "access" && body["allowed"] === false
    );
    ok(asked.some(({ body }) => body["value"] === `${dir}/vault/key`), "what it tried is told");
  });
});

test("a link in a granted folder leads nowhere outside of it, also one that is made later", async () => {
  await withFiles(async (mcp, make) => {
    const { dir } = mcp, server = await make("read");
    match(await mcp.run(server, read(`${dir}/desk/link`)), /^!NotFound/);
    match(await mcp.run(server, read(`${dir}/desk/users`)), /^!NotFound/);
    await Deno.remove(`${dir}/desk/notes/a.md`);
    await Deno.symlink(`${dir}/vault/key`, `${dir}/desk/notes/a.md`);
    match(await mcp.run(server, read(`${dir}/desk/notes/a.md`)), /^!NotFound/);
  });
});

test("a link that flips between a file of its own and one outside never shows the one outside", async () => {
  await withFiles(async (mcp, make) => {
    const { dir } = mcp, server = await make("read"), at = `${dir}/desk/flip`;
    let going = true;
    const flips = (async () => {
      for (let i = 0; going; i++) {
        await Deno.symlink(
          i % 2 === 0 ? `${dir}/desk/notes/a.md` : `${dir}/vault/key`,
          `${at}.new`,
        );
        await Deno.rename(`${at}.new`, at);
      }
    })();
    const found = await mcp.run(
      server,
      `const seen = new Set();
       for (let i = 0; i < 3000; i++) try { seen.add(Deno.readTextFileSync("${at}")) } catch (e) { seen.add(e.name) }
       return [...seen].sort().join()`,
    );
    going = false;
    await flips;
    equal(found, "NotFound,alpha\n");
  });
});

test("what is granted to be read cannot be written, and what is granted to be written can, in a call that may", async () => {
  await withFiles(async (mcp, make) => {
    const { dir } = mcp, server = await make("read");
    match(await mcp.run(server, write(`${dir}/desk/b.md`)), /^!NotCapable: .*may only be read/);
    match(await mcp.run(server, `Deno.removeSync("${dir}/desk/notes/a.md")`), /^!NotCapable/);
  });
  await withFiles(async (mcp, make) => {
    const { dir } = mcp, server = await make("write");
    equal(await mcp.run(server, write(`${dir}/desk/b.md`)), "written");
    equal(await Deno.readTextFile(`${dir}/desk/b.md`), "mallory");
    match(await mcp.run(server, write(`${dir}/vault/key`)), /^!NotCapable/);
    match(await mcp.run(server, write(`${dir}/desk/link`)), /^!(?:NotFound|NotCapable)/);
    equal(await Deno.readTextFile(`${dir}/vault/key`), "the key");
  });
});

test("a call that says it only reads writes nothing, though the server was granted to", async () => {
  await withFiles(async (mcp, make) => {
    const { dir } = mcp, server = await make("write");
    const tried = await mcp.run(server, write(`${dir}/desk/b.md`), { tool: "look", holds: "read" });
    match(tried, /^!NotCapable: .*held to reading.*remit mcp grant hostile --writes/);
    equal(await mcp.run(server, write("/private/own"), { tool: "look", holds: "read" }), "written");
    equal(await mcp.run(server, write(`${dir}/desk/b.md`)), "written");
  });
});

test("a server writes nothing when no call is under way that may", async () => {
  await withFiles(async (mcp, make) => {
    const { dir } = mcp, server = await make("write");
    const later = `globalThis.tried = new Promise((resolve) => setTimeout(() => {
        try { ${
      write(`${dir}/desk/b.md`).replace("return", "resolve(")
    } ) } catch (e) { resolve(e.name) } }, 100));
      return "begun"`;
    const reads = { tool: "look", holds: "read" } as const;
    equal(await mcp.run(server, later, reads), "begun");
    equal(await mcp.run(server, "return await tried", reads), "NotCapable");
    // What may write has a process of its own, which is gone with its call, and what it left under way with it.
    equal(await mcp.run(server, later), "begun");
    equal(mcp.servers.osPids(TASK).length, 2);
    match(await mcp.run(server, "return await tried"), /^!ReferenceError/);
    await rejects(Deno.stat(`${dir}/desk/b.md`), Deno.errors.NotFound);
  });
});

test("a server makes no link, not even in what is its own, so that none leads anywhere", async () => {
  await withFiles(async (mcp, make) => {
    const { dir } = mcp, server = await make("write");
    const link = (to: string): string => `Deno.symlinkSync("${dir}/desk", "${to}"); return "made"`;
    match(await mcp.run(server, link("/private/l")), /^!NotCapable/);
    match(await mcp.run(server, link(`${dir}/desk/l`)), /^!NotCapable/);
    const hard = `Deno.linkSync("${dir}/desk/notes/a.md", "/private/l"); return "made"`;
    match(await mcp.run(server, hard), /^!(?!NotFound)/);
  });
});

test("a server starts no program, loads no library, learns nothing of the machine, fetches no code", async () => {
  await withFiles(async (mcp, make) => {
    const server = await make("read");
    const tries: Readonly<Record<string, RegExp>> = {
      'new Deno.Command("/deno").outputSync(); return "ran"': /^!NotCapable/,
      '(await import("node:child_process")).execSync("id"); return "ran"': /^!.*NotCapable|^!Error/,
      'Deno.dlopen("/lib/x86_64-linux-gnu/libc.so.6", {}); return "ran"': /^!NotCapable/,
      'return (await import("node:os")).userInfo().username': /^!/,
      "return JSON.stringify(Deno.networkInterfaces())": /^!NotCapable/,
      "return String(Deno.loadavg())": /^!NotCapable/,
      "await import(`https://${'example.org'}/x.js`)": /^!TypeError/,
      'Deno.kill(1, "SIGKILL"); return "killed"': /^!NotCapable/,
    };
    for (const [code, refused] of Object.entries(tries)) {
      match(await mcp.run(server, code), refused, code);
    }
    const kinds = new Set(mcp.noted.map(({ body }) => body["permission"]));
    for (const kind of ["run", "ffi", "sys"]) ok(kinds.has(kind), kind);
  });
});

test("a server reaches nobody: no connection, no name, not the kernel's own sockets", async () => {
  await withFiles(async (mcp, make) => {
    const server = await make("read");
    using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const { port } = listener.addr;
    for (
      const code of [
        `await Deno.connect({ hostname: "127.0.0.1", port: ${port} }); return "connected"`,
        `return (await fetch("http://127.0.0.1:${port}/")).status`,
        `return (await (await import("node:dns/promises")).lookup("secret.example.org")).address`,
        `return String(await Deno.resolveDns("secret.example.org", "A"))`,
        `await Deno.connect({ transport: "unix", path: "/run/broker.sock" }); return "connected"`,
        `Deno.listen({ port: 0 }); return "listens"`,
        `Deno.listenDatagram({ transport: "udp", hostname: "0.0.0.0", port: 0 }); return "listens"`,
      ]
    ) {
      match(
        await mcp.run(server, code),
        /^!(?:NotCapable|TypeError|Error|ConnectionRefused|PermissionDenied|DnsNoRecordsFound|Other)/,
        code,
      );
    }
  });
});

test("a server's environment holds what it was handed and nothing of the kernel's", async () => {
  await using mcp = await makeMcpWorld({ serve: { env: () => ({ TOKEN: "lent" }) } });
  const server = await mcp.server(EVAL_SERVER, { env: { PLAIN: "1" }, secretEnv: ["TOKEN"] });
  const env = JSON.parse(await mcp.run(server, "return JSON.stringify(Deno.env.toObject())"));
  equal(env.TOKEN, "lent");
  equal(env.PLAIN, "1");
  const ours = [
    "DENO_DIR",
    "DENO_NO_UPDATE_CHECK",
    "DENO_PERMISSION_BROKER_PATH",
    "HOME",
    "NO_COLOR",
  ];
  const theirs = ["NPM_CONFIG_REGISTRY", "PLAIN", "PWD", "TMPDIR", "TOKEN"];
  const denos = ["npm_config_user_agent"];
  deepEqual(Object.keys(env).sort(), [...ours, ...theirs, ...denos].sort());
});

test("a lent value stands in no argument of any process", async () => {
  await using mcp = await makeMcpWorld({ serve: { env: () => ({ TOKEN: "lent-0x5ecre7" }) } });
  const server = await mcp.server(EVAL_SERVER, { secretEnv: ["TOKEN"] });
  equal(await mcp.run(server, "return Deno.env.get('TOKEN')"), "lent-0x5ecre7");
  let seen = 0;
  for (const { name } of Deno.readDirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const words = Deno.readTextFileSync(`/proc/${name}/cmdline`);
      ok(!words.includes("0x5ecre7"), words);
      seen += words.includes("hostile@1.0.0") ? 1 : 0;
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound) && !(error instanceof Error)) throw error;
    }
  }
  ok(seen > 0, "the server is among them");
});

test("a server cannot write its own package, and one that was changed is not started", async () => {
  await withFiles(async (mcp, make) => {
    const server = await make("read");
    const own = "/.remit-inside/dd/npm/packages.test/hostile/1.0.0/index.js";
    match(await mcp.run(server, read(own)), /Deno\.stdin/);
    match(await mcp.run(server, write(own)), /^!NotCapable/);
    match(await mcp.run(server, `localStorage.setItem("a", "b"); return "kept"`), /^!/);
    await mcp.servers.revoke("hostile");
    const file = `${mcp.dir}/trees/hostile-1/npm/packages.test/hostile/1.0.0/index.js`;
    await Deno.writeTextFile(file, `${EVAL_SERVER}// mallory was here\n`);
    await rejects(
      mcp.run(server, "return 1"),
      (error) =>
        error instanceof Fault && error.code === "refused" &&
        /not as it was reviewed/.test(error.message),
    );
  });
});

test("no grant stands where Remit's own files are, or what is the machine's", async () => {
  await using mcp = await makeMcpWorld();
  for (
    const path of ["/", "/etc", "/proc/1", `${mcp.dir}/state/kernel`, `${mcp.dir}/state`, mcp.dir]
  ) {
    const server = await mcp.server(EVAL_SERVER, { grants: { read: [path], write: [], net: [] } });
    await rejects(mcp.run(server, "return 1"), /Cannot grant/, path);
    await mcp.servers.close(server.name as never);
  }
});

test("a call that fails where the walls refused something says so, and so does the log; a forged word of it does not", async () => {
  await using mcp = await makeMcpWorld();
  const held = mcp.servers.hold(TASK, await mcp.server(EVAL_SERVER));
  const call = async (code: string) =>
    McpCallResult.parse(await held.ask("call", { tool: "eval", args: { code } }, mcp.under()));
  const hides = (how: string): string =>
    `try { ${how} } catch { throw new Error("Error executing tool") }`;
  const file = await call(hides('Deno.readTextFileSync("/home/alice/secret.txt")'));
  deepEqual([file.isError, file.refused], [true, ['read "/home/alice/secret.txt"']]);
  const host = await call(hides('await fetch("https://api.example.org/robots.txt")'));
  deepEqual(host.refused, ['net "api.example.org:443"']);
  equal((await call("throw new Error('its own fault')")).refused, undefined);
  // What was refused and did not matter is in the log alone.
  equal((await call(`try { Deno.readTextFileSync("/x") } catch {} return 1`)).refused, undefined);
  const told = mcp.noted.filter(({ what, body }) =>
    what === "call" && body["failed"] === "refused"
  );
  deepEqual(told.map(({ text }) => text), [
    'eval: read "/home/alice/secret.txt"',
    'eval: net "api.example.org:443"',
  ]);
});

test("a server that asks which system it is on is told what its namespace is, and nothing of its user", async () => {
  await using mcp = await makeMcpWorld();
  const server = await mcp.server(EVAL_SERVER);
  const os = (call: string): Promise<string> =>
    mcp.run(server, `const os = await import("node:os"); return String(${call})`);
  ok(!(await os("os.release()")).startsWith("!"));
  equal(await os("os.hostname()"), "remit");
  match(await os("os.userInfo().username"), /^!/);
  match(await os("Object.keys(os.networkInterfaces())"), /^!/);
  const sees = (path: string): Promise<string> =>
    mcp.run(server, `return (await import("node:fs")).default.existsSync("${path}")`);
  for (const path of ["/proc/sys/fs/binfmt_misc/WSLInterop", "/run/WSL", "/etc/passwd"]) {
    equal(await sees(path), "false", path);
  }
});
