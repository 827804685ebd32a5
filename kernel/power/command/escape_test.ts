/** A granted program of mallory's, in a real namespace, reaches nothing that it was not handed. */
import assert from "node:assert/strict";
import { HAS_BWRAP } from "../../_fixture/small_children.ts";
import { granted, makeBench } from "../../_fixture/command_bench.ts";
import { long, PYTHON, SH, sleepers, test, until } from "../../_fixture/command_cases.ts";

test("nothing of the kernel's environment, nor of the machine's, is there", {}, async ({ run }) => {
  Deno.env.set("REMIT_TEST_SECRET", "hunter2");
  const { stdout } = await run("/usr/bin/env", [], { env: { MINE: "1" } });
  Deno.env.delete("REMIT_TEST_SECRET");
  const names = stdout.trim().split("\n").map((line) => line.slice(0, line.indexOf("="))).sort();
  assert.deepEqual(names, [
    ...["HOME", "LANG", "MINE", "NO_COLOR", "PATH", "PWD", "TERM", "TMPDIR"],
  ]);
  const all = await run(SH, [
    "-c",
    "cat /proc/*/environ /proc/self/mounts | tr '\\0' '\\n'; hostname",
  ]);
  assert.ok(!all.stdout.includes("hunter2"));
  assert.match(all.stdout, /remit\n$/);
});

test(
  "words are words: none is read by the walls, a shell, or an option of theirs",
  {},
  async ({ run }) => {
    const words = [
      "--bind",
      "/",
      "/x",
      "--",
      "$(id)",
      "; id",
      "`id`",
      "a b",
      "",
      "-c",
      "*",
      "\n",
      "--ro-bind",
    ];
    const { stdout } = await run("/usr/bin/printf", ["%s|", ...words]);
    assert.equal(stdout, words.map((word) => `${word}|`).join(""));
  },
);

test("no way to read outside: the user's files, the state, another mount, the never-list", {
  ".env": "KEY=1\n",
  "deep/x.pem": "PEM\n",
}, async ({ run, world }) => {
  await Deno.symlink("/etc/passwd", `${world.dir}/desk/passwd`);
  await Deno.symlink("keys.env", `${world.dir}/desk/innocent`);
  await Deno.link(`${world.dir}/desk/.env`, `${world.dir}/desk/second_name`);
  const paths = [
    ...["/etc/passwd", "/etc/shadow", "/root", "/home", "/var", "/m/vault", "/m/vault/v.txt"],
    ...[world.dir, "passwd", "innocent", ".env", "keys.env", "second_name", "deep/x.pem", "/sys"],
    ...[
      "/content",
      "/work",
      "/pins",
      "/proc/1/root/m",
      "/proc/1/mem",
      "/proc/1/environ",
      "/proc/kcore",
    ],
    ...["/proc/1/cwd/", "/run/secrets", "/mnt", "/opt", "/srv", "/boot", "/etc/hostname"],
  ];
  for (const path of paths) {
    const { exit, stdout } = await run(SH, ["-c", 'cat "$1" || ls "$1/"', "sh", path]);
    assert.notEqual(exit, 0, `${path}: ${stdout.slice(0, 200)}`);
    assert.equal(stdout, "", path);
  }
  const found = await run(SH, [
    "-c",
    "find / -xdev -name '*.env' -o -name v.txt 2>/dev/null; ls -A",
  ]);
  assert.ok(!/keys\.env|v\.txt/.test(found.stdout), found.stdout);
  assert.deepEqual(found.left, []);
});

test("no way to write outside, and what no tool may write is left, and told", {
  "remit.yaml": "version: 1\n",
  ".git/config": "[core]\n",
}, async ({ run, world }) => {
  const outside = [
    "/usr/x",
    "/etc/x",
    "/x",
    "/m/x",
    "/run/x",
    "/dev/x",
    "/lib/x",
    "/bin/sh",
  ];
  for (const path of outside) {
    const { exit } = await run(SH, ["-c", ': > "$1"', "sh", path]);
    assert.notEqual(exit, 0, path);
  }
  const { staged, left } = await run(SH, [
    "-c",
    "echo x >> remit.yaml; echo x > .git/hooks; echo x > a.env; echo x > .remit-y; ln -s /etc/passwd l; " +
    "mkfifo f; rm .git/config; mv notes gone; ln -s gone notes; printf x > \"$(printf 'bad\\033name')\"",
  ]);
  assert.deepEqual(staged.map(({ path }) => path).sort(), ["desk/gone/a.md", "desk/notes/a.md"]);
  for (
    const name of ["remit.yaml", ".git/hooks", "a.env", ".remit-y", "l", "f", ".git/config", "bad"]
  ) {
    assert.ok(
      left.some((line) => line.startsWith(`desk/${name}`)),
      `${name} in ${left.join("\n")}`,
    );
  }
  assert.equal(await Deno.readTextFile(`${world.dir}/desk/remit.yaml`), "version: 1\n");
});

