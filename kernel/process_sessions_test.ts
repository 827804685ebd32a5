import assert from "node:assert/strict";
import {
  SESSION_IDLE_MS,
  SESSION_SIGNALS,
  SESSIONS_EACH,
  type SessionStart,
  TaskId,
} from "../contracts/mod.ts";
import { ALICE, granted, isThere, TASK } from "./_command_fixture_test.ts";
import { HAS_BWRAP } from "./_fixture_test.ts";
import {
  BOB,
  eventually,
  makeSessionBench,
  owns,
  processesWith,
  type SessionBench,
} from "./_process_fixture_test.ts";

const SH = "/bin/sh", CAT = "/bin/cat", PYTHON = "/usr/bin/python3";
const WITH_PYTHON = isThere(PYTHON);
const NEVER = new AbortController().signal;
/** Seconds of sleeps that no other process of this machine sleeps. */
const long = (n: number): string => `31${n}.${Deno.pid}`;

/** A test over a fresh bench, after which no process and no folder of a session is left. */
function test(
  name: string,
  work: (bench: SessionBench) => Promise<void>,
  files: Readonly<Record<string, string>> = {},
  identity?: "own",
): void {
  Deno.test({
    name,
    ignore: !HAS_BWRAP || (/python/.test(name) && !WITH_PYTHON),
    async fn(): Promise<void> {
      const bench = await makeSessionBench(files, identity);
      try {
        await work(bench);
        await bench.sessions.close(TASK);
        assert.deepEqual(bench.sessions.osPids(TASK), []);
        assert.deepEqual(roomsOf(bench), []);
      } finally {
        await bench.close();
      }
    },
  });
}

function roomsOf({ world }: SessionBench): readonly string[] {
  try {
    return [...Deno.readDirSync(`${world.dir}/work/${TASK}`)].map(({ name }) => name);
  } catch {
    return [];
  }
}

test(
  "alice talks to a python that waits for her, and what it wrote is staged when she closes",
  async (
    { start, write, until, finish, content, world },
  ) => {
    const id = await start(PYTHON, ["-i", "-q"]);
    await until(id, />>> $/);
    await write(id, "x = 6 * 7\nprint('answer', x)\n");
    assert.match((await until(id, /answer 42/)).stdout, /^answer 42\n/);
    await write(
      id,
      "print(open('notes.txt').read() + '!', file=open('made.txt', 'w'), flush=True)\n",
    );
    await write(id, "print('done')\n");
    await until(id, /done/);
    const { state, exit, why, staged, colour, label } = await finish(id);
    assert.deepEqual({ state, exit, why, colour, label }, {
      ...{ state: "exited", exit: 137, why: "it was closed", colour: "YELLOW", label: "internal" },
    });
    assert.deepEqual(staged.map(({ path, colour }) => [path, colour]), [[
      "desk/made.txt",
      "YELLOW",
    ]]);
    assert.equal(await content(staged[0]?.next), "hello\n!\n");
    await assert.rejects(Deno.stat(`${world.dir}/desk/made.txt`), Deno.errors.NotFound);
  },
  { "notes.txt": "hello\n" },
);

test("input goes in as it is, its end ends cat, and each output comes once", async ({ start, write, until, sessions, finish }) => {
  const id = await start(CAT, []);
  await write(id, "one\n");
  assert.equal((await until(id, /one/)).stdout, "one\n");
  const again = await sessions.poll(
    owns(ALICE),
    id,
    { waitMs: 0, bytes: 1_000, newest: false },
    NEVER,
  );
  assert.deepEqual([again.stdout, again.state, again.more], ["", "running", false]);
  await write(id, "zwei ä漢\n", true);
  const last = await until(id, /never/);
  assert.deepEqual([last.stdout, last.state, last.exit], ["zwei ä漢\n", "exited", 0]);
  await assert.rejects(write(id, "more"), { code: "gone" });
  const { exit, staged } = await finish(id);
  assert.deepEqual([exit, staged], [0, []]);
  await assert.rejects(write(id, "more"), { code: "gone" });
});

