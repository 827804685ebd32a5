import assert from "node:assert/strict";
import { makeDesk } from "./_fixture/desk.ts";
import { assertSameAsGnu } from "./_fixture/gnu.ts";

const FILES = {
  "a.txt": "pear\napple\nBanana\napple\n\n\n10 x\n9 y\n",
  "b.txt": "one two  three\nvier fünf\n𝄞 clef\nlast without end",
  "t.csv": "id;name;n\n3;carol;7\n1;alice;12\n2;bob;7\n",
  "empty": "",
  "sub/c.md": "# Title\napple pie and apple juice\n",
  "sub/deep/d.md": "TODO: x1\nnot this\n",
  "stars": "*a\n**b\nab\nx+y\n",
  "wide": "9007199254740992\n9007199254740993\n9007199254740992\n0x10\n-0\n00\n.5\n-.5\n",
  "keys": "b 2 x\na 10 y\na 2 z\nc -1 w\nB 2 q\nA 1 p\na 2 z \n",
  "pairs": "\u{1f600}\n\uff5e\n\u00e9\nz\n",
  "hits": Array.from({ length: 30 }, (_, at) => at % 7 === 3 ? `hit ${at}\n` : `no ${at}\n`).join(
    "",
  ),
};

/** Words that GNU's programs answer the same, byte for byte. */
const SAME: readonly (readonly string[])[] = [
  ["cat", "a.txt", "b.txt"],
  ["cat", "-n", "a.txt", "b.txt"],
  ["cat", "-s", "a.txt"],
  ["cat", "empty", "missing.txt", "a.txt"],
  ["head", "-n", "2", "a.txt"],
  ["head", "-3", "a.txt"],
  ["head", "-n0", "a.txt"],
  ["head", "-c", "5", "a.txt"],
  ["head", "-n", "1", "a.txt", "b.txt"],
  ["tail", "-n", "2", "a.txt"],
  ["tail", "-n", "+3", "a.txt"],
  ["tail", "-n2", "b.txt"],
  ["tail", "-c", "4", "b.txt"],
  ["tail", "-n", "1", "a.txt", "b.txt"],
  ["wc", "-l", "a.txt"],
  ["wc", "-w", "b.txt"],
  ["wc", "-c", "b.txt"],
  ["wc", "-m", "b.txt"],
  ["sort", "a.txt"],
  ["sort", "-r", "a.txt"],
  ["sort", "-u", "a.txt"],
  ["sort", "-n", "a.txt"],
  ["sort", "-t", ";", "-k", "3,3n", "-k", "1,1nr", "t.csv"],
  ["sort", "-t;", "-k2", "t.csv"],
  ["sort", "-c", "t.csv"],
  ["uniq", "-c", "a.txt"],
  ["uniq", "-d", "a.txt"],
  ["uniq", "-u", "a.txt"],
  ["cut", "-d", ";", "-f", "2", "t.csv"],
  ["cut", "-d;", "-f1,3", "t.csv"],
  ["cut", "-d", ";", "-f", "2-", "t.csv"],
  ["cut", "-c", "1-3", "a.txt"],
  ["cut", "-s", "-d;", "-f2", "a.txt"],
  ["grep", "apple", "a.txt"],
  ["grep", "-n", "apple", "a.txt", "sub/c.md"],
  ["grep", "-c", "apple", "a.txt", "sub/c.md"],
  ["grep", "-v", "-n", "apple", "a.txt"],
  ["grep", "-i", "banana", "a.txt"],
  ["grep", "-o", "ap*le", "sub/c.md"],
  ["grep", "-E", "^(pear|[0-9]+ .)$", "a.txt"],
  ["grep", "-w", "two", "b.txt"],
  ["grep", "-x", "apple", "a.txt"],
  ["grep", "-q", "apple", "a.txt"],
  ["grep", "nothing", "a.txt"],
  ["grep", "x", "missing.txt"],
  ["grep", "-l", "apple", "a.txt", "b.txt"],
  ["grep", "-L", "apple", "a.txt", "b.txt"],
  ["grep", "-A1", "-B1", "-n", "Banana", "a.txt"],
  ["grep", "-m", "1", "apple", "a.txt"],
  ["grep", "-e", "pear", "-e", "9", "a.txt"],
  ["grep", "-F", "[0", "a.txt"],
  ["grep", "\\(ap\\)*ple\\|pear", "a.txt"],
  ["grep", "-E", "p{2}", "a.txt"],
  ["grep", "-E", "[[:digit:]]{2}", "a.txt"],
  ["grep", "--", "-x", "a.txt"],
  ["sha256sum", "a.txt", "b.txt", "empty"],
  ["cat", "-n", "b.txt", "a.txt"],
  ["cat", "-s", "b.txt", "a.txt"],
  ["head", "-n", "-2", "a.txt"],
  ["head", "-n", "-1", "b.txt"],
  ["head", "-c", "-2", "b.txt"],
  ["head", "-n1", "missing", "a.txt", "b.txt"],
  ["tail", "-n", "-2", "a.txt"],
  ["tail", "-n1", "missing", "a.txt", "b.txt"],
  ["cut", "-c", "4-6,1-2,5,9", "--output-delimiter", "_", "a.txt"],
  ["cut", "-f3,1", "-d;", "--output-delimiter", "::", "t.csv"],
  ["cut", "-b", "1-2", "a.txt"],
  ["grep", "^*a", "stars"],
  ["grep", "\\(*a\\)\\|x+", "stars"],
  ["grep", "-L", "apple", "b.txt"],
  ["grep", "-L", "apple", "a.txt"],
  ["grep", "-A0", "hit", "hits"],
  ["grep", "-n", "-C1", "hit", "hits"],
  ["grep", "-o", "-A1", "hit", "hits"],
  ["grep", "--count", "--ignore-case", "HIT", "hits"],
  ["grep", "--regexp=hit", "--max-count=2", "--line-number", "hits"],
  ["sort", "-r", "-k", "2,2n", "keys"],
  ["sort", "-n", "-k", "2,2r", "keys"],
  ["sort", "-n", "-k", "2,2", "keys"],
  ["sort", "-k", "1,1f", "-k", "2,2nr", "keys"],
  ["sort", "-rs", "-k1,1", "keys"],
  ["sort", "-u", "-k2", "keys"],
  ["sort", "-cf", "keys"],
  ["sort", "-cu", "a.txt"],
  ["sort", "-n", "wide"],
  ["sort", "-nu", "wide"],
  ["sort", "-nr", "wide"],
  ["sort", "pairs"],
  ["sort", "-fr", "pairs"],
  ["date", "-u", "-d", "2024-12-30", "+%D %k %l %h %C %G %g %V %U %W %c %x %X %r %q %P"],
  ["date", "-u", "-d", "2021-01-03", "+%G %V %U %W %-d %_m %0e %-j %^a %^B %Q %E"],
  ["date", "-u", "-d", "@1700000000", "+%Y-%m-%d %H:%M:%S %j %a %b %e %s %%"],
  ["date", "-u", "-d", "2024-02-29", "+%A %d %B %y %I %p %u %Z %z"],
];

