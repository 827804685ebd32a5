import assert from "node:assert/strict";
import { HAS_BWRAP } from "./_fixture_test.ts";
import {
  ALICE,
  type CommandBench,
  granted,
  isThere,
  makeBench,
  TASK,
} from "./_command_fixture_test.ts";

const SH = "/bin/sh";
const GIT = "/usr/bin/git", MAKE = "/usr/bin/make", PYTHON = "/usr/bin/python3";
const NODE = "/usr/bin/node";
/** Seconds of sleeps that no other process of this machine sleeps. */
const long = (n: number): string => `30${n}.${Deno.pid}`;
const BRIEF = `0.5${Deno.pid}`;

/** A test over a fresh bench. */
function test(
  name: string,
  files: Readonly<Record<string, string>>,
  work: (bench: CommandBench) => Promise<void>,
  needs: readonly string[] = [],
): void {
  Deno.test({
    name,
    ignore: !HAS_BWRAP || !needs.every(isThere),
    async fn(): Promise<void> {
      const bench = await makeBench(files);
      try {
        await work(bench);
      } finally {
        await bench.close();
      }
    },
  });
}

test("alice runs a program over her folder: output, exit code, colour", {}, async ({ run }) => {
  const { exit, stdout, stderr, cut, colour, label, staged } = await run(SH, [
    "-c",
    "cat notes/a.md; echo oops >&2; exit 3",
  ]);
  assert.deepEqual({ exit, stdout, stderr, cut, colour, label, staged }, {
    ...{ exit: 3, stdout: "alpha\n", stderr: "oops\n", cut: false },
    ...{ colour: "YELLOW", label: "internal", staged: [] },
  });
});

test("what a program writes is staged, never written; a second run sees it", {
  "b.txt": "b\n",
  "sub/c.txt": "c\n",
}, async ({ run, content, world }) => {
  const first = await run(SH, [
    "-c",
    "echo new > made.txt; echo more >> b.txt; rm sub/c.txt; mkdir -p x/y; echo z > x/y/z; : > notes/a.md",
  ], { colour: "RED", label: "secret" });
  assert.deepEqual(first.staged.map(({ path, base, next }) => [path, !!base, !!next]).sort(), [
    ["desk/b.txt", true, true],
    ["desk/made.txt", false, true],
    ["desk/notes/a.md", true, true],
    ["desk/sub/c.txt", true, false],
    ["desk/x/y/z", false, true],
  ]);
  assert.deepEqual(first.left, []);
  for (const change of first.staged) {
    assert.deepEqual([change.colour, change.label], ["RED", "secret"], change.path);
  }
  const change = first.staged.find(({ path }) => path === "desk/b.txt");
  assert.equal(await content(change?.next), "b\nmore\n");
  assert.equal(await content(change?.base), "b\n");
  assert.equal(await Deno.readTextFile(`${world.dir}/desk/b.txt`), "b\n");
  await assert.rejects(Deno.stat(`${world.dir}/desk/made.txt`), Deno.errors.NotFound);

  const second = await run(SH, [
    "-c",
    "cat b.txt made.txt; ls sub; rm made.txt; printf 'b\\n' > b.txt",
  ]);
  assert.equal(second.stdout, "b\nmore\nnew\n");
  assert.equal(second.colour, "RED");
  // Both are as the folder has them again.
  assert.deepEqual(second.unstaged.toSorted(), ["desk/b.txt", "desk/made.txt"]);
  assert.deepEqual(second.staged, []);
});

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
  "mallory's background processes end with the call: fork, setsid, nohup, closed outputs",
  {},
  async (
    { run, world },
  ) => {
    const beat = `${world.dir}/work/${"t000000000000"}`;
    const { stdout, exit, ms } = await run(SH, [
      "-c",
      "(setsid nohup sh -c 'while :; do echo x >> beat; sleep 0.01; done' >/dev/null 2>&1 <&- &) ; " +
      `sh -c 'sleep ${long(0)} & sleep ${
        long(0)
      } &' ; sleep 0.1; wc -l < beat > seen; echo started`,
    ]);
    assert.deepEqual([exit, stdout], [0, "started\n"]);
    assert.ok(ms < 10_000);
    assert.deepEqual(sleepers(), []);
    // Its room is gone, and nobody makes it again.
    assert.deepEqual([...Deno.readDirSync(beat)], []);
  },
);

test("a program that will not end is ended with all its children when its time is up", {}, async (
  { run, pids, overlay },
) => {
  await assert.rejects(
    run(SH, [
      "-c",
      `trap '' TERM INT HUP; echo x > y; (setsid sleep ${long(1)} &); sleep ${long(2)}`,
    ], {
      timeoutMs: 400,
    }),
    { code: "timedOut" },
  );
  assert.equal(overlay.length, 0);
  await until(() => sleepers().length === 0 && pids.length > 0);
});

