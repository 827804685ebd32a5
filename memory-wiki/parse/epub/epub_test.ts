import assert from "node:assert/strict";
import { makeEpub } from "../_fixture/epub.ts";
import { documentOf, parts } from "../_fixture/parts.ts";
import { bomb, makeZip } from "../_fixture/zip.ts";
import { entryName, readEpub } from "./read_epub.ts";

const page = (body: string, head = ""): string =>
  `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head>${head}</head><body>${body}</body></html>`;

Deno.test("alice's book is read in the order of its spine, under its title", async () => {
  const book = makeEpub([page("<h1>One</h1><p>first</p>"), page("<h1>Two</h1><p>second</p>")]);
  const { text, title, notes } = await readEpub(documentOf(book), parts);
  assert.equal(text, "# A Book\n\nBy Alice\n\n# One\n\nfirst\n\n# Two\n\nsecond");
  assert.equal(title, "A Book");
  assert.deepEqual(notes, []);
});

Deno.test("scripts, pictures from elsewhere and hidden words are not in the text", async () => {
  const { text } = await readEpub(
    documentOf(makeEpub([page(
      '<p>seen<a id="x"/> words</p><img src="https://evil.example/beacon.png" alt="a map"/>' +
        "<script>obey()</script><p style='display:none'>obey</p>",
      '<title/><script src="x.js"/>',
    )])),
    parts,
  );
  assert.match(text, /seen words/);
  assert.match(text, /\[image: a map\]/);
  assert.doesNotMatch(text, /obey|evil/);
});

Deno.test("a chapter of 10 GB is read in part, and the book goes on behind it", async () => {
  const packed = bomb("<p>begins</p>", 10_240, "x");
  const book = makeEpub([{ content: "", packed }, page("<p>goes on</p>")]);
  const { text, notes } = await readEpub(documentOf(book), parts);
  assert.match(text, /begins/);
  assert.match(text, /goes on$/);
  assert.ok(text.length < 9_000_000, `${text.length} characters`);
  assert.deepEqual(notes, ["1 chapters are longer than is read."]);
});

Deno.test("a spine that names one chapter 20,000 times reads it once", async () => {
  const items = '<item id="i" href="c.xhtml" media-type="text/html"/>';
  const book = makeZip([
    { name: "META-INF/container.xml", content: '<c><rootfile full-path="b.opf"/></c>' },
    {
      name: "b.opf",
      content: `<p><manifest>${items}</manifest><spine>${
        '<itemref idref="i"/>'.repeat(20_000)
      }</spine></p>`,
    },
    { name: "c.xhtml", content: "<p>once</p>" },
  ]);
  assert.equal((await readEpub(documentOf(book), parts)).text, "once");
});

Deno.test("a reference names an entry of the archive or nothing", () => {
  assert.equal(entryName("../c%201.xhtml#p", "OEBPS/text/b.opf"), "OEBPS/c 1.xhtml");
  assert.equal(entryName("./c.xhtml", "b.opf"), "c.xhtml");
  for (
    const href of [
      ...["../../etc/passwd", "%2e%2e/%2e%2e/x", "/etc/passwd", "file:///etc/passwd"],
      ...["https://evil.example/c.xhtml", "", "#top"],
    ]
  ) {
    assert.equal(entryName(href, "OEBPS/b.opf"), undefined, href);
  }
});

Deno.test("a book that is encrypted, or is none, is said to be so", async () => {
  const encrypted = makeEpub([page("x")], [{
    name: "META-INF/encryption.xml",
    content: '<e><EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#aes128-cbc"/></e>',
  }]);
  await assert.rejects(async () => await readEpub(documentOf(encrypted), parts), {
    code: "invalidInput",
    message: /it is encrypted/,
  });
  await assert.rejects(
    async () => await readEpub(documentOf(makeZip([{ name: "a", content: "x" }])), parts),
    { code: "invalidInput", message: /it is no EPUB/ },
  );
  await assert.rejects(async () => await readEpub(documentOf(makeEpub([])), parts), {
    code: "invalidInput",
    message: /list of chapters is missing/,
  });
});

Deno.test("what a book's style sheet hides is left out, and marks of notes are no digits of a number", async () => {
  const book = makeEpub([page(
    '<p>In 1998<a epub:type="noteref" href="#n">2</a> it held 10<sup>4</sup> ants.</p>' +
      "<p class='x'>obey</p><p class='y'>obey</p>",
    '<link rel="stylesheet" type="text/css" href="s/b.css"/>',
  )], [{ name: "OEBPS/s/b.css", content: ".x { display: none } .y { color: #fefefe }" }]);
  const { text, notes } = await readEpub(documentOf(book), parts);
  assert.match(text, /In 1998 \(note 2\) it held 10\^4 ants\.$/);
  assert.match(notes.join(), /2 hidden elements with 8 characters/);
});
