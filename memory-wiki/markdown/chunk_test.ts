import assert from "node:assert/strict";
import fc from "fast-check";
import type { SourceKind } from "../../contracts/memory/mod.ts";
import { chunkText } from "./chunk.ts";

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const termsOf = (text: string): string[] => text.match(/[\p{L}\p{N}]+/gu) ?? [];

function cut(kind: SourceKind, bytes: Uint8Array, title = "given") {
  return chunkText(kind, bytes, { termsOf, title });
}
const KINDS = ["markdown", "text", "code", "csv", "json"] as const;

/** Each chunk's own text, by its bytes. */
function texts(bytes: Uint8Array, kind: SourceKind): string[] {
  return cut(kind, bytes).chunks.map(({ startByte, endByte }) =>
    decode(bytes.subarray(startByte, endByte))
  );
}

Deno.test("a glossary's definitions are passages of their own, with the term above them", () => {
  const text =
    "# Glossary\n\nWords.\n\n## Authority\n\n- **grant**: to hand over.\n- **lease**: a grant with an end.\n  It is asked.\n" +
    "  - and nested\n- **revoke**: to end it.\n";
  const { chunks, title, lines } = cut("markdown", encode(text));
  assert.equal(title, "Glossary");
  assert.equal(lines, 11);
  assert.deepEqual(chunks.map(({ heading, startLine, endLine }) => [heading, startLine, endLine]), [
    ["Glossary", 1, 3],
    ["Glossary > Authority > grant", 7, 7],
    ["Glossary > Authority > lease", 8, 10],
    ["Glossary > Authority > revoke", 11, 11],
  ]);
  assert.equal(chunks[2]?.terms.includes("asked"), true);
  assert.equal(chunks[2]?.headingTerms, "Glossary Glossary Authority lease");
});

Deno.test("rows of a table of terms are passages of their own, rows of other tables are not", () => {
  const rows =
    "| --- | --- |\n| lease | a grant with an end |\n| [grant](x.md) | to hand over |\n\nAfter.\n";
  const headings = (first: string) =>
    cut("markdown", encode(`# A\n\n| ${first} | meaning |\n${rows}`)).chunks.map(({ heading }) =>
      heading
    );
  assert.deepEqual(headings("Term"), ["A", "A > lease", "A > grant", "A"]);
  assert.deepEqual(headings("Step"), ["A"]);
});

Deno.test("lines and bytes of every chunk say the same, chunks ascend, and none is too long", () => {
  const line = fc.oneof(
    fc.constantFrom(
      "",
      "",
      "# One",
      "## Two",
      "- item",
      "- **t**: x",
      "| a | b |",
      "|---|---|",
      "```",
      "---",
      "> q",
      "\tx",
      'a,"b',
      "{",
      "\r",
      "漢字。",
    ),
    fc.string({ unit: "grapheme", maxLength: 40 }),
    fc.constant("word ".repeat(90)),
    fc.constant("x".repeat(5_000)),
  );
  fc.assert(
    fc.property(fc.array(line, { maxLength: 60 }), fc.constantFrom(...KINDS), (lines, kind) => {
      const bytes = encode(lines.join("\n").replaceAll("\0", ""));
      const { chunks } = cut(kind, bytes);
      let at = 0;
      for (const { startLine, endLine, startByte, endByte } of chunks) {
        assert.ok(startByte >= at && endByte > startByte && endByte <= bytes.length);
        at = endByte;
        const before = decode(bytes.subarray(0, startByte)).split("\n").length;
        assert.equal(before, startLine);
        assert.equal(decode(bytes.subarray(0, endByte)).split("\n").length, endLine);
        assert.ok(decode(bytes.subarray(startByte, endByte)).length <= 1_200);
      }
    }),
    { numRuns: 300 },
  );
});

Deno.test("of plain text, code, tables and JSON no word is left out", () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.constantFrom(
          "alpha beta",
          "",
          "  gamma {",
          "}",
          "1,2",
          "DELTA",
          "=====",
          "x".repeat(1_500),
        ),
        { maxLength: 80 },
      ),
      fc.constantFrom("text", "code", "csv", "json"),
      (lines, kind) => {
        const bytes = encode(lines.join("\n"));
        assert.equal(
          texts(bytes, kind).join("").replace(/\s+/g, ""),
          lines.join("").replace(/\s+/g, ""),
        );
      },
    ),
    { numRuns: 200 },
  );
});

