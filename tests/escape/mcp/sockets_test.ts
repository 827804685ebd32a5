/**
 * alice grants mallory's server her folder, to read. In it somebody listens: a database, an agent of keys, a desktop.
 * Without these walls whoever may read a socket's folder has the effects of whoever listens there.
 */
import assert from "node:assert/strict";
import { listening, pythonAttack } from "./_python.ts";
import { attack } from "../_mcp.ts";
import { EVAL_SERVER, makeMcpWorld } from "../../../kernel/_fixture/mcp_world.ts";
import { McpServerName, NO_GRANTS } from "../../../contracts/exchange/mod.ts";

const REACHES = (path: string): string => `
said["reach"] = tried(lambda: reach(${JSON.stringify(path)}))
said["datagram"] = tried(lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
said["packets"] = tried(lambda: socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET))
said["by number"] = call(41 if os.uname().machine == "x86_64" else 198, 1, 1, 0)
said["pair"] = tried(socket.socketpair)
said["open"] = tried(lambda: os.open(${JSON.stringify(path)}, os.O_RDONLY))
said["kind"] = "socket" if os.path.exists(${JSON.stringify(path)}) and stat.S_ISSOCK(os.stat(${
  JSON.stringify(path)
}).st_mode) else "none"`;

const REFUSED = { reach: "EACCES", datagram: "EACCES", packets: "EACCES", "by number": "EACCES" };

for (const right of ["read", "write"] as const) {
  pythonAttack(
    `mallory's program with a ${right} grant reaches no socket in it, also none that comes later`,
    async ({ desk, tries }) => {
      await Deno.mkdir(`${desk}/run`);
      using early = listening(`${desk}/run/early.sock`);
      const grants = { [right]: [desk] };
      const first = await tries(grants, REACHES(`${desk}/run/early.sock`));
      // What stood there at the start is not even a socket any more.
      assert.deepEqual(first, { ...REFUSED, pair: "ok", open: "EACCES", kind: "none" });
      using late = listening(`${desk}/run/late.sock`);
      const second = await tries(grants, REACHES(`${desk}/run/late.sock`));
      // A call that may write works in a copy, which no socket of alice's comes into.
      const shown = right === "read"
        ? { open: "ENXIO", kind: "socket" }
        : { open: "EACCES", kind: "none" };
      assert.deepEqual(second, { ...REFUSED, pair: "ok", ...shown });
      assert.deepEqual([...early.heard, ...late.heard], []);
    },
  );
}

pythonAttack(
  "mallory's program writes into no pipe and no device of alice's that lies in what it may read",
  async ({ desk, tries }) => {
    await new Deno.Command("mkfifo", { args: [`${desk}/notes/pipe`] }).output();
    // alice listens: else to open a pipe for writing fails by itself.
    using alice = await Deno.open(`${desk}/notes/pipe`, { read: true, write: true });
    const path = JSON.stringify(`${desk}/notes/pipe`);
    const open = `tried(lambda: os.open(${path}, os.O_WRONLY | os.O_NONBLOCK))`;
    for (const right of ["read", "write"] as const) {
      const said = await tries({ [right]: [desk] }, `said["open"] = ${open}`);
      assert.deepEqual(said, { open: "EACCES" });
    }
    assert.ok(!alice.isTerminal());
  },
);

pythonAttack(
  "mallory's program finds no socket where machines have theirs, and no abstract one",
  async ({ desk, tries }) => {
    const name = `\0remit-test-${crypto.randomUUID()}`;
    using abstract = listening(name);
    const paths = [
      ...["/run/docker.sock", "/var/run/docker.sock", "/run/containerd/containerd.sock"],
      ...["/run/dbus/system_bus_socket", `/run/user/${Deno.uid()}/bus`, "/run/systemd/private"],
      ...["/run/postgresql/.s.PGSQL.5432", "/tmp/.s.PGSQL.5432", "/var/run/mysqld/mysqld.sock"],
      ...["/tmp/.X11-unix/X0", `/run/user/${Deno.uid()}/wayland-0`, "/tmp/ssh-agent/agent.1"],
      ...["/run/systemd/journal/socket", "/dev/log", "/run/nscd/socket"],
    ];
    const said = await tries(
      { read: [desk] },
      `
for path in ${JSON.stringify(paths)}: said[path] = "there" if os.path.lexists(path) else "none"
said["abstract"] = tried(lambda: reach(${JSON.stringify(name)}))
said["listed"] = "yes" if "remit-test" in open("/proc/net/unix").read() else "no"
said["variables"] = ",".join(n for n in os.environ if n in ("SSH_AUTH_SOCK", "DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "DOCKER_HOST", "XDG_RUNTIME_DIR"))`,
    );
    const none = Object.fromEntries(paths.map((path) => [path, "none"]));
    assert.deepEqual(said, { ...none, abstract: "EACCES", listed: "no", variables: "" });
    assert.deepEqual(abstract.heard, []);
  },
);

