import assert from "node:assert/strict";
import { blocksOf } from "./blocks.ts";

const shape = (text: string): string[] =>
  blocksOf(text.split("\n")).map(({ kind, line, endLine, text }) =>
    `${kind} ${line === endLine ? line : `${line}-${endLine}`} ${text.replaceAll("\n", "/")}`
  );

Deno.test("headings of both forms, rules, and paragraphs over several lines", () => {
  assert.deepEqual(shape("# A #\nb\nc\n\nSet\n===\n***\nd\n---\n#no\n"), [
    "heading 1 A",
    "paragraph 2-3 b/c",
    "heading 5-6 Set",
    "rule 7 ***",
    "heading 8-9 d",
    "paragraph 10 #no",
  ]);
});

Deno.test("items hold their lazy lines, nested items are their own, a number within prose is none", () => {
  assert.deepEqual(
    shape("- a\n  b\n  - c\nd\n\n  e\n\nIn the year\n1984. It was\n1. one\n- [x] done"),
    [
      "item 1-2 a/b",
      "item 3-4 c/d",
      "paragraph 6 e",
      "paragraph 8-9 In the year/1984. It was",
      "item 10 one",
      "item 11 done",
    ],
  );
});

Deno.test("code is fenced, indented, or unterminated to the end; a shorter fence does not close it", () => {
  assert.deepEqual(shape("````ts\n```\nx\n````\n\n    y\n\n~~~\n# z\n"), [
    "code 1-4 ````ts/```/x/````",
    "code 6     y",
    "code 8-10 ~~~/# z/",
  ]);
});

Deno.test("a fence within a quote ends with the quote", () => {
  assert.deepEqual(shape("> ```\n> x\nafter"), ["code 1-2 ```/x", "paragraph 3 after"]);
});

Deno.test("a table has a header, a rule and rows until something else begins", () => {
  assert.deepEqual(shape("a | b\n--|--\nc | d\ne\n# f\ng | h"), [
    "header 1 a | b",
    "rule 2 --|--",
    "row 3 c | d",
    "row 4 e",
    "heading 5 f",
    "paragraph 6 g | h",
  ]);
});

Deno.test("a footnote holds its lazy and its indented lines; a comment hides what is in it", () => {
  assert.deepEqual(shape("[^a]: one\ntwo\n\n    three\nfour\n\n<!-- x\n# y\n-->\nz"), [
    "note 1-5 one/two/three/four",
    "comment 7-9 <!-- x/# y/-->",
    "paragraph 10 z",
  ]);
});
