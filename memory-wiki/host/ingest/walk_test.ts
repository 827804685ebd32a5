import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { processorTime } from "../../../tests/fake/processor_time.ts";
import { fakeWikis } from "../../../cli/_fixture/wikis.ts";
import { makeDisk } from "../../../launch/disk/disk_powers.ts";
import { isIgnored, readIgnore, walkFolder } from "./walk.ts";

function tree(files: Readonly<Record<string, string>>): string {
  const root = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "remit-walk-" }));
  for (const [name, text] of Object.entries(files)) {
    Deno.mkdirSync(dirname(join(root, name)), { recursive: true });
    Deno.writeTextFileSync(join(root, name), text);
  }
  return root;
}

const parts = (apart: readonly string[] = []) => ({
  ...{ disk: makeDisk(), wikis: fakeWikis(), apart, most: 100 },
});

Deno.test("alice's folder gives its documents in order, and a count of all that was left out", () => {
  const root = tree({
    "b.md": "b",
    "a/z.txt": "z",
    "a/x.ts": "x",
    "a/skip.log": "no",
    "a/big.md": "x".repeat(101),
    "data.bin": "?",
    "logo.PNG": "?",
    ".gitignore": "*.log\nsecret/\n",
    ".remitignore": "drafts\n",
    "drafts/d.md": "d",
    "secret/s.md": "s",
    ".hidden/h.md": "h",
    ".env": "KEY=1",
    "keys/id_rsa": "k",
    "node_modules/p/readme.md": "n",
    "cached/CACHEDIR.TAG": "t",
    "cached/c.md": "c",
    "README": "r",
  });
  Deno.symlinkSync("/etc/passwd", join(root, "passwd.md"));
  Deno.symlinkSync("/etc", join(root, "etc"));
  using _socket = Deno.listen({ transport: "unix", path: join(root, "socket.md") });
  const walk = walkFolder(parts(), root);
  assert.deepEqual(walk.files.map(({ name, kind }) => [name, kind]), [
    ["README", "text"],
    ["a/x.ts", "code"],
    ["a/z.txt", "text"],
    ["b.md", "markdown"],
  ]);
  assert.deepEqual(walk.large.map(({ name }) => name), ["a/big.md"]);
  assert.deepEqual(walk.skipped, {
    ...{ ignored: 3, hidden: 3, never: 2, links: 2, built: 2, deep: 0, unknown: 2 },
    ...{ unnamed: 0, special: 1 },
  });
  assert.deepEqual(walk.unknownKinds, [".bin", ".png"]);
  Deno.removeSync(root, { recursive: true });
});

Deno.test("a folder apart is not entered, and a folder of keys is no folder of documents", () => {
  const root = tree({ "w/pages/p.md": "p", "w/raw/r.md": "r", "a.md": "a", ".ssh/config.md": "k" });
  const names = walkFolder(parts([join(root, "w")]), root).files.map(({ name }) => name);
  assert.deepEqual(names, ["a.md"]);
  assert.throws(() => walkFolder(parts(), join(root, ".ssh")), { code: "refused" });
  Deno.removeSync(root, { recursive: true });
});

Deno.test("mallory's .gitignore that is a link or huge rules nothing", () => {
  const root = tree({ "a.md": "a", "rules": "*\n", "sub/b.md": "b", "sub/.gitignore": "" });
  Deno.symlinkSync(join(root, "rules"), join(root, ".gitignore"));
  Deno.writeTextFileSync(join(root, "sub/.gitignore"), "*\n".repeat(600_000));
  const names = walkFolder(parts(), root).files.map(({ name }) => name);
  assert.deepEqual(names, ["a.md", "sub/b.md"]);
  Deno.removeSync(root, { recursive: true });
});

Deno.test("a folder that alice may not read is told, not taken for an empty one; one too deep is counted", () => {
  const root = tree({ "a.md": "a", "shut/b.md": "b", [`${"d/".repeat(70)}c.md`]: "c" });
  const wikis = fakeWikis();
  const entries = (folder: string) =>
    folder === join(root, "shut") ? "it may not be read" : wikis.entries(folder);
  const walk = walkFolder({ ...parts(), wikis: { ...wikis, entries } }, root);
  assert.deepEqual(walk.files.map(({ name }) => name), ["a.md"]);
  assert.deepEqual(walk.unread.map(({ name, why }) => [name, why]), [
    ["shut", "it may not be read"],
  ]);
  assert.equal(walk.skipped.deep, 1);
  Deno.removeSync(root, { recursive: true });
});