test(
  "there is no network: no interface but loopback, no connection, no name",
  {},
  async ({ run }) => {
    const listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
    try {
      const { port } = listener.addr;
      const connect =
        `import socket\nfor h in ["127.0.0.1","0.0.0.0","::1","1.1.1.1","localhost"]:\n` +
        ` try:\n  socket.create_connection((h, ${port}), 2)\n  print("connected", h)\n` +
        ` except OSError as e: print("no", h)\n` +
        `print(sorted(n for _, n in socket.if_nameindex()))\n`;
      const { stdout } = await run(PYTHON, ["-c", connect]);
      assert.equal(stdout, "no 127.0.0.1\nno 0.0.0.0\nno ::1\nno 1.1.1.1\nno localhost\n['lo']\n");
    } finally {
      listener.close();
    }
  },
);

test(
  "a program cannot make namespaces, mount, trace process 1, or gain a right",
  {},
  async ({ run }) => {
    const tries = [
      "unshare -U true",
      "unshare -n true",
      "mount -t tmpfs t /tmp",
      "mount --bind /usr /m",
      "chroot / true",
      "kill -9 1; kill -0 1 && test ! -e /proc/1",
      ": > /proc/1/mem",
      "python3 -c 'import ctypes; exit(0 if ctypes.CDLL(None).ptrace(16, 1, 0, 0) == 0 else 1)'",
      "hostname evil",
      "date -s 2001-01-01",
      "mknod n c 1 1",
    ];
    for (const line of tries) {
      const { exit } = await run(SH, ["-c", line]);
      assert.notEqual(exit, 0, line);
    }
    const { stdout } = await run(SH, [
      "-c",
      "grep -E '^(Cap(Prm|Eff|Bnd|Amb)|NoNewPrivs)' /proc/self/status",
    ]);
    assert.match(stdout, /NoNewPrivs:\t1/);
    assert.ok(!/[1-9a-f]/.test(stdout.replaceAll(/NoNewPrivs:\t1|Cap\w+:/g, "")), stdout);
  },
);

test(
  "a program that was replaced since the decision is refused; its own bytes are what runs",
  {},
  async (
    { run, world },
  ) => {
    const tool = `${world.dir}/tool`;
    await Deno.writeTextFile(tool, "#!/bin/sh\necho first\n", { mode: 0o755 });
    const command = await granted(tool);
    assert.equal((await run(tool, [], { command })).stdout, "first\n");
    await Deno.writeTextFile(tool, "#!/bin/sh\necho second\n");
    await assert.rejects(run(tool, [], { command }), { code: "refused" });
    await Deno.remove(tool);
    await Deno.symlink("/usr/bin/id", tool);
    await assert.rejects(run(tool, [], { command }), { code: "refused" });
    await assert.rejects(run(SH, [], { sha256: "0".repeat(64) }), { code: "refused" });
  },
);

Deno.test({
  name: "without root the same walls stand: the user's own rights, nothing outside, no escape",
  ignore: !HAS_BWRAP,
  async fn(): Promise<void> {
    const bench = await makeBench({ "b.txt": "b\n" }, "own");
    try {
      const { run } = bench;
      const { staged, stdout } = await run(SH, [
        "-c",
        `echo x > made; rm b.txt; (setsid sleep ${
          long(8)
        } >/dev/null 2>&1 &); ls /root /m/vault; cat keys.env`,
      ]);
      assert.deepEqual(staged.map(({ path }) => path).sort(), ["desk/b.txt", "desk/made"]);
      assert.equal(stdout, "");
      assert.deepEqual(sleepers(), []);
      await assert.rejects(run(SH, ["-c", `sleep ${long(9)}`], { timeoutMs: 300 }), {
        code: "timedOut",
      });
      await until(() => sleepers().length === 0);
      for (
        const line of [
          "unshare -U true",
          ": > /proc/1/mem",
          "mount -t tmpfs t /tmp",
          "kill -9 1 && test ! -d /proc/1",
        ]
      ) {
        assert.notEqual((await run(SH, ["-c", line])).exit, 0, line);
      }
    } finally {
      await bench.close();
    }
  },
});

test(
  "no way to a socket, a pipe or a device of the user's, and none to Linux past the filter",
  {},
  async ({ run, world }) => {
    using listener = Deno.listen({ transport: "unix", path: `${world.dir}/desk/early.sock` });
    await new Deno.Command("mkfifo", { args: [`${world.dir}/desk/pipe`] }).output();
    const { stdout } = await run(PYTHON, [
      "-c",
      `import os, socket, ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
def call(nr, *args):
    ctypes.set_errno(0)
    return "ok" if libc.syscall(nr, *[ctypes.c_void_p(a) for a in args]) != -1 else errno.errorcode[ctypes.get_errno()]
def made(family, kind=socket.SOCK_STREAM):
    try: socket.socket(family, kind); return "ok"
    except OSError as e: return errno.errorcode[e.errno]
print(",".join(n for n in os.listdir(".") if n in ("early.sock", "pipe")))
print(made(socket.AF_UNIX), made(socket.AF_UNIX, socket.SOCK_DGRAM), made(socket.AF_INET), made(17, socket.SOCK_RAW))
x = os.uname().machine == "x86_64"
print(call(435, 0, 0), call(425, 1, 0), call(272 if x else 97, 0x10000000), call(101 if x else 117, 0, 0, 0, 0), call(430, 0, 0))`,
    ]);
    assert.deepEqual(stdout.split("\n"), [
      "",
      "EACCES EACCES ok EAFNOSUPPORT",
      "ENOSYS EPERM EPERM EPERM EPERM",
      "",
    ]);
    assert.ok(listener.addr.path);
  },
  [PYTHON],
);
