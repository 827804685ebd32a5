import assert from "node:assert/strict";
import { makeBench } from "../../_fixture/command_bench.ts";
import { BRIEF, PYTHON, SH, sleepers, test, until } from "../../_fixture/command_cases.ts";

const GIT = "/usr/bin/git", MAKE = "/usr/bin/make", NODE = "/usr/bin/node";

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