test("input after its end is refused while the program runs", async ({ start, write, until }) => {
  const id = await start(SH, ["-c", `cat; echo over; sleep ${long(0)}`]);
  await write(id, "x\n", true);
  await until(id, /over/);
  await assert.rejects(write(id, "y\n"), { code: "conflict" });
});

test("a server that never ends is ended with its close; its time ends it, too, and closing stages", async ({ start, until, finish, timers, sessions }) => {
  const serve = `echo up; echo x > served; while :; do sleep ${long(1)}; done`;
  const first = await start(SH, ["-c", serve], { lifeMs: 3_333_333 });
  await until(first, /up/);
  assert.equal(processesWith(long(1)).length, 1);
  timers.fire(3_333_333);
  const { state, exit, why } = await until(first, /never/);
  assert.deepEqual([state, exit, why], ["exited", 137, "its time was up (3333333 ms)"]);
  assert.deepEqual(processesWith(long(1)), []);
  assert.deepEqual((await finish(first)).staged.map(({ path }) => path), ["desk/served"]);
  const second = await start(SH, ["-c", serve]);
  await until(second, /up/);
  assert.equal(sessions.osPids(TASK).length, 2);
  await finish(second);
  assert.deepEqual(processesWith(long(1)), []);
});

const FLIGHT = (n: number): string =>
  `(setsid nohup sh -c 'trap "" HUP TERM INT; sleep ${long(n)}; sleep ${long(n)}' ` +
  `>/dev/null 2>&1 <&- &); (sh -c 'sleep ${long(n)} &' &); sleep 0.05; echo away`;

test("what mallory sends to the background is gone after the close, the end of the program, the task", async ({ start, until, finish, sessions }) => {
  const closed = await start(SH, ["-c", `${FLIGHT(2)}; sleep ${long(2)}`]);
  await until(closed, /away/);
  assert.ok(processesWith(long(2)).length >= 2);
  await finish(closed);
  assert.deepEqual(processesWith(long(2)), []);

  const left = await start(SH, ["-c", FLIGHT(3)]);
  assert.equal((await until(left, /never/)).state, "exited");
  assert.deepEqual(processesWith(long(3)), []);

  const ended = await start(SH, ["-c", `${FLIGHT(4)}; sleep ${long(4)}`], {
    terminal: { rows: 5, columns: 40 },
  });
  await until(ended, /away/);
  assert.ok(processesWith(long(4)).length >= 2);
  await sessions.close(TASK);
  assert.deepEqual(processesWith(long(4)), []);
});

test("a flood makes the program wait: all of it comes, in order; the newest can be asked for", async ({ start, until, sessions }) => {
  const count = 'i=0; while [ $i -lt 60000 ]; do echo "line $i"; i=$((i+1)); done';
  const id = await start(SH, ["-c", count]);
  const { stdout, state } = await until(id, /never/);
  const lines = stdout.trimEnd().split("\n");
  assert.deepEqual([state, lines.length, lines.at(-1)], ["exited", 60_000, "line 59999"]);
  assert.ok(lines.every((line, n) => line === `line ${n}`));

  const flood = await start("/usr/bin/yes", ["ä".repeat(99)]);
  const before = Deno.memoryUsage().rss;
  for (let n = 0; n < 5; n++) {
    await until(flood, /ä/);
    const newest = { waitMs: 500, bytes: 1_000, newest: true };
    const { stdout, dropped, more } = await sessions.poll(owns(ALICE), flood, newest, NEVER);
    assert.ok(dropped > 0 && stdout.length > 100 && stdout.length <= 1_000, `${dropped}`);
    assert.match(stdout, /^[ä\n]+$/);
    assert.ok(typeof more === "boolean");
  }
  assert.ok(Deno.memoryUsage().rss - before < 64 * 1024 * 1024);
});

test("a program that does not read is given no more than fits", async ({ start, write }) => {
  const id = await start("/bin/sleep", [long(5)]);
  const block = "x".repeat(65_536);
  await assert.rejects(async () => {
    for (let n = 0; n < 32; n++) await write(id, block);
  }, { code: "tooLarge" });
});