Deno.test("a line of ten megabytes is cut into chunks with bytes of their own", () => {
  const bytes = encode(`{"a":[${'"some words here",'.repeat(560_000)}0]}`);
  const { chunks, lines } = cut("json", bytes);
  assert.equal(lines, 1);
  assert.ok(chunks.length > 5_000);
  assert.equal(chunks.every(({ startLine, endLine }) => startLine === 1 && endLine === 1), true);
  assert.equal(chunks.at(-1)?.endByte, bytes.length);
  const words = chunks.reduce(
    (sum, { terms }) => sum + terms.split(" ").filter((term) => term === "some").length,
    0,
  );
  assert.equal(words, 560_000);
});

Deno.test("broken UTF-8 is read with replacements, and ranges stay those of the bytes", () => {
  const bytes = new Uint8Array([
    ...encode("# A\n\nfirst "),
    0xff,
    0xe2,
    0x0a,
    ...encode("second\n"),
    0xc3,
  ]);
  const { chunks, lines } = cut("markdown", bytes);
  assert.equal(lines, 5);
  assert.deepEqual(chunks.map(({ startByte, endByte, endLine }) => [startByte, endByte, endLine]), [
    [0, bytes.length, 5],
  ]);
  assert.match(chunks[0]?.terms ?? "", /first second/);
  const broken = new Uint8Array(20_000).fill(0x80);
  assert.equal(cut("text", broken).chunks.at(-1)?.endByte, 20_000);
});

Deno.test("binary and UTF-16 are refused, not indexed as noise", () => {
  for (
    const bytes of [
      encode("a\0b"),
      new Uint8Array([0xff, 0xfe, 0x61, 0x00]),
      new Uint8Array(64).fill(1),
    ]
  ) {
    assert.throws(() => cut("text", bytes), { code: "invalidInput" });
  }
});

Deno.test("a table's rows stand under the names of its columns, quoted line ends and all", () => {
  const rows = Array.from({ length: 100 }, (_, at) => `${at},"two\nlines ${at}",x`);
  const { chunks } = cut("csv", encode(`id,text,rest\n${rows.join("\n")}\n`));
  assert.ok(chunks.length > 1);
  assert.equal(chunks.every(({ heading }) => heading === "id, text, rest"), true);
  assert.equal(chunks.every(({ endLine }) => endLine % 2 === 1), true);
});

Deno.test("code stands under the name that encloses it, JSON under its keys", () => {
  const body =
    "    return 1; // some words to make it long enough for a chunk of its own, and so on\n".repeat(
      9,
    );
  const code =
    `import { a } from "b";\n\n/** Doc. */\nexport class Table {\n  rows() {\n${body}  }\n\n  async grant(x: string) {\n${body}  }\n}\n\n` +
    `export function alone(x: number) {\n${body}}\n`;
  const found = cut("code", encode(code), "src/table.ts").chunks;
  assert.deepEqual(found.map(({ heading }) => heading), ["Table", "Table > grant", "alone"]);
  assert.equal(code.split("\n")[(found[0]?.startLine ?? 0) - 1], 'import { a } from "b";');
  const json = JSON.stringify(
    { tasks: { build: "x".repeat(700), test: "y".repeat(700) } },
    null,
    2,
  );
  assert.equal(cut("json", encode(json)).chunks.at(-1)?.heading, "tasks");
});

/** All headings of code, each line long enough to be a chunk of its own. */
function headingsOf(file: string, lines: readonly string[]): readonly string[] {
  const filler = (line: string): string => `${/^\s*/.exec(line)?.[0] ?? ""}  ${"x1; ".repeat(110)}`;
  const text = lines.map((line) => `${line}\n${filler(line)}\n${filler(line)}\n`).join("\n");
  return [...new Set(cut("code", encode(text), file).chunks.map(({ heading }) => heading))];
}

