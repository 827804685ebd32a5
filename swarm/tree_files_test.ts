import assert from "node:assert/strict";
import fc from "fast-check";
import { join, normalize } from "node:path/posix";
import { badPath, isAmong, parseTree, staysInside } from "./tree_files.ts";

Deno.test("a path that leaves the tree, or lies in .git under any name, is refused", () => {
  for (
    const path of [
      "",
      "/a",
      "a//b",
      "a/../b",
      "..",
      "./a",
      "a/.git/hooks/x",
      ".GIT/x",
      "git~1",
      ".git. ",
      "a\0b",
    ]
  ) {
    assert.notEqual(badPath(path), undefined, path);
  }
  for (const path of ["a", "a/b.txt", ".gitignore", "a/.github/x", "git", "über/日本"]) {
    assert.equal(badPath(path), undefined, path);
  }
});

Deno.test("whatever links a tree holds, following those that are kept never leaves it", () => {
  const name = fc.constantFrom("a", "b", "c", ".", "..");
  const target = fc.array(name, { minLength: 1, maxLength: 5 }).map((parts) => parts.join("/"));
  const link = fc.record({ at: fc.constantFrom("a", "b", "c/a", "c/b", "c/c/a"), target });
  fc.assert(fc.property(fc.array(link, { maxLength: 5 }), (links) => {
    const kept = new Map(
      links.filter(({ at, target }) => staysInside(at, target)).map((
        { at, target },
      ) => [at, target]),
    );
    for (const start of kept.keys()) {
      assert(inside(start, kept), JSON.stringify([start, [...kept]]));
    }
  }));
});

/** Walks a path part by part, as an operating system does. */
function inside(path: string, links: ReadonlyMap<string, string>): boolean {
  let at = ".";
  const todo = path.split("/");
  for (let steps = 0; todo.length > 0 && steps < 100; steps++) {
    const part = todo.shift() ?? "";
    const next = normalize(join(at, part));
    if (next.startsWith("..")) return false;
    const target = links.get(next);
    if (target === undefined) at = next;
    else todo.unshift(...target.split("/"));
  }
  return true;
}

Deno.test("a listing is read whole: submodules are left out, strange modes refused", () => {
  const oid = "1".repeat(40);
  const lines = [
    `100644 blob ${oid}       5\ta b.txt`,
    `100755 blob ${oid}      12\trun`,
    `160000 commit ${oid}       -\tsub`,
  ];
  const { files, left } = parseTree(lines.map((line) => `${line}\0`).join(""));
  assert.deepEqual(files.map(({ path, mode, bytes }) => [path, mode, bytes]), [[
    "a b.txt",
    "100644",
    5,
  ], ["run", "100755", 12]]);
  assert.deepEqual(left.map(({ path }) => path), ["sub"]);
  assert.throws(() => parseTree(`100666 blob ${oid} 5\tx\0`), /mode 100666/);
  assert.throws(() => parseTree(`100644 blob ${oid} 5\t../x\0`), /is no name/);
  assert.throws(() => parseTree(`100644 blob ${oid} 999999999999\tx\0`), /at most/);
});

Deno.test("a file is among names that are it or a folder above it", () => {
  assert(isAmong("tests/a.sh", ["tests/"]));
  assert(isAmong("tests/a.sh", ["tests"]));
  assert(isAmong("check.sh", ["check.sh"]));
  assert(!isAmong("tests2/a.sh", ["tests"]));
});