Deno.test("alice gets from each program what GNU's prints, and its exit code", async () => {
  await assertSameAsGnu(FILES, SAME);
});

const desk = (): ReturnType<typeof makeDesk> =>
  makeDesk({
    "desk/a.md": "old text\nolder\n",
    "desk/.hidden": "h\n",
    "desk/sub/b.md": "old\n",
    "desk/sub/e": "",
    "desk/secret/key": "k",
    "ro/c.md": "old\n",
    "desk/bin": new Uint8Array([111, 108, 100, 0, 255, 10]),
  });

Deno.test("alice lists folders: names, hidden ones, sizes", async () => {
  const { run } = desk();
  assert.equal((await run("ls", [], { cwd: "desk" })).stdout, "a.md\nbin\nsecret\nsub\n");
  assert.equal((await run("ls", ["-a", "desk"])).stdout, ".hidden\na.md\nbin\nsecret\nsub\n");
  assert.match((await run("ls", [])).stderr, /give cwd/);
  assert.equal(
    (await run("ls", ["-l", "sub"], { cwd: "desk" })).stdout,
    "-          4 b.md\n-          0 e\n",
  );
  assert.equal((await run("ls", ["-R", "sub"], { cwd: "desk" })).stdout, "sub:\nb.md\ne\n");
  assert.equal((await run("ls", ["a.md", "nope"], { cwd: "desk" })).exit, 1);
});

Deno.test("alice finds by name, kind, size and depth", async () => {
  const { run } = desk();
  const found = async (...args: string[]): Promise<string> =>
    (await run("find", args, { cwd: "desk" })).stdout;
  assert.equal(await found(".", "-name", "*.md"), "./a.md\n./sub/b.md\n");
  assert.equal(await found("sub", "-type", "f", "-empty"), "sub/e\n");
  assert.equal(await found(".", "-maxdepth", "1", "-type", "d"), ".\n./secret\n./sub\n");
  assert.equal(await found("sub", "!", "-name", "*.md", "-type", "f"), "sub/e\n");
  assert.equal(await found(".", "-name", "[ab].m?", "-size", "+4c"), "./a.md\n");
});