test(
  "a cancelled run, and one whose lease is taken back, stage nothing and leave nothing",
  {},
  async (
    { run, revoke, commands, overlay },
  ) => {
    const abort = new AbortController();
    const first = run(SH, ["-c", `echo x > y; sleep ${long(3)}`], { signal: abort.signal });
    await until(() => sleepers().length > 0);
    abort.abort();
    await assert.rejects(first, { code: "cancelled" });
    const second = run(SH, ["-c", `echo x > y; sleep ${long(4)}`]);
    await until(() => sleepers().includes(long(4)));
    revoke();
    await assert.rejects(second, { code: "leaseRevoked" });
    const third = run(SH, ["-c", `sleep ${long(5)}`]);
    await until(() => sleepers().includes(long(5)));
    await Promise.all([commands.close(TASK), assert.rejects(third, { code: "cancelled" })]);
    assert.equal(overlay.length, 0);
    await until(() => sleepers().length === 0);
  },
);

test("a fork bomb is bounded, and gone with its call", {}, async ({ run }) => {
  const count = "import os,sys,time\nn=0\n" +
    "try:\n for _ in range(3000):\n  if os.fork()==0:\n   time.sleep(300)\n   os._exit(0)\n  n+=1\n" +
    "except OSError: pass\nprint(n)\n";
  const { stdout } = await run(PYTHON, ["-c", count]);
  const made = Number(stdout.trim());
  assert.ok(made > 20 && made < 200, `it made ${made} processes`);
  assert.deepEqual(sleepers(), []);
  // Whether it hits the limit or its time is up: nothing of it stays.
  const bomb = `b() { b | b & sleep ${long(7)}; }; b; wait`;
  await run(SH, ["-c", bomb], { timeoutMs: 1_500 }).catch((error) => {
    assert.equal(error.code, "timedOut");
  });
  await until(() => sleepers().length === 0);
}, [PYTHON]);

test("output is cut at its limits; a flood ends the program", {}, async ({ run }) => {
  const cut = await run(SH, [
    "-c",
    "i=0; while [ $i -lt 5000 ]; do echo line $i; i=$((i+1)); done; echo é >&2",
  ], {
    lines: 3,
  });
  assert.deepEqual([cut.stdout, cut.stderr, cut.cut, cut.exit], [
    "line 0\nline 1\nline 2\n",
    "é\n",
    true,
    0,
  ]);
  const bytes = await run("/usr/bin/printf", ["%s", "äöü"], { bytes: 3 });
  assert.deepEqual([bytes.stdout, bytes.cut], ["ä", true]);
  await assert.rejects(run("/usr/bin/yes", []), { code: "tooLarge" });
});

