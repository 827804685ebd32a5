import { assertSameAsGnu } from "./_fixture/gnu.ts";

const FILES = {
  "n": "a 10\nb 9\nc 100\na 9\nB 10\nb 1\n",
  "big":
    "9007199254740992\n9007199254740993\n9007199254740992\n-9007199254740993\n-9007199254740992\n",
  "parts": "0.10\n.1\n0.1000000000000000000001\n-0\n0\n-.5\n-.25\nx\n00012\n12\n-\n- 3\n+4\n 5\n",
  "points": "\u{1d11e}\n\uff5e\nz\n\u{10000}a\n\uffee\n",
  "folded": "b\nA\na\nB\nb\n",
  "upper": "A\nb\nC\n",
  "same": "a\nA\nb\n",
  "fields": "  b 1\n a 2\nc  3\n\tb 0\n",
  "csv": "x;b;2\nx;a;10\ny;;1\nx;a;9\n",
  "chars": "axb\nbxa\ncaa\n",
};

Deno.test("a key with order flags of its own takes none of those for the whole line", async () => {
  await assertSameAsGnu(FILES, [
    ["sort", "-r", "-k2,2n", "n"],
    ["sort", "-r", "-k2,2", "n"],
    ["sort", "-n", "-k2,2r", "n"],
    ["sort", "-n", "-k2,2", "n"],
    ["sort", "-f", "-k1,1r", "n"],
    ["sort", "-f", "-k1,1", "-k2,2n", "n"],
    ["sort", "-rs", "-k2,2n", "n"],
    ["sort", "-rs", "-k2,2", "n"],
    ["sort", "-nr", "-k2b", "n"],
    ["sort", "-b", "-k2,2n", "fields"],
    ["sort", "-b", "-k1,1", "fields"],
    ["sort", "-k1b,1", "fields"],
    ["sort", "-k1,1b", "fields"],
    ["sort", "-k1,1", "fields"],
    ["sort", "-k2", "fields"],
    ["sort", "-b", "fields"],
    ["sort", "-t;", "-k2,2", "-k3,3nr", "csv"],
    ["sort", "-t;", "-rk2,2", "-k3n", "csv"],
    ["sort", "-u", "-k1,1", "n"],
    ["sort", "-ru", "-k2,2n", "n"],
  ]);
});

Deno.test("numbers sort by all of their digits", async () => {
  await assertSameAsGnu(FILES, [
    ["sort", "-n", "big"],
    ["sort", "-nu", "big"],
    ["sort", "-nr", "big"],
    ["sort", "-n", "parts"],
    ["sort", "-nu", "parts"],
    ["sort", "-cn", "big"],
  ]);
});

Deno.test("lines sort by code points, also past U+FFFF", async () => {
  await assertSameAsGnu(FILES, [
    ["sort", "points"],
    ["sort", "-r", "points"],
    ["sort", "-u", "points"],
    ["sort", "-k1,1", "points"],
    ["sort", "-f", "points"],
    ["sort", "-c", "points"],
  ]);
});

Deno.test("a check of order goes by the order that was asked for", async () => {
  await assertSameAsGnu(FILES, [
    ["sort", "-cf", "folded"],
    ["sort", "-cf", "upper"],
    ["sort", "-c", "upper"],
    ["sort", "-cu", "folded"],
    ["sort", "-cuf", "same"],
    ["sort", "-cf", "same"],
    ["sort", "-cr", "upper"],
    ["sort", "-cn", "n"],
    ["sort", "-cs", "upper"],
    ["sort", "-c", "-k2,2n", "n"],
    ["sort", "-fu", "same"],
    ["sort", "-f", "same"],
    ["sort", "-fr", "same"],
  ]);
});