Deno.test("bytes are not cut out of the middle of a character", async () => {
  const { run } = makeDesk({ "desk/a": "é\n" });
  const { exit, stderr } = await run("cut", ["-b", "1", "a"], { cwd: "desk" });
  assert.equal(exit, 1);
  assert.match(stderr, /use -c/);
});

Deno.test("alice searches folders and keeps to the files that she names", async () => {
  const { run } = desk();
  const { stdout, exit } = await run("grep", ["-rn", "old", "--include", "*.md"], { cwd: "desk" });
  assert.equal(stdout, "a.md:1:old text\na.md:2:older\nsub/b.md:1:old\n");
  assert.equal(exit, 0);
});

Deno.test("a replacement is staged, counted, and never rewrites what is not text", async () => {
  const { run, staged } = desk();
  const done = await run("replace", ["old", "new", "a.md", "sub/b.md", "bin"], { cwd: "desk" });
  assert.deepEqual([...staged], [["desk/a.md", "new text\nnewer\n"], ["desk/sub/b.md", "new\n"]]);
  assert.equal(done.stdout, "a.md: 2\nsub/b.md: 1\n");
  assert.equal(done.exit, 1);
  assert.match(done.stderr, /bin: not text/);
  const refused = await run("replace", ["-E", "o.d", "$&", "ro/c.md"]);
  assert.equal(refused.stderr, "replace: ro/c.md: Permission denied\n");
  await run("replace", ["-E", "^o(l)d$", "$& \\1", "desk/sub/b.md"]);
  assert.equal(staged.get("desk/sub/b.md"), "$& \\1\n");
});

Deno.test("output is cut at its limits, and the program ends there", async () => {
  const { run, calls } = makeDesk({ "desk/big": "0123456789é\n".repeat(300_000), "desk/b": "x" });
  const bytes = await run("cat", ["big", "b"], { cwd: "desk", bytes: 1_000 });
  assert.equal(new TextEncoder().encode(bytes.stdout).length, 1_000);
  assert.deepEqual([bytes.cut, bytes.exit], [true, 141]);
  assert.deepEqual(calls, ["read desk/big"]);
  const lines = await run("cat", ["desk/big"], { lines: 7 });
  assert.equal(lines.stdout.split("\n").length, 8);
  assert.equal(lines.cut, true);
  const exact = await run("head", ["-n", "7", "desk/big"], { lines: 7 });
  assert.deepEqual([exact.cut, exact.exit], [false, 0]);
});

Deno.test("the never-list is a file's trouble, a cancelled call is the call's", async () => {
  const { run, remit } = desk();
  const refused = await run("cat", ["secret/key", "a.md"], { cwd: "desk" });
  assert.equal(refused.stderr, "cat: secret/key: Permission denied\n");
  assert.equal(refused.stdout, "old text\nolder\n");
  Object.assign(remit.fs, {
    read: () => Promise.reject(Object.assign(new Error("x"), { code: "cancelled" })),
  });
  await assert.rejects(run("cat", ["a.md"], { cwd: "desk" }), /x/);
});

Deno.test("stdin is what was given, for programs without files", async () => {
  const { run } = desk();
  assert.equal((await run("sort", [], { stdin: "b\na\n" })).stdout, "a\nb\n");
  assert.equal((await run("grep", ["-n", "b"], { stdin: "a\nb" })).stdout, "2:b\n");
  assert.equal((await run("wc", ["-c"], { stdin: "ä" })).stdout, "2\n");
  const sum = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  -\n";
  assert.equal((await run("sha256sum", ["-"], { stdin: "abc" })).stdout, sum);
});

Deno.test("checks of sums pass and fail by content", async () => {
  const { run } = makeDesk({
    "desk/abc": "abc",
    "desk/sums": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  abc\n",
    "desk/wrong": "00".repeat(32) + "  abc\n",
  });
  assert.equal((await run("sha256sum", ["-c", "sums"], { cwd: "desk" })).stdout, "abc: OK\n");
  assert.equal((await run("sha256sum", ["-c", "wrong"], { cwd: "desk" })).exit, 1);
  const none = await run("sha256sum", ["-c", "abc"], { cwd: "desk" });
  assert.equal(none.exit, 1);
  assert.match(none.stderr, /no line of it is a checksum/);
});
