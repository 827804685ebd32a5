import { assertSameAsGnu } from "./_fixture/gnu.ts";

const FILES = {
  "open": "a\nb",
  "next": "c\n\n\nd\n",
  "blank": "\n\n",
  "empty": "",
};

Deno.test("a line that goes on in the next file is one line, with one number", async () => {
  await assertSameAsGnu(FILES, [
    ["cat", "-n", "open", "next"],
    ["cat", "-n", "open", "empty", "open", "next"],
    ["cat", "-s", "open", "blank", "next"],
    ["cat", "-ns", "open", "blank", "blank"],
    ["cat", "-n", "open", "missing", "next"],
    ["cat", "-n", "next", "open"],
  ]);
});

Deno.test("a title stands above what there is, with a blank line between two and none before the first", async () => {
  for (const program of ["head", "tail"]) {
    for (const words of [["-n1"], ["-c2"], ["-n1", "-v"], ["-n1", "-q"]]) {
      await assertSameAsGnu(FILES, [
        [program, ...words, "missing", "next", "blank"],
        [program, ...words, "next", "missing", "blank"],
        [program, ...words, "next", "empty"],
        [program, ...words, "missing"],
      ]);
    }
  }
  await assertSameAsGnu(FILES, [
    ["tail", "-n+2", "missing", "next"],
    ["tail", "-c+2", "missing", "next"],
  ]);
});
