import assert from "node:assert/strict";
import { item, mainPartOf, makeDocx, paragraph, relation, run } from "../_fixture/docx.ts";
import { documentOf, parts } from "../_fixture/parts.ts";
import { makeZip } from "../_fixture/zip.ts";
import { readDocx } from "./read_docx.ts";

const style = (id: string): string => `<w:pStyle w:val="${id}"/>`;
const cell = (text: string, properties = ""): string =>
  `<w:tc><w:tcPr>${properties}</w:tcPr>${paragraph(run(text))}</w:tc>`;

async function read(body: string, more: Parameters<typeof makeDocx>[1] = {}) {
  return await readDocx(documentOf(makeDocx({ content: mainPartOf(body) }, more)), parts);
}

Deno.test("alice's headings, lists, tables, links and notes are Markdown", async () => {
  const link = `<w:hyperlink r:id="rId9">${run("the rules")}</w:hyperlink>`;
  const reference = '<w:r><w:footnoteReference w:id="2"/></w:r>';
  const { text, title, notes } = await read(
    [
      paragraph(run("Leases"), style("H1")),
      paragraph(run("Held by one owner, see ") + link + reference),
      paragraph(run("Inner"), style("Mine")),
      item("bread", 1, 0) + item("rye", 1, 1) + item("first", 2, 0) + item("second", 2, 0),
      `<w:tbl><w:tr>${cell("who")}${cell("what|why")}</w:tr>`,
      `<w:tr>${cell("wide", '<w:gridSpan w:val="2"/>')}</w:tr></w:tbl>`,
      paragraph("<w:r><w:t>one</w:t><w:br/><w:t>two</w:t></w:r>"),
    ].join(""),
    { relations: relation("rId9", "hyperlink", "https://example.org/r", true) },
  );
  assert.equal(
    text,
    `# Leases

Held by one owner, see [the rules](https://example.org/r) (note 1)

## Inner

- bread
  - rye
1. first
2. second

| who | what\\|why |
| --- | --- |
| wide |  |

one
two

## Notes

Note 1: Said so.`,
  );
  assert.equal(title, "Leases");
  assert.deepEqual(notes, []);
});

Deno.test("text that Word does not show, has deleted or keeps twice is left out, and said", async () => {
  const { text, notes } = await read([
    paragraph(
      run("seen ") + run("obey me", "<w:vanish/>") + run("also seen", '<w:vanish w:val="0"/>'),
    ),
    paragraph("<w:del><w:r><w:delText>deleted</w:delText></w:r></w:del>" + run("kept")),
    paragraph("<w:r><w:instrText>HYPERLINK javascript:x</w:instrText></w:r>" + run("field")),
    `<mc:AlternateContent><mc:Choice>${paragraph(run("once"))}</mc:Choice><mc:Fallback>${
      paragraph(run("twice"))
    }</mc:Fallback></mc:AlternateContent>`,
  ].join(""));
  assert.equal(text, "seen also seen\n\nkept\n\nfield\n\nonce");
  assert.deepEqual(notes, ["7 characters of hidden text were left out."]);
});

Deno.test("white, tiny and covered letters are left out, and what stands on a dark ground is not", async () => {
  const dark = '<w:shd w:val="clear" w:fill="202020"/>';
  const white = '<w:color w:val="FFFFFF"/>';
  const { text, notes } = await read(
    [
      paragraph(run("seen ") + run("obey", white) + run("on black", white + dark)),
      paragraph(run("obey", '<w:sz w:val="2"/>') + run("small", '<w:sz w:val="14"/>')),
      paragraph(
        run("pale ", '<w:color w:val="FEFEFE"/>') + run("in a dark paragraph", white),
        dark,
      ),
      `<w:tbl><w:tr>${cell("head")}<w:tc><w:tcPr>${dark}</w:tcPr>${
        paragraph(run("in a dark cell", white))
      }</w:tc></w:tr></w:tbl>`,
      paragraph(run("obey", '<w:rStyle w:val="Ghost"/>')),
      paragraph(run("obey"), '<w:pStyle w:val="Gone"/>'),
    ].join(""),
    {
      styles: '<w:style w:type="character" w:styleId="Ghost"><w:rPr><w:vanish/></w:rPr></w:style>' +
        `<w:style w:type="paragraph" w:styleId="Gone"><w:rPr>${white}</w:rPr></w:style>`,
    },
  );
  assert.equal(
    text,
    "seen on black\n\nsmall\n\npale in a dark paragraph\n\n| head | in a dark cell |\n| --- | --- |",
  );
  assert.deepEqual(notes, ["16 characters of hidden text were left out."]);
});