Deno.test("folders too deep, folders that may not be read and names that are no UTF-8 are told", async () => {
  const root = tree({ "a.md": "a", [`${"d/".repeat(66)}deep.md`]: "d", "shut/s.md": "s" });
  const script = "printf x > \"$1/$(printf 'a\\377.md')\" && mkdir \"$1/$(printf 'd\\376')\"";
  const { success } = await new Deno.Command("sh", { args: ["-c", script, "sh", root] }).output();
  assert.ok(success);
  const given = parts();
  const shut = join(root, "shut");
  const entries = (path: string) =>
    path === shut ? "it may not be read" : given.wikis.entries(path);
  const walk = walkFolder({ ...given, wikis: { ...given.wikis, entries } }, root);
  assert.deepEqual(walk.files.map(({ name }) => name), ["a.md"]);
  assert.deepEqual(walk.unread, [{ path: shut, name: "shut", why: "it may not be read" }]);
  assert.deepEqual(walk.deep.map(({ path }) => path), [join(root, "d/".repeat(63), "d")]);
  assert.deepEqual([walk.skipped.deep, walk.skipped.unnamed], [1, 2]);
  Deno.removeSync(root, { recursive: true });
});

Deno.test("a folder whose path is longer than the machine takes is told, and is no crash", () => {
  const { wikis } = parts();
  const long = `/${"x".repeat(250)}`.repeat(20);
  assert.equal(wikis.entries(long), "its path is too long");
  assert.equal(wikis.look(long), undefined);
  assert.deepEqual(wikis.entries("/there/is/none"), []);
});

const fits = (text: string, path: string, folder = false): boolean =>
  isIgnored([{ depth: 0, rules: readIgnore(text) }], path.split("/"), folder);

Deno.test("rules read as git reads them: anchored ones, folders, stars, classes, negation, escapes", () => {
  const cases: readonly (readonly [string, string, boolean])[] = [
    ["*.log", "a.log", true],
    ["*.log", "deep/down/a.log", true],
    ["/a.md", "a.md", true],
    ["/a.md", "x/a.md", false],
    ["x/a.md", "y/x/a.md", false],
    ["**/x/a.md", "y/x/a.md", true],
    ["**/x/a.md", "x/a.md", true],
    ["x/**", "x/y/z", true],
    ["x/**", "x", false],
    ["a/**/b", "a/b", true],
    ["a/**/b", "a/1/2/b", true],
    ["a/**/b", "a/1/2/c", false],
    ["b/", "b", false],
    ["a?c", "abc", true],
    ["a?c", "a/c", false],
    ["[a-c]x", "bx", true],
    ["[!a-c]x", "bx", false],
    ["[^a-c]x", "dx", true],
    ["[]x]y", "]y", true],
    ["[[:digit:]]z", "7z", true],
    ["[abc", "[abc", false],
    ["\\#note", "#note", true],
    ["# note", "# note", false],
    ["\\!not", "!not", true],
    ["*.md\n!keep.md", "keep.md", false],
    ["*.md\n!keep.md", "other.md", true],
    ["trail   ", "trail", true],
    ["trail\\ ", "trail ", true],
    ["a b", "a b", true],
    ["*", "ünïcode", true],
    ["", "a", false],
    ["/", "a", false],
  ];
  for (const [rule, path, want] of cases) {
    assert.equal(fits(rule, path), want, `${JSON.stringify(rule)} over ${path}`);
  }
  assert.equal(fits("b/", "a/b", true), true);
});

Deno.test("rules of a deeper folder come later than those above it", () => {
  const layers = [
    { depth: 0, rules: readIgnore("*.md") },
    { depth: 1, rules: readIgnore("!a.md\n/only.txt") },
  ];
  assert.equal(isIgnored(layers, ["x", "a.md"], false), false);
  assert.equal(isIgnored(layers, ["x", "b.md"], false), true);
  assert.equal(isIgnored(layers, ["x", "only.txt"], false), true);
  assert.equal(isIgnored(layers, ["x", "y", "only.txt"], false), false);
});

Deno.test("mallory's rules of many stars end at once over her long names", () => {
  const stars = `${"*a".repeat(200)}*b`;
  const parts = `${"**/a*/".repeat(80)}b`;
  const name = "a".repeat(255);
  const rules = readIgnore(`${stars}\n${parts}\n${"[".repeat(900)}\n`);
  const path = Array.from({ length: 64 }, () => name);
  const before = processorTime();
  assert.equal(isIgnored([{ depth: 0, rules }], path, false), false);
  // A backtracking matcher would need longer than this machine has lived.
  assert.ok(processorTime() - before < 50_000);
});

Deno.test("mallory's rule of tabs before a lone backslash is read at once; escaped spaces stay", () => {
  // Read by a pattern that has two ways for each tab, it takes longer than anybody waits.
  assert.deepEqual(readIgnore(`${"\t".repeat(60)}\\`), []);
  assert.deepEqual(
    ["a\\  ", "a\\\\ ", "a\\\\\\ "].map((rule) => [
      fits(rule, "a "),
      fits(rule, "a\\"),
      fits(rule, "a\\ "),
    ]),
    [[true, false, false], [false, true, false], [false, false, true]],
  );
});