pythonAttack(
  "mallory's program holds its three pipes and nothing else, and sees nobody else's",
  async ({ desk, tries }) => {
    // The kernel is started with nothing else open (see start_powers.ts); this test with what its own starter left.
    const plain = new TextDecoder().decode(
      (await new Deno.Command("/bin/ls", { args: ["/proc/self/fd"], stdin: "null" }).output())
        .stdout,
    ).trim().split("\n").map(Number).sort((a, b) => a - b);
    // It holds that very folder open, too.
    const left = plain.filter((n) => n > 3);
    const said = await tries(
      { read: [desk] },
      `
own = [int(n) for n in os.listdir("/proc/self/fd")]
said["own"] = ",".join(str(n) for n in sorted(own) if n < 3 or os.path.exists("/proc/self/fd/%d" % n))
said["kinds"] = ",".join(os.readlink("/proc/self/fd/%d" % n).split(":")[0] for n in (0, 1, 2))
mine = str(os.getpid())
seen = []
for pid in (n for n in os.listdir("/proc") if n.isdigit() and n != mine):
    for fd in os.listdir("/proc/%s/fd" % pid):
        for look in (os.readlink, lambda path: os.open(path, os.O_RDONLY)):
            if tried(lambda: look("/proc/%s/fd/%s" % (pid, fd))) == "ok": seen.append(pid + ":" + fd)
said["others"] = ",".join(seen)`,
    );
    assert.deepEqual(said, { own: [0, 1, 2, ...left].join(), kinds: "pipe,pipe,pipe", others: "" });
  },
);

attack(
  "mallory's JavaScript server reaches no socket but the one that decides its permissions",
  async () => {
    await using mcp = await makeMcpWorld();
    const { dir } = mcp, desk = `${dir}/desk`;
    using early = listening(`${desk}/early.sock`);
    const ways = (path: string): readonly string[] => [
      `await Deno.connect({ transport: "unix", path: ${JSON.stringify(path)} })`,
      `const net = await import("node:net");
      await new Promise((done, failed) => { const s = net.createConnection(${
        JSON.stringify(path)
      }, done); s.on("error", failed); })`,
      `Deno.listen({ transport: "unix", path: ${JSON.stringify(`${path}.own`)} })`,
    ];
    using late = listening(`${desk}/late.sock`);
    for (const [name, right] of [["reads", "read"], ["writes", "write"]] as const) {
      const grants = { ...NO_GRANTS, [right]: [desk] };
      const server = await mcp.server(EVAL_SERVER, { name: McpServerName.parse(name), grants });
      for (const path of [`${desk}/early.sock`, `${desk}/late.sock`, "/run/broker.sock"]) {
        for (const way of ways(path)) {
          assert.match(await mcp.run(server, way), /^!(?:NotCapable|Error|PermissionDenied)/, way);
        }
      }
    }
    assert.deepEqual([...early.heard, ...late.heard], []);
  },
);

pythonAttack(
  "carol grants a socket by its name: the program reaches that one, no other, and holds no file",
  async ({ desk, tries, mcp }) => {
    using granted = listening(`${desk}/Granted.sock`);
    using other = listening(`${desk}/other.sock`);
    const grants = { net: [`unix:${desk}/Granted.sock`] };
    const said = await tries(
      grants,
      `
said["granted"] = tried(lambda: reach("${desk}/Granted.sock"))
said["other"] = tried(lambda: reach("${desk}/other.sock"))
said["beside"] = ",".join(os.listdir("${desk}"))
said["abstract"] = tried(lambda: reach("\\0remit-nobody"))
said["mount"] = call(${Deno.build.arch === "x86_64" ? 165 : 40}, 0, 0, 0, 0, 0)`,
    );
    assert.deepEqual(said, {
      ...{ granted: "ok", other: "ENOENT", beside: "Granted.sock", abstract: "ECONNREFUSED" },
      mount: "EPERM",
    });
    assert.deepEqual([granted.heard, other.heard], [["somebody connected"], []]);
    await assert.rejects(
      tries({ ...grants, read: [`${desk}/notes`] }, "pass"),
      /it holds a unix socket, and could connect to every other/,
    );
    // A server in JavaScript is held to the name by its permissions, whatever else it was granted.
    const server = await mcp.server(EVAL_SERVER, {
      grants: { ...NO_GRANTS, ...grants, write: [desk] },
    });
    const connect = (path: string): Promise<string> =>
      mcp.run(
        server,
        `(await Deno.connect({ transport: "unix", path: "${path}" })).close(); return "reached"`,
      );
    assert.match(await connect(`${desk}/other.sock`), /^!NotCapable/);
    assert.equal(await connect(`${desk}/Granted.sock`), "reached");
    assert.deepEqual([granted.heard.length, other.heard.length], [2, 0]);
  },
);
