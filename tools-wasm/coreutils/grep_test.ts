import assert from "node:assert/strict";
import { makeDesk } from "./_fixture/desk.ts";
import { assertSameAsGnu } from "./_fixture/gnu.ts";

const FILES = {
  "a": "*star\nstar\nplain\n+star\n{1}s\n",
  "b": "nothing\n",
  "empty": "",
};

Deno.test("a star that nothing stands before is a star, also behind an anchor or a group's beginning", async () => {
  await assertSameAsGnu(FILES, [
    ["grep", "^*", "a"],
    ["grep", "^*s", "a"],
    ["grep", "*s", "a"],
    ["grep", "\\(*s\\)", "a"],
    ["grep", "\\(^*s\\)", "a"],
    ["grep", "x\\|*s", "a"],
    ["grep", "x\\|^*s", "a"],
    ["grep", "^**s", "a"],
    ["grep", "^s*", "a"],
    ["grep", "s^*", "a"],
    ["grep", "^*$", "a"],
    ["grep", "\\*s", "a"],
    ["grep", "^\\+s", "a"],
    ["grep", "^\\{1\\}s", "a"],
    ["grep", "a**", "a"],
  ]);
});

Deno.test("an extended pattern that begins with a repetition is refused, not guessed at", async () => {
  const { run } = makeDesk({ "desk/a": "*star\nstar\n" });
  for (const pattern of ["*s", "(*s)", "x|*s", "{1}s", "?s"]) {
    const { exit, stderr } = await run("grep", ["-E", pattern, "desk/a"]);
    assert.equal(exit, 2, pattern);
    assert.match(stderr, /nothing stands before a/, pattern);
  }
});

Deno.test("a list of files without a match ends with 0 where a line was selected, with 1 where none was", async () => {
  await assertSameAsGnu(FILES, [
    ["grep", "-L", "star", "a", "b"],
    ["grep", "-L", "star", "a"],
    ["grep", "-L", "star", "b", "empty"],
    ["grep", "-Lq", "star", "a"],
    ["grep", "-Lq", "star", "b"],
    ["grep", "-L", "star", "b", "missing"],
    ["grep", "-lq", "star", "a"],
    ["grep", "-Lv", "star", "a", "b"],
  ]);
});