test("a session is its process's own: guessed, of another process, of another task, it is unknown", async ({ start, sessions, finish }) => {
  const id = await start(CAT, []);
  assert.match(id, /^s[0-9a-f]{32}$/);
  const other = TaskId.parse("t111111111111");
  const guess = `s${"0".repeat(32)}`;
  const taint = { colour: "RED", label: "secret" } as const;
  const tries = [
    [owns(ALICE), guess],
    [owns(ALICE), ""],
    [owns(ALICE), "__proto__"],
    [owns(BOB), id],
    [owns(ALICE, other), id],
  ] as const;
  for (const [owner, named] of tries) {
    const wanted = { code: "notFound" };
    assert.throws(() => sessions.look(owner, named), wanted);
    const poll = { waitMs: 0, bytes: 100, newest: false };
    await assert.rejects(sessions.poll(owner, named, poll, NEVER), wanted);
    await assert.rejects(
      sessions.write(owner, named, { ...taint, text: "x", end: true }),
      wanted,
    );
    await assert.rejects(sessions.signal(owner, named, { ...taint, signal: "KILL" }), wanted);
    await assert.rejects(sessions.finish(owner, named, { bytes: 100 }, NEVER), wanted);
  }
  // Nothing of what they sent has come through, nor coloured anything.
  const facts = sessions.look(owns(ALICE), id);
  assert.deepEqual([facts.colour, facts.label, facts.terminal], ["YELLOW", "internal", false]);
  assert.deepEqual((await finish(id)).state, "exited");
});

test("each signal of the set arrives, and at the whole group; KILL ends all", async ({ start, until, sessions }) => {
  const traps = SESSION_SIGNALS.filter((name) => name !== "KILL")
    .map((name) => `trap 'echo got ${name}' ${name}`).join("; ");
  const id = await start(SH, ["-c", `${traps}; echo ready; while :; do sleep 0.01; done`]);
  await until(id, /ready/);
  const taint = { colour: "BLUE", label: "public" } as const;
  for (const signal of SESSION_SIGNALS) {
    await sessions.signal(owns(ALICE), id, { ...taint, signal });
    if (signal !== "KILL") await until(id, new RegExp(`got ${signal}`));
  }
  const { state, exit, why } = await until(id, /never/);
  assert.deepEqual([state, exit, why], ["exited", 137, "it was sent KILL"]);
  await assert.rejects(sessions.signal(owns(ALICE), id, { ...taint, signal: "INT" }), {
    code: "gone",
  });

  const group = await start(SH, ["-c", `echo ready; sh -c 'sleep ${long(6)}; echo no'; echo no`]);
  await until(group, /ready/);
  await eventually(() => processesWith(long(6)).length === 1);
  await sessions.signal(owns(ALICE), group, { ...taint, signal: "TERM" });
  const ended = await until(group, /never/);
  assert.deepEqual([ended.state, ended.exit, ended.stdout], ["exited", 143, ""]);
});

test("a program's own children are all of its children: nothing of Remit's is waited for", async ({ start, until }) => {
  const code = "import os\nif os.fork()==0: os._exit(3)\nos.wait()\n" +
    "try: os.wait()\nexcept ChildProcessError: print('python has no other child')\n";
  for (const terminal of [undefined, { rows: 5, columns: 80 }]) {
    const id = await start(PYTHON, ["-c", code], terminal === undefined ? {} : { terminal });
    assert.match((await until(id, /never/)).stdout, /^python has no other child\n$/);
  }
});

const LOOK = "import os,sys;print([os.isatty(n) for n in (0,1,2)],sys.argv[1:]," +
  "sorted(os.environ),any('signals' in os.readlink(f'/proc/self/fd/{n}') for n in (3,4,5,6,7,8,9) if os.path.exists(f'/proc/self/fd/{n}')),flush=True);" +
  "print(os.isatty(0) and os.get_terminal_size())";