Deno.test("each known language's declarations are headings", () => {
  const cases: readonly (readonly [string, readonly string[], readonly string[]])[] = [
    ["a.py", ["class Lease(Base):", "  async def renew(self):", "def lone(x):"], [
      ...["Lease", "Lease > renew", "lone"],
    ]],
    ["a.go", ["func (s *Store) Grant(x int) error {", "type Lease struct {"], ["Grant", "Lease"]],
    ["a.rs", ["impl<T> Drop for Lease<T> {", "  pub(crate) fn grant(&self) {"], [
      ...["Lease", "Lease > grant"],
    ]],
    ["a.c", ["static int gz_open(gz_statep state)", "struct lease {", "main (argc, argv)"], [
      ...["gz_open", "lease", "main"],
    ]],
    ["a.cpp", ["void Store::grant(int x) {", "namespace leases {"], ["Store::grant", "leases"]],
    ["A.java", ["public class Lease<T> {", "  public void renew(int days) {"], [
      ...["Lease", "Lease > renew"],
    ]],
    ["a.rb", ["module Leases", "  def ended?"], ["Leases", "Leases > ended?"]],
    ["a.pl", ["sub ended {"], ["ended"]],
    ["a.sh", ["ended() {"], ["ended"]],
    ["a.sql", ["CREATE TABLE IF NOT EXISTS leases ("], ["leases"]],
    ["a.proto", ["message Lease {"], ["Lease"]],
    ["a.ts", ["export interface Lease {", "class A extends B {", "  #ended(at: number) {"], [
      ...["Lease", "A", "A > #ended"].map((each) => each.replace("#", "")),
    ]],
  ];
  for (const [file, lines, wanted] of cases) {
    assert.deepEqual(headingsOf(file, lines), wanted, file);
  }
});

Deno.test("words of comments, of texts and of unknown languages are no headings", () => {
  const prose = ["a subsequent class of things (", "unchanged(", "record keeping is here {"];
  for (const file of ["a.c", "a.ts", "A.java", "a.rs"]) {
    const lines = [
      "/* It begins",
      ...prose,
      "   struct lease {",
      "*/",
      ...prose.map((each) => `// ${each}`),
    ];
    assert.deepEqual(headingsOf(file, lines), [""], file);
    assert.deepEqual(
      headingsOf(file, [" * subsequent changes", "// function made(up) {"]),
      [""],
      file,
    );
  }
  for (const file of ["a.py", "a.rb", "a.pl", "a.sh"]) {
    assert.deepEqual(
      headingsOf(file, ["# def made(up):", "# sub made {", "#class Up:"]),
      [""],
      file,
    );
  }
  assert.deepEqual(headingsOf("a.py", ['"""Words', "class Made(up):", '"""']), [""]);
  assert.deepEqual(headingsOf("a.pl", ["=head1 NAME", "sub made {", "=cut"]), [""]);
  const calls = ['describe("leases", () => {', "setTimeout(function () {", "expect("];
  assert.deepEqual(headingsOf("a.ts", calls), [""]);
  for (const file of ["a.vim", "a.unknown", "Makefile", "c"]) {
    assert.deepEqual(headingsOf(file, ["class Lease {", "def lone(x):", "sub x {"]), [""], file);
  }
});

Deno.test("plain text knows headings by number, underline and capitals", () => {
  const text =
    "Title\n=====\n\nIntro words.\n\n1.  Introduction\n\n   Body one.\n\n1.1.  Scope\n\n   Body two.\n\nAPPENDIX\n\n   Body three.\n";
  const { chunks } = cut("text", encode(text));
  assert.deepEqual(chunks.map(({ heading }) => heading), [
    "Title",
    "1.  Introduction",
    "1.  Introduction > 1.1.  Scope",
    "APPENDIX",
  ]);
});

Deno.test("front matter gives a source its title and is no heading", () => {
  const { title, chunks } = cut(
    "markdown",
    encode("---\ntitle: Shown\ntags: [a]\n---\n# Other\n\nText.\n"),
  );
  assert.equal(title, "Shown");
  assert.deepEqual(chunks.map(({ startLine, heading }) => [startLine, heading]), [[1, ""], [
    5,
    "Other",
  ]]);
});

Deno.test("an empty source has no chunks, and the title that it was given", () => {
  for (const kind of KINDS) {
    assert.deepEqual(cut(kind, encode("")), { chunks: [], title: "given", lines: 0 });
    assert.deepEqual(cut(kind, encode("\n \n")).chunks, []);
  }
});