Deno.test("no number changes: exponents, indexes, formulas and signs of other fonts", async () => {
  const above = (text: string) => run(text, '<w:vertAlign w:val="superscript"/>');
  const math = (inner: string) => `<m:oMath>${inner}</m:oMath>`;
  const part = (name: string, text: string) =>
    `<m:${name}><m:r><m:t>${text}</m:t></m:r></m:${name}>`;
  const { text } = await read([
    paragraph(
      run("10") + above("-") + above("6") + run(" of H") +
        run("2", '<w:vertAlign w:val="subscript"/>') + run("O, the 3") + above("rd"),
    ),
    paragraph(run("half is ") + math(`<m:f>${part("num", "1")}${part("den", "2+n")}</m:f>`)),
    paragraph(
      math(`<m:sSup>${part("e", "x")}${part("sup", "2")}</m:sSup>`) + run(" and ") +
        math(`<m:rad>${part("deg", "")}${part("e", "2")}</m:rad>`),
    ),
    paragraph(run("4") + '<w:r><w:sym w:font="Symbol" w:char="F0B4"/></w:r>' + run("5")),
  ].join(""));
  assert.equal(text, "10^-6 of H_2O, the 3rd\n\nhalf is 1/(2+n)\n\nx^2 and sqrt(2)\n\n4\ufffd5");
});

Deno.test("mallory's references out of the file are not followed, and only web addresses are links", async () => {
  const { text, notes } = await read(
    paragraph(
      ["a", "b", "c"].map((id) => `<w:hyperlink r:id="${id}">${run(`[${id}]`)}</w:hyperlink>`).join(
        "",
      ),
    ),
    {
      relations: [
        relation("a", "hyperlink", "javascript:alert(1)", true),
        relation("b", "hyperlink", "file:///etc/passwd", true),
        relation("c", "hyperlink", "https://example.org/) [x](https://evil.example", true),
        relation("d", "attachedTemplate", "https://evil.example/t.dotm", true),
        relation("e", "image", "https://evil.example/i.png", true),
      ].join(""),
      parts: [{ name: "word/vbaProject.bin", content: "x" }],
    },
  );
  assert.equal(text, "[a][b][c]");
  assert.deepEqual(notes, [
    "2 parts that lie outside of the file were not fetched.",
    "Macros and embedded files were not read.",
  ]);
});

Deno.test("entities of mallory's own mean nothing: no bomb goes off", async () => {
  const lines = Array.from(
    { length: 30 },
    (_, at) => `<!ENTITY e${at + 1} "${`&e${at};`.repeat(20)}">`,
  );
  const bomb = `<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e0 "boom">${lines.join("")}
    <!ENTITY file SYSTEM "file:///etc/passwd">]>${
    mainPartOf(paragraph(run("start &e30; &file; &amp; end"))).slice(21)
  }`;
  const { text } = await readDocx(documentOf(makeDocx({ content: bomb })), parts);
  assert.ok(text.includes("start"), text);
  assert.ok(text.length < 1_000, `${text.length} characters`);
  assert.ok(!text.includes("root:"));
});

Deno.test("100,000 paragraphs, tables and runs in each other end in time, with a note", async () => {
  for (const nest of ["w:p", "w:tbl><w:tr><w:tc", "w:r", "w:sdt"]) {
    const body = paragraph(run("before")) + `<${nest}>`.repeat(100_000);
    const { text, notes } = await read(body);
    assert.ok(text.includes("before"), nest);
    assert.match(notes.join(), /deeper/, nest);
  }
});

Deno.test("what is no Word document is said to be none", async () => {
  for (const bytes of ["", "PK", "not a zip", makeZip([{ name: "a.txt", content: "x" }])]) {
    await assert.rejects(
      async () => await readDocx(documentOf(bytes), parts),
      { code: "invalidInput", message: /^Cannot read "mallory": it (?:is no zip|holds no Word)/ },
    );
  }
});
