import assert from "node:assert/strict";
import type { IndexRow } from "../../contracts/wire/mod.ts";
import { citationLine } from "./citation_line.ts";
import { INSTRUCTIONS, INSTRUCTIONS_VERSION } from "./instructions.ts";
import { readPage } from "./read_page.ts";
import { aboutOf, renderIndex } from "./render_index.ts";

const row = (name: string, more: Partial<IndexRow> = {}): IndexRow => ({
  name,
  title: name,
  kind: "concept",
  about: "",
  colour: "YELLOW",
  label: "internal",
  stale: false,
  ...more,
});

Deno.test("the index lists pages by kind, each with its link, sentence and marks", () => {
  const rows = [
    row("glossary", { kind: "summary", title: "Glossary" }),
    row("lease", {
      title: "Lease",
      about: "lease: a grant that ends.",
      colour: "RED",
      label: "secret",
      stale: true,
    }),
  ];
  assert.equal(
    renderIndex(rows),
    "# Index\n\n*2 pages. Written by Remit with each change.*\n\n## Concepts\n\n" +
      "- [[lease|Lease]]: a grant that ends. (RED, secret, stale)\n\n## Summaries of sources\n\n- [[glossary|Glossary]]\n",
  );
});

Deno.test("mallory's title and first sentence add no link, line or heading to the index", () => {
  const text = renderIndex([
    row("x", { title: "a]] [[lease|b\n# c", about: "See [[lease]] [^1] <b>\n## d" }),
  ]);
  const { links, headings, brokenNotes } = readPage(text);
  assert.deepEqual(links.map(({ target }) => target), ["x"]);
  assert.deepEqual(headings.map((heading) => heading.text), ["Index", "Concepts"]);
  assert.deepEqual(brokenNotes, []);
});

Deno.test("what a page is about is its first statement, at most 160 characters", () => {
  assert.equal(
    aboutOf("# Lease\n\n*Made by rules.*\n\n> **lease**: a `grant` with an end.[^1] More.\n"),
    "lease: a grant with an end.",
  );
  assert.equal(aboutOf("# Only a heading\n"), "Only a heading");
  assert.equal(aboutOf(""), "");
  const long = aboutOf(`${"word ".repeat(100)}end.`);
  assert.ok(long.length <= 160 && long.endsWith("word…"), long);
  assert.ok(aboutOf("😀".repeat(200)).isWellFormed());
});

Deno.test("the instructions carry a version, and their own example is a citation that holds", () => {
  assert.match(INSTRUCTIONS, new RegExp(`^Instructions version: ${INSTRUCTIONS_VERSION}\\b`, "m"));
  const [example] = /^\[\^1\]: .*$/m.exec(INSTRUCTIONS) ?? [];
  const digest = "3f2a90bc12de4567";
  const parts = { note: "1", file: "raw/lease.3f2a90bc12de.md", shown: "docs/lease.md", digest };
  assert.equal(example, citationLine({ ...parts, startLine: 31, endLine: 33 }));
  assert.deepEqual(readPage(INSTRUCTIONS).brokenNotes, []);
  for (
    const word of ["ingest", "query", "lint", "wiki_propose", "wiki_cite", "wiki_search", "RED"]
  ) {
    assert.ok(INSTRUCTIONS.includes(word), word);
  }
});
