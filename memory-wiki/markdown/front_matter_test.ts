import fc from "fast-check";
import assert from "node:assert/strict";
import { parse } from "yaml";
import { Page } from "../../contracts/memory/mod.ts";
import { readFront, splitFile, writePage } from "./front_matter.ts";
import { readPage } from "./read_page.ts";

const read = (text: string) => readFront(splitFile(text).front);

Deno.test("carol's front matter from another editor is read, her own keys are left alone", () => {
  const front = read(
    "---\n# mine\ntitle: Access control # ours\naliases: [ACL, \"a, b\", 'it''s']\ntags:\n  - x\n  - y\n" +
      "cssclasses: wide\nnested:\n  deep:\n    - 1\nversion: 7\nkind: 'concept'\n---\nbody",
  );
  assert.deepEqual(front, {
    title: "Access control",
    aliases: ["ACL", "a, b", "it's"],
    version: 7,
    kind: "concept",
    others: ["tags:", "  - x", "  - y", "cssclasses: wide", "nested:", "  deep:", "    - 1"],
    problems: [],
  });
});

Deno.test("aliases may be a block list, one text, or nothing", () => {
  assert.deepEqual(read('---\naliases:\n- a\n  - "b"\n---\n').aliases, ["a", "b"]);
  assert.deepEqual(read("---\naliases: one\n---\n").aliases, ["one"]);
  assert.deepEqual(read("---\naliases:\n---\n").aliases, []);
});

Deno.test("what is not flat is a problem and never a value: anchors, tags, nesting, doubled keys", () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ["title: *x", /"title" is no short text/],
    ["title: &a b", /"title" is no short text/],
    ["title: !!js/function x", /"title" is no short text/],
    ["title: |\n  long", /"title" is no short text/],
    ["title:\n  a: b", /"title" is no short text/],
    [`title: ${"x".repeat(300)}`, /"title" is no short text/],
    ['title: "unterminated', /"title" is no short text/],
    ["label: public\nlabel: secret", /"label" stands twice/],
    ["version: 1e9", /"version" is no number/],
    ["version: -1", /"version" is no number/],
    ["aliases: {a: b}", /"aliases" is no list/],
    ["aliases: [[a]]", /"aliases" is no list/],
    ["aliases:\n  - a\n  b", /"aliases" is no list/],
    [`aliases: [${"a,".repeat(100)}b]`, /"aliases" holds too much/],
    ["just words", /no `key: value`/],
  ];
  for (const [lines, problem] of cases) {
    assert.match(read(`---\n${lines}\n---\n`).problems.join(), problem, lines);
  }
  assert.equal(read("---\nlabel: public\nlabel: secret\n---\n").label, "public");
});

Deno.test("a key called like a member of every object is a key like any other", () => {
  const front = read("---\n__proto__: x\nconstructor: y\ntoString: z\n---\n");
  const others = ["__proto__: x", "constructor: y", "toString: z"];
  assert.deepEqual(front, { aliases: [], others, problems: [] });
});

Deno.test("front matter without an end, or not at the very start, is body", () => {
  assert.equal(splitFile("---\ntitle: x\n").front, undefined);
  assert.equal(splitFile("\n---\ntitle: x\n---\n").front, undefined);
  assert.equal(splitFile("----\ntitle: x\n----\n").front, undefined);
  assert.equal(splitFile("---\ntitle: x\n").body, "---\ntitle: x\n");
});

Deno.test("a byte order mark and line ends of Windows are read past", () => {
  const { front, body, bodyLine } = splitFile("\ufeff---\r\ntitle: x\r\n---\r\n\r\nbody\r\n");
  assert.deepEqual(front, ["title: x"]);
  assert.equal(body, "body\r\n");
  assert.equal(bodyLine, 5);
});

Deno.test("a front matter of more than 64 KiB is told and not read", () => {
  const front = read(`---\ntitle: x\n${"a: b\n".repeat(20_000)}---\n`);
  assert.equal(front.title, undefined);
  assert.match(front.problems.join(), /longer than 65536/);
});

Deno.test("carol's own keys are kept line by line, in their order, and ours are not among them", () => {
  const own = [
    "tags:",
    "  - tea",
    '  - "green tea"',
    "cssclasses: [wide]",
    "due: 2026-01-01 # soon",
  ];
  const { others, problems } = readFront(["title: Tea", ...own, "updated: x", "reviewed: y"]);
  assert.deepEqual([others, problems], [own, []]);
  const many = Array.from({ length: 1_000 }, (_, n) => `key${n}: ${"x".repeat(20)}`);
  const kept = readFront(many).others;
  assert.ok(kept.length > 200 && kept.length < 400);
  assert.deepEqual(kept, many.slice(0, kept.length));
});

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
