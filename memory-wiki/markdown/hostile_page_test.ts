import assert from "node:assert/strict";
import fc from "fast-check";
import { readPage } from "./read_page.ts";
import { processorTime } from "../../tests/fake/processor_time.ts";

const SIZE = 1 << 20;
/** A text of sixteen times the length may take this many times as long; a square would take 256 times. */
const MAX_TIMES = 64;
/** Below this a ratio says nothing, milliseconds of processor time; a bomb takes minutes. */
const MAX_MS = 5_000;

const FLOODS = [
  "[",
  "](",
  "[[",
  "[[a",
  "[^",
  "[^1]",
  "[^a]:",
  "`",
  "`a``b",
  "``` ",
  "*a",
  "_a ",
  ">",
  "> ",
  "- ",
  "1. ",
  "  - a\n",
  "<",
  "<!--",
  "<a ",
  "&",
  "![",
  "\\",
  "|",
  "|a\n|-|\n",
  ". ",
  "!!",
  "a. **b**: ",
  "。",
  "\n",
  "\r\n",
  "\0",
  "\u202e",
  "# ",
  "---\n",
  "* * ",
  "```\n",
  "~~~\n",
  "    ",
  "[a](",
  '[a](b "',
  "\ud800",
  "x.[^1] ",
  "> - ",
  "x\n===\n",
];

Deno.test("mallory's mebibyte of any mark is read in time proportional to its length (long)", () => {
  for (const flood of FLOODS) {
    const [small, large] = [SIZE / 16, SIZE].map((size) => {
      const text = flood.repeat(Math.ceil(size / flood.length)).slice(0, size);
      const started = processorTime();
      const page = readPage(text);
      // Two marks of a front matter at most are no body.
      assert.ok(page.body.length >= size - 8);
      return processorTime() - started;
    });
    const most = Math.max(MAX_TIMES * (small ?? NaN), MAX_MS);
    assert.ok((large ?? NaN) < most, `${JSON.stringify(flood)}: ${small} ms, then ${large} ms`);
  }
});

Deno.test("bombs of YAML and giant front matter are passed over in no time", () => {
  const bomb = ["a: &a [x, x]", ...[..."bcdefgh"].map((key) => `${key}: &${key} [*a, *a, *a, *a]`)];
  const texts = [
    `---\n${bomb.join("\n")}\ntitle: *h\n---\nbody`,
    `---\n${"a: b\n".repeat(200_000)}---\nbody`,
    `---\ntitle: ${"[".repeat(SIZE)}\n---\nbody`,
    `---\n${"a: b\n".repeat(200_000)}`,
  ];
  for (const text of texts) {
    const started = processorTime();
    assert.equal(readPage(text).front.title, undefined);
    assert.ok(processorTime() - started < 12 * MAX_MS);
  }
});

Deno.test("any text is a page: nothing throws, and lines lie within the file", () => {
  const piece = fc.constantFrom(
    "[^1]",
    "[^1]: ",
    "[[a|b]]",
    "`",
    "```",
    "\n",
    "\n\n",
    "> ",
    "- ",
    "| ",
    "|-|",
    "# ",
    "---",
    "<!--",
    "-->",
    "**",
    "_",
    "Word. ",
    "\\",
    "\0",
    "\u202e",
    "\r\n",
    "    ",
    "\t",
    "漢。",
    "(",
    "](",
    "!",
    "&amp;",
    "<b>",
    "\ud800",
    "[!note] ",
    ":",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join("")), (text) => {
      const count = text.split("\n").length;
      const { claims, links, headings, brokenNotes, citations } = readPage(text);
      for (const { line } of [...claims, ...links, ...headings, ...brokenNotes, ...citations]) {
        assert.ok(line >= 1 && line <= count, `${line} of ${count}`);
      }
      for (const claim of claims) assert.doesNotMatch(claim.text, /[\n\r]/);
    }),
    { numRuns: 1_000 },
  );
});
