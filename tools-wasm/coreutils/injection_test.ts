import assert from "node:assert/strict";
import { makeDesk } from "./_fixture/desk.ts";
import { placeOf } from "./place.ts";
import { PROGRAMS } from "./tool.ts";

/** What mallory's file names look like: each is a word, whatever is in it. */
const HOSTILE = [
  ...[
    "-rf",
    "--help",
    "--version",
    "-exec",
    "--output=desk/a",
    "-o/desk/a",
    "--files0-from=/etc/passwd",
  ],
  ...[
    "; rm -rf /",
    "$(id)",
    "`id`",
    "a\nb",
    "| sh",
    "> desk/a",
    "&& id",
    "*",
    "~",
    "$HOME",
    "a\0b",
  ],
  ...[
    "../../../etc/passwd",
    "/etc/passwd",
    "/m/../etc/passwd",
    "desk/../../etc",
    "..",
    "/proc/self/environ",
  ],
];

Deno.test("mallory's words stay words: after -- no program takes one as an option, none writes", async () => {
  for (const [name] of PROGRAMS) {
    for (const word of HOSTILE) {
      const { run, staged, calls } = makeDesk({ "desk/a": "text\n" });
      const before = name === "replace" || name === "grep" ? ["--", "text", "x"] : ["--"];
      const args = name === "cut" ? ["-f1", "--", word] : [...before, word];
      const { exit, stdout, stderr } = await run(name, args, { cwd: "desk" });
      assert.ok(!stdout.includes("root:"), `${name} ${word}`);
      assert.doesNotMatch(stderr, /unknown option/, `${name} ${word}`);
      assert.equal(staged.size, 0, `${name} ${word}`);
      if (!["date", "find", "ls"].includes(name)) assert.notEqual(exit, 0, `${name} ${word}`);
      // What is asked of the kernel is a plain path, which it holds against the mounts.
      const tricks = calls.filter((call) => /^(write|\w+ \/)|\.\.|\0/.test(call));
      assert.deepEqual(tricks, [], `${name} ${word}`);
    }
  }
});

Deno.test("options that a program does not have are refused with its usage, never passed over", async () => {
  for (const [name] of PROGRAMS) {
    const { run, calls } = makeDesk({ "desk/a": "text\n" });
    const { exit, stderr } = await run(name, ["--no-such-option", "a"], { cwd: "desk" });
    assert.equal(exit, 2, name);
    assert.match(stderr, /^\w+: .*\nusage: /, name);
    assert.deepEqual(calls, [], name);
  }
});

Deno.test("what would run another program or write elsewhere does not exist", async () => {
  const { run, staged } = makeDesk({ "desk/a": "text\n" });
  const tries = [
    ["find", ".", "-exec", "sh", "-c", "id", ";"],
    ["find", ".", "-delete"],
    ["find", ".", "-fprintf", "x", "y"],
    ["sort", "-o", "a", "a"],
    ["sort", "--compress-program=sh", "a"],
    ["sort", "--files0-from=a"],
    ["uniq", "a", "out"],
    ["tail", "-f", "a"],
    ["date", "-s", "2020-01-01"],
    ["date", "-f", "/etc/passwd"],
    ["date", "-r", "/etc/passwd"],
    ["grep", "-f", "/etc/passwd", "a"],
    ["grep", "-P", "(a+)+$", "a"],
    ["wc", "--files0-from=a"],
  ];
  for (const [program = "", ...args] of tries) {
    const { exit, stderr } = await run(program, args, { cwd: "desk" });
    assert.equal(exit, 2, `${program} ${args.join(" ")}: ${stderr}`);
  }
  assert.equal(staged.size, 0);
});

Deno.test("no name leads above the mounts, and none of a prototype is a program or an option", async () => {
  const { run } = makeDesk({ "desk/a": "text\n" });
  for (const name of ["__proto__", "constructor", "toString", "sh", "../cat", "/bin/cat", "cat "]) {
    assert.equal((await run(name)).exit, 127, name);
  }
  assert.equal((await run("cat", ["--constructor"])).exit, 2);
  assert.equal((await run("date", ["+%constructor"])).exit, 0);
  for (const name of ["/", "/etc/passwd", "../..", "a/../../..", "/m/../x", "", "a\0"]) {
    assert.throws(() => placeOf(name, "desk"), { name: "FileError" }, name);
  }
  assert.equal(placeOf("../b/./c", "desk/a"), "desk/b/c");
  assert.equal(placeOf("/m/desk/x", "other"), "desk/x");
});
