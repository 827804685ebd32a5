import assert from "node:assert/strict";
import fc from "fast-check";
import { parse } from "yaml";
import { Page } from "../../contracts/mod.ts";
import { splitFile } from "./front_matter.ts";
import { readPage } from "./read_page.ts";
import { writePage } from "./write_page.ts";

const text = fc.string({ unit: "binary", minLength: 1, maxLength: 60 });
const pages: fc.Arbitrary<Page> = fc.record({
  title: text,
  aliases: fc.array(text, { maxLength: 5 }),
  kind: fc.constantFrom("summary", "entity", "concept", "comparison", "synthesis"),
  label: fc.constantFrom("public", "internal", "secret"),
  colour: fc.constantFrom("BLUE", "YELLOW", "RED"),
  confidence: fc.constantFrom("extracted", "low", "medium", "high"),
  version: fc.integer({ min: 1, max: 99_999 }),
  reviewed: fc.option(fc.record({ by: text, at: fc.nat() }), { nil: undefined }),
}).map(({ reviewed, ...shown }) =>
  Page.parse({
    ...shown,
    ...(reviewed === undefined ? {} : { reviewed }),
    name: "lease",
    digest: "0".repeat(64),
    bytes: 1,
    lines: 1,
    sources: [],
    author: "operator",
    freshAt: 1,
    createdAt: 1,
    updatedAt: 1_795_337_000_000,
  })
);
const lines = [
  "---",
  "# x",
  "a: b",
  "[^1]: y",
  "",
  "\r",
  "```",
  "text",
  "\ufeff",
  "...",
  "title: z",
];
const bodies = fc.oneof(
  fc.string({ unit: "binary", maxLength: 200 }),
  fc.array(fc.constantFrom(...lines), { maxLength: 12 }).map((list) => list.join("\n")),
);

Deno.test("a page that is written is read back: shown fields and body, to the last byte", () => {
  fc.assert(
    fc.property(pages, bodies, (page, body) => {
      const read = readPage(writePage(page, body));
      const { kind, title, label, colour, confidence, version, aliases } = page;
      const shown = {
        kind,
        title,
        label,
        colour,
        confidence,
        version,
        aliases,
        problems: [],
        others: [],
      };
      assert.deepEqual({ ...read.front }, shown);
      assert.equal(read.body, body);
    }),
    { numRuns: 500 },
  );
});

Deno.test("no title or reviewer breaks out of the front matter, for any reader of YAML", () => {
  fc.assert(
    fc.property(pages, (page) => {
      const { front } = splitFile(writePage(page, "body\n"));
      const read: unknown = parse((front ?? []).join("\n"), { schema: "failsafe" });
      assert.ok(typeof read === "object" && read !== null && "title" in read && "label" in read);
      assert.equal(read.title, page.title);
      assert.equal(read.label, page.label);
    }),
    { numRuns: 300 },
  );
  const page = { ...fc.sample(pages, 1)[0], title: '"\n---\nlabel: public\n---\n' };
  const file = writePage(Page.parse({ ...page, label: "secret" }), "body\n");
  assert.equal(readPage(file).front.label, "secret");
  assert.equal(file.split("\n").filter((line) => line === "---").length, 2);
});

Deno.test("the body's first line is told where it stands in the file", () => {
  const [page] = fc.sample(pages, 1);
  assert.ok(page !== undefined);
  const file = writePage(page, "# First\n");
  const { bodyLine, headings } = readPage(file);
  assert.equal(file.split("\n")[bodyLine - 1], "# First");
  assert.equal(headings[0]?.line, bodyLine);
});

Deno.test("keys that mallory hides among those of other programs show nothing and end nothing", () => {
  fc.assert(fc.property(
    pages,
    fc.array(fc.oneof(
      text,
      fc.constantFrom(
        ...[
          "---",
          "--- ",
          "label: public",
          '"colour": BLUE',
          "version: 9",
          "tags: [a]",
          "  - x",
          "- label: x",
        ],
        ...[
          "tags: x\nlabel: public",
          "x: y\r---",
          "reviewed: carol",
          "aliases: [gate]",
          "'title': Gate",
        ],
      ),
    )),
    (page, others) => {
      const whole = writePage(page, "# Body\n", others);
      const plain = readPage(writePage(page, "# Body\n"));
      const { front, body } = readPage(whole);
      assert.deepEqual([{ ...front, others: [] }, body], [
        { ...plain.front, others: [] },
        plain.body,
      ]);
      assert.equal(writePage(page, "# Body\n", front.others), whole);
    },
  ));
});
