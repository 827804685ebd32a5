import assert from "node:assert/strict";
import fc from "fast-check";
import { sectionsOf } from "./sections.ts";

const LONG = "A sentence of some length that fills a passage. ".repeat(4);

Deno.test("passages follow headings, carry them, and leave front matter and footnotes out", () => {
  const text = [
    ...["---", "title: Fronted", "---", "# Top", "", LONG, "", "## One", "", LONG, "", "```"],
    ...["# no heading", "```", LONG, "", "## Two", "", `${LONG}[^1]`, "", "[^1]: noted here"],
  ].join("\n");
  const sections = sectionsOf(text);
  assert.deepEqual(sections.map(({ headings }) => headings.join("/")), [
    "Top",
    "Top/One",
    "Top/Two",
  ]);
  assert.deepEqual(sections.map(({ startLine, endLine }) => [startLine, endLine]), [
    [4, 6],
    [8, 15],
    [17, 19],
  ]);
  for (const { terms } of sections) assert.doesNotMatch(terms, /\b(note|front)/);
});

Deno.test("a title over a few words, and a heading over headings, stay with what follows", () => {
  assert.equal(sectionsOf("# A\n\n## B\n\nfew\n\n## C\n\nwords\n").length, 1);
});

Deno.test("what the extractive ingest says of itself is not found", () => {
  const text =
    `# Lease\n\n*Extracted by rules: nobody has judged it.*\n\n## Definition\n\n${LONG}\n`;
  const sections = sectionsOf(text);
  assert.equal(sections.length, 1);
  assert.doesNotMatch(sections[0]?.terms ?? "", /judg/);
});

Deno.test("links to other pages, and headings over nothing else, are no answers; a page of a title alone is found", () => {
  const text = `# Lease\n\n${LONG}\n\n## See also\n\n[[gate|Gate]], [[derive|Derive]]\n\n[^1]: x\n`;
  assert.deepEqual(sectionsOf(text).map(({ startLine, endLine }) => [startLine, endLine]), [[
    1,
    3,
  ]]);
  assert.equal(sectionsOf(`${LONG}\n\nSee [[gate|Gate]] for more.\n`)[0]?.endLine, 3);
  assert.equal(sectionsOf("# Gate\n\n[[derive]]\n").length, 1);
});

Deno.test("a long section is cut at blank lines, and without any where it is too long", () => {
  const paragraphs = sectionsOf(`# A\n\n${`${LONG}\n\n`.repeat(20)}`);
  const lines = sectionsOf(`${LONG}\n`.repeat(60));
  assert.ok(paragraphs.length > 2 && lines.length > 5);
  assert.ok([...paragraphs, ...lines].every((each) => each.terms.length <= 2_000));
});

Deno.test("whatever the text, passages are in order, do not overlap, and hold every line that says something", () => {
  const line = fc.constantFrom(
    "",
    " ",
    "---",
    "# a",
    "###### b",
    "```",
    "~~~",
    "[^1]: n",
    "\0",
    LONG,
  );
  fc.assert(fc.property(fc.array(line, { maxLength: 60 }), (lines) => {
    const sections = sectionsOf(lines.join("\n"));
    let last = 0;
    for (const { startLine, endLine } of sections) {
      assert.ok(startLine > last && endLine >= startLine && endLine <= lines.length);
      last = endLine;
    }
    lines.forEach((each, n) => {
      if (each !== LONG || lines[0] === "---") return;
      assert.ok(sections.some((one) => one.startLine <= n + 1 && one.endLine >= n + 1));
    });
  }));
});

Deno.test("a fence that never ends and a heading of a megabyte cost no more than their length", () => {
  assert.ok(sectionsOf(`\`\`\`\n${"x\n".repeat(200_000)}`).length > 10);
  const [only] = sectionsOf(`# ${"h".repeat(1_000_000)}\n`);
  assert.equal(only?.headings[0]?.length, 256);
});