test("a terminal is one only where it was asked for, of the size asked for; python sees its very words", async ({ start, until }) => {
  const words = [
    "a b",
    "$(id)",
    "`id`",
    "'\"\\",
    "",
    "-c",
    "*",
    "x\ny",
    "%s",
    "$REMIT_WORD_0",
    "ä",
  ];
  const shown =
    "['a b', '$(id)', '`id`', '\\'\"\\\\', '', '-c', '*', 'x\\ny', '%s', '$REMIT_WORD_0', 'ä']";
  const names = ["HOME", "LANG", "NO_COLOR", "PATH", "PWD", "TERM", "TMPDIR"];
  const plain = await start(PYTHON, ["-c", LOOK, ...words]);
  const { stdout: seen } = await until(plain, /never/);
  assert.ok(seen.startsWith(`[False, False, False] ${shown} ${listed(names)} `), seen);
  assert.match(seen, / False\nFalse\n$/);
  const pty = await start(PYTHON, ["-c", LOOK, ...words], { terminal: { rows: 33, columns: 111 } });
  const { stdout, stderr, exit } = await until(pty, /never/);
  assert.ok(
    stdout.startsWith(`[True, True, True] ${shown} ${listed([...names, "SHELL"].sort())} `),
    stdout,
  );
  assert.match(stdout, / False\nos\.terminal_size\(columns=111, lines=33\)\n$/);
  assert.deepEqual([stderr, exit], ["", 0]);
});

function listed(names: readonly string[]): string {
  return `[${names.map((name) => `'${name}'`).join(", ")}]`;
}