test("a disk is not filled: a run that writes too much is ended", {}, async ({ run }) => {
  const fill = "i=0; while :; do head -c 200000000 /dev/zero > f$i || exit; i=$((i+1)); done";
  await assert.rejects(run(SH, ["-c", fill]), { code: "tooLarge" });
  const memory = await run(SH, [
    "-c",
    "head -c 400000000 /dev/zero > /tmp/x; head -c 400000000 /dev/zero > /dev/shm/x",
  ]);
  assert.match(memory.stderr, /No space left/);
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

test("the folder that a program starts in is a real one of its mount", { "sub/x": "x\n" }, async (
  { run, world },
) => {
  assert.equal((await run("/bin/pwd", [], { cwd: "desk/sub" })).stdout, "/m/desk/sub\n");
  await Deno.symlink("/", `${world.dir}/desk/root`);
  await Deno.symlink("sub", `${world.dir}/desk/alias`);
  await assert.rejects(run("/bin/pwd", [], { cwd: "desk/root" }), { code: "refused" });
  await assert.rejects(run("/bin/pwd", [], { cwd: "desk/root/etc" }), { code: "refused" });
  await assert.rejects(run("/bin/pwd", [], { cwd: "desk/alias" }), { code: "refused" });
  await assert.rejects(run("/bin/pwd", [], { cwd: "desk/none" }), { code: "notFound" });
});

test("a program that closes its folders hides nothing, and nothing is taken for deleted", {
  "sub/x": "x\n",
}, async ({ run }) => {
  const { staged, left } = await run(SH, [
    "-c",
    "chmod 000 sub notes/a.md 2>/dev/null; mkdir s; chmod 000 s",
  ]);
  assert.deepEqual(staged.filter(({ next }) => next === undefined), []);
  assert.ok(left.length <= 3, left.join("\n"));
});

test("changes in the folder meanwhile are not overwritten by what the program made of them", {
  "b.txt": "b\n",
}, async ({ run, world }) => {
  const running = run(SH, ["-c", `echo mine > b.txt; sleep ${BRIEF}; echo done`]);
  await until(() => sleepers().includes(BRIEF));
  await Deno.writeTextFile(`${world.dir}/desk/b.txt`, "theirs\n");
  const { staged, left } = await running;
  assert.deepEqual(staged, []);
  assert.match(left.join(), /desk\/b\.txt: it changed in the folder/);
});

test("hostile trees are bounded: deep, broken names, large files, too many, rewritten times", {
  "b.txt": "before\n",
}, async ({ run, world, content }) => {
  const script = `
import os
os.makedirs("/".join(["d"] * 90))
open(b"bad\\xff\\xfe", "w").write("x")
open("big", "wb").truncate(20_000_000)
stat = os.stat("b.txt")
open("twin", "w").write("AFTER!\\n")
os.utime("twin", ns=(stat.st_atime_ns, stat.st_mtime_ns))
os.link("twin", "other")
os.rename("twin", "b.txt")
`;
  const { staged, left, exit, stderr } = await run(PYTHON, ["-c", script]);
  assert.equal(exit, 0, stderr);
  assert.deepEqual(staged.map(({ path }) => path).sort(), ["desk/b.txt", "desk/other"]);
  assert.equal(await content(staged.find(({ path }) => path === "desk/b.txt")?.next), "AFTER!\n");
  for (const why of ["too deep", "not UTF-8", "above"]) {
    assert.ok(left.some((line) => line.includes(why)), `${why} in ${left.join("\n")}`);
  }
  const many = "import os\nfor n in range(12000): open(f'n{n}', 'w').write('x')\n";
  await assert.rejects(run(PYTHON, ["-c", many]), { code: "tooLarge" });
  await Deno.writeTextFile(`${world.dir}/desk/huge`, "");
  await Deno.truncate(`${world.dir}/desk/huge`, 600 * 1024 * 1024);
  await assert.rejects(run(SH, ["-c", "echo"]), { code: "tooLarge" });
}, [PYTHON]);

test("the clock of a stopped process stands still", {}, async ({ run, commands }) => {
  commands.freeze(ALICE);
  const { exit } = await run(SH, ["-c", `sleep ${BRIEF}`], { timeoutMs: 200 });
  assert.equal(exit, 0);
  commands.thaw(ALICE);
  await assert.rejects(run(SH, ["-c", `sleep ${long(6)}`], { timeoutMs: 200 }), {
    code: "timedOut",
  });
});

Deno.test("without walls no program of the machine is run, and the refusal says what is missing", async () => {
  const bench = await makeBench({}, "none");
  try {
    await assert.rejects(bench.run("/bin/true", []), {
      code: "unavailable",
      message: /bubblewrap/,
    });
    assert.deepEqual(bench.pids, []);
  } finally {
    await bench.close();
  }
});

test("git, python, node and make work as classes", {
  "Makefile": "out: notes/a.md\n\tcp notes/a.md out\n",
}, async ({ run, world }) => {
  const git = async (...args: string[]): Promise<void> => {
    const { success } = await new Deno.Command("git", {
      args: ["-c", "user.name=a", "-c", "user.email=a@example.org", ...args],
      cwd: `${world.dir}/desk`,
    }).output();
    assert.ok(success);
  };
  await git("init", "-q");
  await git("add", "Makefile", "notes");
  await git("commit", "-q", "-m", "one");
  const log = await run(GIT, ["log", "--oneline"]);
  assert.match(log.stdout, /^[0-9a-f]+ one\n$/, log.stderr);
  const make = await run(MAKE, []);
  assert.deepEqual(make.staged.map(({ path }) => path), ["desk/out"], make.stderr);
  const python = await run(PYTHON, ["-"], {
    stdin: "print(open('out').read(), 6 * 7)\n",
  });
  assert.equal(python.stdout, "alpha\n 42\n", python.stderr);
  const node = await run(NODE, [
    "-e",
    "console.log(require('fs').readdirSync('.').length)",
  ]);
  assert.equal(node.exit, 0, node.stderr);
}, [PYTHON, MAKE, NODE, GIT]);

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

/** Arguments of the test's own `sleep`s that run anywhere on this machine. */
function sleepers(): readonly string[] {
  const found: string[] = [];
  for (const { name } of Deno.readDirSync("/proc")) {
    if (!/^[0-9]+$/.test(name)) continue;
    try {
      const [program = "", first = ""] = Deno.readTextFileSync(`/proc/${name}/cmdline`).split("\0");
      if (/(^|\/)sleep$/.test(program) && first.endsWith(String(Deno.pid))) found.push(first);
    } catch {
      // It ended while it was looked at.
    }
  }
  return found;
}

/** Waits for what other processes do. */
async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; !holds(); tries++) {
    assert.ok(tries < 2_000, "it never came");
    // TIMER: other processes tell nobody when they have begun or ended.
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
