import assert from "node:assert/strict";
import { besiege } from "../fake/siege.ts";

/** Runs in the kernel's own permissions, word for word. */
const PROBE = `
const told = {};
const no = async (name, f) => { try { await f(); told[name] = "REACHED"; } catch (e) { told[name] = e.name; } };
const [desk, state, port] = Deno.args;
await no("a file of the user's", () => Deno.readTextFile(desk + "/notes/plan.md"));
await no("the user's folder", () => Array.fromAsync(Deno.readDir(desk)));
await no("writing a file of the user's", () => Deno.writeTextFile(desk + "/x", "x"));
await no("the person's keys", () => Deno.readTextFile(state + "/../person/consent.key"));
await no("the system's passwords", () => Deno.readTextFile("/etc/passwd"));
await no("a link out of its state", async () => { await Deno.symlink(desk, state + "/out"); });
await no("a server on this machine", () => fetch("http://127.0.0.1:" + port));
await no("a connection", () => Deno.connect({ hostname: "127.0.0.1", port: Number(port) }));
await no("a listener", () => Deno.listen({ port: 0 }));
await no("another socket", () => Deno.listen({ transport: "unix", path: state + "/s" }));
await no("a shell", () => new Deno.Command("/bin/sh", { args: ["-c", "true"] }).output());
await no("a library", () => Deno.dlopen("/lib/x86_64-linux-gnu/libc.so.6", {}));
await no("the machine's name", () => Deno.hostname());
await no("a package", () => import("npm:zod"));
await no("a remote program", () => import("http://127.0.0.1:" + port + "/x.js"));
told.home = String(Deno.env.get("HOME"));
// Its own: so that a probe which can do nothing at all does not pass for a kernel.
await Deno.writeTextFile(state + "/probe", "mine");
told.own = await Deno.readTextFile(state + "/probe");
console.log(JSON.stringify(told));
`;

Deno.test("a bug in the kernel would have read the user's files and reached the network", async () => {
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => undefined },
    () => new Response("export default 1", { headers: { "content-type": "text/javascript" } }),
  );
  try {
    await besiege(async (siege) => {
      const [deno = "", ...line] = (await Deno.readTextFile(`/proc/${siege.pid}/cmdline`)).split(
        "\0",
      )
        .filter((word) => word !== "");
      assert.equal(line.at(-1)?.endsWith("/kernel.js"), true);
      const flags = line.slice(0, -1);
      const allowed = flags.filter((flag) => flag.startsWith("--allow-") || /^-[A-Z]/.test(flag));
      assert.deepEqual(allowed.map((flag) => flag.split("=")[0]), [
        "--allow-read",
        "--allow-write",
        "--allow-run",
        "--allow-net",
      ]);
      for (const flag of allowed) assert.match(flag, /=./);
      for (
        const word of ["--no-prompt", "--no-remote", "--no-npm", "--ignore-env", "--no-config"]
      ) {
        assert.ok(flags.includes(word), word);
      }
      const probe = `${siege.config.dir}/probe.js`;
      await Deno.writeTextFile(probe, PROBE);
      const { stdout, stderr } = await new Deno.Command(deno, {
        args: [...flags, probe, siege.desk, siege.config.dir, String(server.addr.port)],
        cwd: siege.config.dir,
        clearEnv: true,
        env: { HOME: "/home/alice", DENO_DIR: siege.config.denoDir, DENO_NO_UPDATE_CHECK: "1" },
      }).output();
      const text = new TextDecoder().decode(stdout);
      assert.notEqual(text, "", new TextDecoder().decode(stderr));
      const { home, own, ...told } = JSON.parse(text) as Record<string, string>;
      assert.deepEqual({ home, own }, { home: "undefined", own: "mine" });
      const reached = Object.entries(told).filter(([, error]) =>
        error !== "NotCapable" && error !== "TypeError"
      );
      assert.deepEqual(reached, []);
      assert.equal(Object.keys(told).length, 15);
    });
  } finally {
    await server.shutdown();
  }
});
