/** Copies that stand between two runs of a task: quick for alice, and of no use to mallory. */
import assert from "node:assert/strict";
import { type CommandBench, TASK } from "../../_fixture/command_bench.ts";
import { PYTHON, SH, test } from "../../_fixture/command_cases.ts";

/** The copy service's process; the only one of the task's between two runs. */
const standing = ({ commands }: CommandBench): readonly number[] => commands.osPids(TASK);

test("one copy service serves a task's runs, and ends with the task", {}, async (bench) => {
  const { run, commands, world } = bench;
  await run("/bin/cat", ["notes/a.md"]);
  const first = standing(bench);
  assert.equal(first.length, 1);
  await run(SH, ["-c", "echo x > made; cat notes/a.md"]);
  assert.equal((await run("/bin/cat", ["made", "notes/a.md"])).stdout, "x\nalpha\n");
  assert.deepEqual(standing(bench), first);
  await commands.close(TASK);
  assert.deepEqual(standing(bench), []);
  assert.throws(() => Deno.statSync(`/proc/${first[0]}`), Deno.errors.NotFound);
  assert.deepEqual([...Deno.readDirSync(`${world.dir}/work/${TASK}`)], []);
});

test("nothing that mallory's program leaves reaches the next one but what was staged", {
  "b.txt": "b\n",
  "sub/c.txt": "c\n",
}, async ({ run, overlay }) => {
  const look = [
    "-c",
    "ls -lRA --time-style=+ | grep -v ^total; cat b.txt sub/c.txt; getfattr -d . 2>&1",
  ];
  const clean = (await run(SH, look)).stdout;
  await run(PYTHON, [
    "-c",
    `
import os, shutil
s = os.stat("b.txt")
open("b.txt", "w").write("x\\n")
os.utime("b.txt", ns=(s.st_atime_ns, s.st_mtime_ns))
shutil.move("sub", "away"); os.symlink("away", "sub")
os.mkdir("empty"); os.mkfifo("pipe"); os.symlink("/etc/passwd", "link")
open("x.env", "w").write("x"); open(".remit-x", "w").write("x")
os.chmod("notes/a.md", 0o4777) if os.stat("notes/a.md").st_uid == os.getuid() else None
for f in (".", "notes/a.md"):
    try: os.setxattr(f, "user.said", b"RED")
    except OSError: pass
os.chmod("away", 0o700) if os.stat("away").st_uid == os.getuid() else None
`,
  ]);
  // The person says no to all of it.
  overlay.length = 0;
  assert.equal((await run(SH, look)).stdout, clean);
  const said = await run(PYTHON, [
    "-c",
    "import os\nprint([os.listxattr(f) for f in ('.', 'notes/a.md')])",
  ]);
  assert.equal(said.stdout, "[[], []]\n");
}, [PYTHON]);

test("what changes in the folder between two runs is what the second one sees", {
  "b.txt": "b\n",
  "sub/c.txt": "c\n",
}, async ({ run, world }) => {
  const desk = `${world.dir}/desk`;
  await run("/bin/cat", ["b.txt"]);
  await Deno.writeTextFile(`${desk}/b.txt`, "B\n");
  await Deno.remove(`${desk}/sub`, { recursive: true });
  await Deno.writeTextFile(`${desk}/sub`, "now a file\n");
  await Deno.link(`${desk}/keys.env`, `${desk}/keys.txt`);
  const { stdout, withheld } = await run(SH, ["-c", "ls -A; cat b.txt sub"]);
  assert.deepEqual([stdout, withheld], ["b.txt\nnotes\nsub\nB\nnow a file\n", 2]);
});

test(
  "a run that failed, and a lease that ended, leave no copies for another",
  {},
  async (bench) => {
    const { run, revoke, world } = bench;
    const rooms = (): number => [...Deno.readDirSync(`${world.dir}/work/${TASK}`)].length;
    await assert.rejects(run(SH, ["-c", "echo x > y; sleep 60"], { timeoutMs: 200 }), {
      code: "timedOut",
    });
    assert.deepEqual([standing(bench), rooms()], [[], 0]);
    await run("/bin/cat", ["notes/a.md"]);
    const [first] = standing(bench);
    revoke();
    assert.equal((await run("/bin/cat", ["notes/a.md"])).stdout, "alpha\n");
    assert.ok(!standing(bench).includes(first ?? 0));
  },
);

test("a copy service that ended by itself is replaced", {}, async (bench) => {
  const { run } = bench;
  await run("/bin/cat", ["notes/a.md"]);
  const [first = 0] = standing(bench);
  Deno.kill(first, "SIGKILL");
  while (standing(bench).length > 0) {
    // TIMER: the end of a process is heard when the event loop turns.
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  assert.equal((await run("/bin/cat", ["notes/a.md"])).stdout, "alpha\n");
});

test(
  "another folder that took the mount's name is the one that the next run sees",
  {},
  async ({ run, world }) => {
    assert.equal((await run("/bin/cat", ["notes/a.md"])).stdout, "alpha\n");
    await Deno.rename(`${world.dir}/desk`, `${world.dir}/away`);
    await Deno.mkdir(`${world.dir}/desk/notes`, { recursive: true });
    await Deno.writeTextFile(`${world.dir}/desk/notes/a.md`, "another\n");
    assert.equal((await run("/bin/cat", ["notes/a.md"])).stdout, "another\n");
  },
);
