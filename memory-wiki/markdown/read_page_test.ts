import assert from "node:assert/strict";
import { citationLine } from "./citation_line.ts";
import { readPage } from "./read_page.ts";

const CITED = citationLine({
  note: "1",
  file: "raw/lease.3f2a90bc12de.md",
  shown: "docs/lease.md",
  digest: "3f2a90bc12de4567" + "0".repeat(48),
  startLine: 3,
  endLine: 4,
});
const claims = (body: string): string[] =>
  readPage(body).claims.map(({ line, text, notes }) => `${line} ${text} [${notes.join()}]`);

Deno.test("sentences, items and rows are claims, each with its line and footnotes", () => {
  assert.deepEqual(
    claims(
      "# Lease\n\nA lease **ends**,\nalways.[^1] It is `asked`. It goes.[^2]\n\n- one[^1]\n  - two\n\n" +
        "| a | b |\n|---|---|\n| x[^1] | y |\n\n> quoted.[^3]\n",
    ),
    [
      "3 A lease ends, always. [1]",
      "4 It is asked. [2]",
      "4 It goes. [2]",
      "6 one [1]",
      "7 two []",
      "11 x | y [1]",
      "13 quoted. [3]",
    ],
  );
});

Deno.test("a footnote covers its own sentence, and at the end of a paragraph all since the one before", () => {
  assert.deepEqual(claims("A a. B b.[^1] C c. D d. E e[^2][^3]."), [
    "1 A a. []",
    "1 B b. [1]",
    "1 C c. [2,3]",
    "1 D d. [2,3]",
    "1 E e. [2,3]",
  ]);
  assert.deepEqual(claims("A a. B b[^1] goes on."), ["1 A a. []", "1 B b goes on. [1]"]);
});

Deno.test("headings, code, comments, questions, remarks, links alone and footnotes are no claims", () => {
  assert.deepEqual(
    claims(
      "# A heading is.\n\nSetext is.\n===\n\n*A remark about the page. All of it.*\n\n```\nCode is.\n```\n\n    Indented is.\n\n" +
        "<!-- hidden. is -->\n\nWhat is it?\n\n- [[lease]]\n- [a](b.md), [[c|d]]\n\nThe outcomes are:\n\n- ok is one.\n\n" +
        `> [!note] A title\n> A body is.\n\n${CITED}\n`,
    ),
    ["23 ok is one. []", "26 A body is. []"],
  );
});

Deno.test("stops within code end no sentence, and what a link shows is read", () => {
  assert.deepEqual(claims("Call `a. B c.` at [[x|the end]] or [y](z.md)."), [
    "1 Call a. B c. at the end or y. []",
  ]);
});

Deno.test("links are told as written without heading and shown text, and none out of code", () => {
  const { links } = readPage(
    "# [[a]]\n\n[[b#part|x]] `[[no]]` \\[[no]] [[#self]]\n![[c]]\n\n```\n[[no]]\n```\n| [[d\\|e]] |\n",
  );
  assert.deepEqual(links, [
    { target: "a", line: 1 },
    { target: "b", line: 3 },
    { target: "c", line: 4 },
    { target: "d", line: 9 },
  ]);
});

Deno.test("footnotes that are no citation, are not defined, or are defined twice are broken", () => {
  const page = readPage(
    `A.[^1] B.[^x] C.[^gone] D.[^ONE]\n\n${CITED}\n\n[^x]: Trust me.\n\n[^x]: Again.\n\n[^one]: A\n`,
  );
  assert.deepEqual(page.citations.map(({ note, line, startLine }) => [note, line, startLine]), [[
    "1",
    3,
    3,
  ]]);
  assert.deepEqual(page.brokenNotes, [
    { note: "x", line: 5, why: "it is not written as a citation" },
    { note: "x", line: 7, why: "it is defined twice" },
    { note: "one", line: 9, why: "it is not written as a citation" },
    { note: "gone", line: 1, why: "it is not defined" },
  ]);
});

Deno.test("mallory hangs text onto a citation, or hides it in code: it is none", () => {
  assert.equal(readPage(`A.[^1]\n\n${CITED}\nand trust me\n`).citations.length, 0);
  assert.equal(readPage(`A.[^1]\n\n\`\`\`\n${CITED}\n\`\`\`\n`).citations.length, 0);
  assert.equal(readPage(`A.[^1]\n\n<!--\n${CITED}\n-->\n`).citations.length, 0);
  assert.equal(readPage(`A.[^1]\n\n${CITED}\n${CITED.replace("^1", "^2")}\n`).citations.length, 2);
});

Deno.test("lines are those of the file, with front matter and line ends of Windows", () => {
  const page = readPage(`---\r\ntitle: x\r\n---\r\n\r\n# A\r\n\r\nB is b.[^1]\r\n\r\n${CITED}\r\n`);
  assert.equal(page.bodyLine, 5);
  assert.deepEqual(page.headings, [{ text: "A", level: 1, line: 5 }]);
  assert.deepEqual(page.claims, [{ line: 7, text: "B is b.", notes: ["1"] }]);
  assert.equal(page.citations[0]?.line, 9);
});
