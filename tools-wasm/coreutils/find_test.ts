import assert from "node:assert/strict";
import { makeDesk } from "./_fixture/desk.ts";
import { assertSameAsGnu } from "./_fixture/gnu.ts";

const FILES = {
  "b.txt": "b\n",
  "a.txt": "a\n",
  "sub/x1": "1\n",
  "sub/]": "2\n",
  "sub/deep/9": "3\n",
  "other/-": "4\n",
};

Deno.test("a folder that holds something is not called empty, however shallow the search", async () => {
  await assertSameAsGnu(FILES, [
    ["find", ".", "-maxdepth", "1", "-type", "d", "-empty"],
    ["find", "sub", "-maxdepth", "0", "-empty"],
    ["find", "sub", "-maxdepth", "1", "!", "-empty", "-type", "d", "-name", "deep"],
    ["find", "sub", "-mindepth", "1", "-type", "d"],
  ]);
});

Deno.test("classes and sets in names are those of the shell", async () => {
  await assertSameAsGnu(FILES, [
    ["find", "sub", "-name", "[[:alpha:]]?"],
    ["find", "sub", "-name", "[[:digit:]]"],
    ["find", "sub", "-name", "[[:alpha:][:digit:]]1"],
    ["find", "sub", "-maxdepth", "1", "-name", "[]x]"],
    ["find", "sub", "-name", "[!]]"],
    ["find", "sub", "-name", "[^]]"],
    ["find", ".", "-name", "."],
    ["find", "sub/", "-name", "sub"],
    ["find", "sub/", "-maxdepth", "0", "-name", "s[[:lower:]]b"],
  ]);
});

Deno.test("what ls is to show by itself is looked for, and comes before any folder", async () => {
  await assertSameAsGnu(FILES, [
    ["ls", "-d", "sub", "a.txt", "."],
    ["ls", "-dF", "sub", "a.txt"],
    ["ls", "sub", "b.txt", "a.txt"],
    ["ls", "sub", "other"],
    ["ls", "-R", "sub", "b.txt"],
  ]);
  const { run } = makeDesk({ "desk/a": "12", "desk/sub/b": "1" });
  const missing = await run("ls", ["-d", "nope", "sub"], { cwd: "desk" });
  assert.deepEqual([missing.stdout, missing.exit], ["sub\n", 1]);
  assert.equal(missing.stderr, "ls: nope: No such file or directory\n");
  const long = await run("ls", ["-ldF", "sub", "a"], { cwd: "desk" });
  assert.equal(long.stdout, "-          2 a\nd          0 sub/\n");
});

Deno.test("what lies too deep is looked at down to 64 levels, and said to be left out below", async () => {
  const folders = (levels: number): string => Array.from({ length: levels }, () => "d").join("/");
  const { run } = makeDesk({
    [`desk/${folders(63)}/leaf`]: "needle\n",
    [`more/${folders(64)}/leaf`]: "needle\n",
  });
  const whole = await run("find", ["desk", "-name", "leaf"]);
  assert.deepEqual([whole.stdout, whole.exit], [`desk/${folders(63)}/leaf\n`, 0]);
  assert.equal((await run("grep", ["-rl", "needle", "desk"])).exit, 0);
  const left = await run("find", ["more", "-name", "leaf"]);
  assert.deepEqual([left.stdout, left.exit], ["", 1]);
  assert.match(left.stderr, /nothing below 64 levels was looked at/);
  const empty = await run("find", ["more", "-type", "d", "-empty"]);
  assert.deepEqual([empty.stdout, empty.exit], ["", 1]);
  assert.equal((await run("find", ["more", "-maxdepth", "64", "-type", "f"])).exit, 0);
  const searched = await run("grep", ["-r", "needle", "more"]);
  assert.equal(searched.exit, 2);
  assert.match(searched.stderr, /nothing below 64 levels was looked at/);
});

Deno.test("a folder that cannot be read is told of, and the rest is shown", async () => {
  const desk = makeDesk({ "desk/a": "needle\n" });
  const { list } = desk.remit.fs;
  Object.assign(desk.remit.fs, {
    list: async (args: Parameters<typeof list>[0]) => ({ ...await list(args), cut: true }),
  });
  for (
    const [program, exit, ...args] of [
      ["find", 1, "."],
      ["ls", 1],
      ["grep", 2, "-rl", "needle", "."],
    ] as const
  ) {
    const got = await desk.run(program, args, { cwd: "desk" });
    assert.match(got.stdout, /a\n/, program);
    assert.match(got.stderr, /not all of it could be read/, program);
    assert.equal(got.exit, exit, program);
  }
});
