import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { tokenize } from "../../scripts/house/tokens.ts";

const texts = (source: string): readonly string[] => tokenize(source).map(({ text }) => text);

Deno.test("comments and strings are told from code", () => {
  const kinds = tokenize(`/** doc */ const a = "x // y"; // tail`).map(({ kind }) => kind);
  deepStrictEqual(kinds, ["doc", "word", "word", "punct", "string", "punct", "comment"]);
});

Deno.test("the code inside a template's braces is code, also when templates nest", () => {
  deepStrictEqual(texts("`a ${fetch(`b ${c}`)} d`"), [
    "a ",
    "fetch",
    "(",
    "b ",
    "c",
    "",
    ")",
    " d",
  ]);
});

Deno.test("an object inside a template's braces does not end the template", () => {
  deepStrictEqual(texts("`${{ a: 1 }.a}` + fetch"), [
    "",
    "{",
    "a",
    ":",
    "1",
    "}",
    ".",
    "a",
    "",
    "+",
    "fetch",
  ]);
});

Deno.test("a quote in a regular expression opens no string, and a division is no expression", () => {
  deepStrictEqual(texts(`x = /["'/]"/u; y = a / b / c; fetch`).slice(-9), [
    ..."y = a / b / c ;".split(" "),
    "fetch",
  ]);
});

Deno.test("an escaped quote does not end a string", () => {
  deepStrictEqual(texts(String.raw`"a\"b" c`), [String.raw`a\"b`, "c"]);
});

Deno.test("lines are counted through comments, strings and templates of several lines", () => {
  const last = tokenize("/*\n\n*/ `\n${1}\n` end").at(-1);
  strictEqual(last?.text, "end");
  strictEqual(last?.line, 5);
});

Deno.test("every source file of this repository can be cut into tokens", () => {
  const root = new URL("../../scripts/", import.meta.url);
  for (const { name, isFile } of Deno.readDirSync(root)) {
    if (isFile) tokenize(Deno.readTextFileSync(new URL(name, root)));
  }
});

Deno.test("text that is not TypeScript ends, too", () => {
  for (const text of ['"open', "`open ${", "/* open", "a\n\ud800", "}}}`", "/["]) tokenize(text);
  strictEqual(tokenize("`open ${a").at(-1)?.text, "a");
});