test("in a terminal: echo, an interrupt by its character, the end of input, no escape sequences", async ({ start, write, until }) => {
  const sh = await start(SH, ["-i"], { terminal: { rows: 24, columns: 80 } });
  await until(sh, /[$#] $/);
  await write(sh, "printf '\\033]0;title\\007\\033[1;31mre\\033[0md%s\\033[2J\\n' dish\n");
  assert.match((await until(sh, /\nreddish\n/)).stdout, /^printf [^\n]*\nreddish\n/);
  await write(sh, `sleep ${long(7)}\n`);
  await eventually(() => processesWith(long(7)).length === 1);
  await write(sh, "\u0003");
  await until(sh, /\^C/);
  await eventually(() => processesWith(long(7)).length === 0);
  await write(sh, "exit 5\n");
  const { state, exit } = await until(sh, /never/);
  assert.deepEqual([state, exit], ["exited", 5]);

  const cat = await start(CAT, [], { terminal: { rows: 24, columns: 80 } });
  await write(cat, "line\n", true);
  const ended = await until(cat, /never/);
  assert.deepEqual([ended.stdout, ended.exit], ["line\nline\n", 0]);
});

test(
  "a call's variables change nothing about how the program is begun",
  async ({ start, until }) => {
    const env = {
      ...{ SHELL: "/m/desk/evil", ENV: "/m/desk/evil", BASH_ENV: "/m/desk/evil", IFS: "i/" },
      ...{ REMIT_WORDS: "1", REMIT_WORD_0: "/m/desk/evil", PATH: "/m/desk", SHELLOPTS: "xtrace" },
      PS4: "$(/m/desk/evil)",
    };
    for (const terminal of [undefined, { rows: 5, columns: 80 }]) {
      const id = await start("/usr/bin/printf", ["%s\n", "granted"], {
        ...{ env, ...(terminal === undefined ? {} : { terminal }) },
      });
      const { stdout } = await until(id, /never/);
      assert.ok(/granted\n$/.test(stdout) && !/EVIL/.test(stdout), stdout);
    }
  },
  { evil: "#!/bin/sh\necho EVIL\n" },
);

test("a lease that is taken back ends the session there and then; nothing of it is staged", async ({ start, until, revoke, sessions, finish }) => {
  const id = await start(SH, ["-c", `echo x > made; echo up; sleep ${long(8)}`]);
  await until(id, /up/);
  const poll = { waitMs: 30_000, bytes: 100, newest: false };
  const waiting = sessions.poll(owns(ALICE), id, poll, NEVER);
  revoke();
  await assert.rejects(waiting, { code: "leaseRevoked" });
  await eventually(() => processesWith(long(8)).length === 0);
  await assert.rejects(finish(id), { code: "leaseRevoked", message: /nothing of it was staged/ });
  assert.throws(() => sessions.look(owns(ALICE), id), { code: "leaseRevoked" });
  assert.throws(() => sessions.look(owns(BOB), id), { code: "notFound" });
});

test("a process that ends takes its sessions with it, and no other's", async ({ start, until, end, sessions }) => {
  const alices = await start(SH, ["-c", `echo up; sleep ${long(9)}`]);
  const bobs = await start(SH, ["-c", `echo up; cat; sleep ${long(9)}0`], { pid: BOB });
  await until(alices, /up/);
  await until(bobs, /up/, owns(BOB));
  end(ALICE);
  await eventually(() => processesWith(long(9)).length === 0);
  assert.throws(() => sessions.look(owns(ALICE), alices), { code: "gone" });
  assert.equal(sessions.look(owns(BOB), bobs).terminal, false);
});

test("a session that nobody uses is dropped, and its changes; using it begins its time anew", async ({ start, until, write, timers, sessions, finish }) => {
  const id = await start(SH, ["-c", `echo x > made; echo up; cat; sleep ${long(10)}`]);
  await until(id, /up/);
  await write(id, "x\n");
  assert.equal(timers.waiting(SESSION_IDLE_MS), 1);
  timers.fire(SESSION_IDLE_MS);
  assert.throws(() => sessions.look(owns(ALICE), id), { code: "timedOut", message: /900000 ms/ });
  await assert.rejects(finish(id), { code: "timedOut", message: /nothing of it was staged/ });
});

test("a stopped process's clocks stand still, those of its sessions, too", async ({ start, timers, sessions }) => {
  const lifeMs = 4_444_444;
  await start(CAT, [], { lifeMs });
  await start(CAT, [], { lifeMs, pid: BOB });
  sessions.freeze(ALICE);
  assert.deepEqual([timers.waiting(lifeMs), timers.waiting(SESSION_IDLE_MS)], [1, 1]);
  await start(CAT, [], { lifeMs });
  assert.equal(timers.waiting(lifeMs), 1);
  sessions.thaw(BOB);
  sessions.thaw(ALICE);
  // What was left of them runs on: less than the whole.
  const left = [...Array(5_000).keys()].map((ms) => timers.waiting(lifeMs - ms));
  assert.equal(left.reduce((sum, each) => sum + each, 0), 3);
});

test("two sessions at once on one mount have a copy each; the second to close is told of conflicts", async ({ start, until, finish, overlay, content }) => {
  const [first, second] = await Promise.all(
    [1, 2].map((n) =>
      start(SH, ["-c", `echo ${n} > both; echo ${n} > only${n}; cat other 2>&1; echo up`])
    ),
  );
  assert.ok(first !== undefined && second !== undefined);
  await until(first, /up/);
  await until(second, /up/);
  const won = await finish(first);
  assert.deepEqual(won.staged.map(({ path }) => path).sort(), ["desk/both", "desk/only1"]);
  const lost = await finish(second);
  assert.deepEqual(lost.staged.map(({ path }) => path), ["desk/only2"]);
  assert.match(lost.left.join("\n"), /desk\/both: it was staged by another call meanwhile/);
  assert.equal(await content(overlay.find(({ path }) => path === "desk/both")?.next), "1\n");
  // A third sees what is staged by then.
  const third = await start(CAT, ["both", "only1", "only2"]);
  assert.equal((await until(third, /never/)).stdout, "1\n1\n2\n");
});

test("colour and label of whoever writes to a program are its output's, and its files', from then on", async ({ start, write, until, sessions, finish }) => {
  const id = await start(SH, ["-c", "read line; echo $line | tee made"]);
  const before = sessions.look(owns(ALICE), id);
  assert.deepEqual([before.colour, before.label], ["YELLOW", "internal"]);
  await sessions.write(owns(ALICE), id, {
    ...{ text: "from the web\n", end: false, colour: "RED", label: "secret" },
  });
  const { stdout, colour, label } = await until(id, /never/);
  assert.deepEqual([stdout, colour, label], ["from the web\n", "RED", "secret"]);
  const { staged } = await finish(id);
  assert.deepEqual(staged.map((each) => [each.colour, each.label]), [["RED", "secret"]]);
  await assert.rejects(write(id, "x"), { code: "gone" });
});

test("what was not granted is not started: sessions, a terminal, another program, too many", async ({ start, sessions, finish }) => {
  const command = await granted(CAT);
  const refused = { code: "refused" };
  await assert.rejects(start(CAT, [], { command }), refused);
  const plain = { ...command, session: { ms: 1_000, pty: false } };
  await assert.rejects(
    start(CAT, [], { command: plain, terminal: { rows: 5, columns: 5 } }),
    refused,
  );
  await assert.rejects(start(CAT, [], { command: plain, sha256: "0".repeat(64) }), refused);
  const scopes: SessionStart["scopes"] = [{ resource: "mount", right: "read", path: "vault" }];
  await assert.rejects(start(CAT, [], { scopes }), refused);
  const aborted = sessions.start({
    ...{ task: TASK, pid: ALICE, command: plain, sha256: plain.sha256, args: [], cwd: "desk" },
    ...{ mounts: ["desk"], env: {}, lifeMs: 1_000, colour: "BLUE", label: "public", scopes: [] },
  }, AbortSignal.abort());
  await assert.rejects(aborted, { code: "cancelled" });
  const ids = await Promise.all(Array.from({ length: SESSIONS_EACH }, () => start(CAT, [])));
  assert.equal(new Set(ids).size, SESSIONS_EACH);
  await assert.rejects(start(CAT, []), { code: "rateLimited" });
  const bobs = await start(CAT, [], { pid: BOB });
  await finish(ids[0] ?? "");
  await start(CAT, []);
  await assert.rejects(start(CAT, []), { code: "rateLimited" });
  await finish(bobs, owns(BOB));
  await assert.rejects(start(CAT, [], { cwd: "desk/none" }), { code: "rateLimited" });
});

test("a start that fails leaves nothing, and takes no place", async ({ start, sessions }) => {
  for (let n = 0; n < SESSIONS_EACH + 1; n++) {
    await assert.rejects(start(CAT, [], { cwd: "desk/none" }), { code: "notFound" });
  }
  assert.deepEqual(sessions.osPids(TASK), []);
  await start(CAT, []);
});

test("a session that fills the disk is ended, and says why", async ({ start, sessions, finish }) => {
  const fill = "i=0; while :; do head -c 200000000 /dev/zero > f$i || exit; i=$((i+1)); done";
  const id = await start(SH, ["-c", fill]);
  const poll = { waitMs: 60_000, bytes: 100, newest: false };
  await assert.rejects(sessions.poll(owns(ALICE), id, poll, NEVER), { code: "tooLarge" });
  await assert.rejects(finish(id), { code: "tooLarge" });
});

test("cancelled while it waits, a poll leaves the session as it is", async ({ start, sessions, write, until }) => {
  const id = await start(CAT, []);
  const abort = new AbortController();
  const poll = { waitMs: 60_000, bytes: 100, newest: false };
  const waiting = sessions.poll(owns(ALICE), id, poll, abort.signal);
  abort.abort();
  await assert.rejects(waiting, { code: "cancelled" });
  await write(id, "still here\n");
  assert.equal((await until(id, /here/)).stdout, "still here\n");
});

test(
  "a plain user's programs go on, have a terminal, take signals and end just so",
  async (
    { start, write, until, sessions, finish },
  ) => {
    const plain = await start(SH, [
      "-c",
      `trap 'echo got' USR1; echo up > made; ${FLIGHT(11)}; cat`,
    ]);
    await until(plain, /away/);
    await sessions.signal(owns(ALICE), plain, { signal: "USR1", colour: "BLUE", label: "public" });
    await write(plain, "words\n");
    await until(plain, /words/);
    assert.deepEqual((await finish(plain)).staged.map(({ path }) => path), ["desk/made"]);
    assert.deepEqual(processesWith(long(11)), []);
    const terminal = { rows: 7, columns: 70 };
    const pty = await start(SH, ["-c", "stty size; tty > /dev/null && echo yes"], { terminal });
    const { stdout, exit } = await until(pty, /never/);
    assert.deepEqual([stdout, exit], ["7 70\nyes\n", 0]);
  },
  {},
  "own",
);
