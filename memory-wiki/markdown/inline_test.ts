import fc from "fast-check";
import assert from "node:assert/strict";
import { codeSpan, escapeLine, linkShown, plainLine } from "./inline.ts";
import { readPage } from "./read_page.ts";

const mark = fc.constantFrom(
  "[^1]",
  "[^1]: x",
  "[[lease]]",
  "![[x]]",
  "[a](b)",
  "<script>",
  "<!--",
  "-->",
  "`",
  "```",
  "~~~",
  "# ",
  "- ",
  "1. ",
  "> ",
  "---",
  "===",
  "|",
  "|-|",
  "**",
  "_",
  "*",
  "~~",
  "==",
  "%%",
  "$x$",
  "\\",
  "#tag",
  "^id",
  "&lt;",
  "word",
  " ",
  "\n",
  "\r",
  "https://evil.example/a_b*c",
  "www.x.y",
  "[!note]",
  "\u202e",
  "\u200b",
  "漢字。",
  "A. B",
  ":",
  "+ ",
  "10) ",
);
const hostile = fc.array(mark, { maxLength: 12 }).map((marks) => marks.join(""));

Deno.test("mallory's text on one escaped line makes no link, footnote, heading, code block or list", () => {
  fc.assert(
    fc.property(hostile, fc.constantFrom("", "> ", "- ", "> - "), (text, before) => {
      const line = before + escapeLine(text);
      assert.equal(line.includes("\n"), false);
      const page = readPage(`above\n\n${line}\n\nbelow\n`);
      assert.deepEqual([page.links, page.brokenNotes, page.citations, page.headings], [
        [],
        [],
        [],
        [],
      ]);
      assert.equal(page.claims.at(-1)?.text, "below");
      assert.doesNotMatch(line, /(?<!\\)<[a-z!/]/i);
    }),
    { numRuns: 2_000 },
  );
});

Deno.test("what is escaped is read back as the words that it was", () => {
  const cases = [
    "A lease_table is *not* a [link](x) or [^1].",
    "# no heading",
    "1. no list",
    "2) no list",
    "- none either",
    "a `b` c",
    "snake_case stays, _this_ too",
    "x < y & z > w",
    "| a | b |",
  ];
  for (const text of cases) {
    const line = escapeLine(text);
    const shown = readPage(`> ${line}\n`).claims.map((claim) => claim.text).join(" ");
    assert.equal(shown, text, line);
  }
  assert.equal(escapeLine("snake_case and v1.2"), "snake_case and v1.2");
});

Deno.test("addresses are shown as code, so that nobody follows them by accident", () => {
  assert.equal(
    escapeLine("see https://evil.example/x?a=[b] now"),
    "see `https://evil.example/x?a=[b]` now",
  );
});

Deno.test("code spans hold one line, and text with backticks is escaped instead", () => {
  assert.equal(codeSpan("a\nb"), "`a b`");
  assert.equal(codeSpan("a`b"), "a\\`b");
});

Deno.test("the shown half of a link never ends the link", () => {
  fc.assert(fc.property(hostile, (text) => {
    const { links, headings } = readPage(`[[lease|${linkShown(text)}]] x\n`);
    assert.deepEqual(links, [{ target: "lease", line: 1 }]);
    assert.deepEqual(headings, []);
  }));
});

Deno.test("an underscore that closes nothing is itself, so that no index of a number is lost", () => {
  for (
    const [text, plain] of [
      ["x_(1)2 and H_(2)O", "x_(1)2 and H_(2)O"],
      ["_a word_ and a_(i)", "a word and a_(i)"],
      ["_(both)_, __twice__ and snake_case_", "(both), twice and snake_case_"],
      ["10^6 ants, v_", "10^6 ants, v_"],
    ] as const
  ) assert.equal(plainLine(text), plain);
});
