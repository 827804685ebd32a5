/** However a granted program behaves, it and all that it began end, within their bounds. */
import assert from "node:assert/strict";
import { ALICE, TASK } from "../../_fixture/command_bench.ts";
import { BRIEF, long, PYTHON, SH, sleepers, test, until } from "../../_fixture/command_cases.ts";

test(
  "mallory's background processes end with the call: fork, setsid, nohup, closed outputs",
  {},
  async (
    { run, world, commands },
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
    await commands.close(TASK);
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
    "line 0\nline 1\n[… 48866 bytes left out here, 4997 lines …]\nline 4999\n",
    "é\n",
    true,
    0,
  ]);
  const bytes = await run("/usr/bin/printf", ["%s", "äöü"], { bytes: 3 });
  assert.deepEqual([bytes.stdout, bytes.cut], ["ä\n[… 4 bytes left out here …]\n", true]);
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
