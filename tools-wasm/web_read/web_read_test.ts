import assert from "node:assert/strict";
import fc from "fast-check";
import type { WebAnswer } from "../sdk/mod.ts";
import { tools, type WebHost } from "./tool.ts";
import { webText } from "../../text/web_text.ts";
import { resolveLink } from "./resolve_link.ts";
import { processorTime } from "../../tests/fake/processor_time.ts";

const URL_OF_PAGE = "https://example.org/docs/guide/page.html?x=1";

function host(answer: Partial<WebAnswer>): WebHost {
  const whole = {
    status: 200,
    url: URL_OF_PAGE,
    headers: { "content-type": "text/html" },
    cut: false,
    ...answer,
  };
  return { http: { fetch: () => Promise.resolve(whole) } };
}

const read = (
  html: string,
  more: { readonly from?: number; readonly limit?: number; readonly whole?: boolean } = {},
) => tools.web_read({ url: URL_OF_PAGE, ...more }, host({ text: html }));

const TABLE: readonly (readonly [what: string, html: string, markdown: string])[] = [
  ["headings and paragraphs", "<h1>A</h1><p>b<p>c<h3>d</h3>", "# A\n\nb\n\nc\n\n### d"],
  ["emphasis and code", "<p>a <b>b </b>c <i>d</i> <code>e`f</code>", "a **b** c *d* ``e`f``"],
  [
    "links, made absolute",
    '<a href="../a?q#f">x</a> <a href="//h.org/p">y</a>',
    "[x](https://example.org/docs/a?q#f) [y](https://h.org/p)",
  ],
  [
    "a link that would break out of Markdown",
    '<a href="/a) [b](c">x](y</a>',
    "[x\\](y](https://example.org/a%29%20%5Bb%5D%28c)",
  ],
  ["nested lists", "<ul><li>a<ul><li>b</ul><li>c</ul>", "- a\n  - b\n- c"],
  ["numbered lists", "<ol start=3><li>a<li>b</ol>", "3. a\n4. b"],
  [
    "a table",
    "<table><tr><th>a<th>b<tr><td>1|2<td>3</table>",
    "| a | b |\n| --- | --- |\n| 1\\|2 | 3 |",
  ],
  ["a table for the layout", "<table><tr><td><h2>a</h2><p>b</table>", "## a\n\nb"],
  ["preformatted text with a fence in it", "<pre>a\n```\n  b</pre>", "````\na\n```\n  b\n````"],
  ["quotes", "<blockquote><p>a<p>b</blockquote>", "> a\n>\n> b"],
  [
    "images",
    '<img alt="a [b]" src="/i.png"><img src="/no_alt.png">',
    "![a \\[b\\]](https://example.org/i.png)",
  ],
  [
    "text that looks like Markdown",
    "<p># a<p>- b<p>1. c<p>*d* [e](f)",
    "\\# a\n\n\\- b\n\n1\\. c\n\n\\*d\\* \\[e\\](f)",
  ],
  ["entities", "<p>&lt;b&gt; &amp;amp; &eacute; &#x1F600;", "\\<b> &amp; é 😀"],
  ["a link around blocks", "<a href=/x><h3>A</h3><p>b</p></a>", "[A b](https://example.org/x)"],
  [
    "the main part",
    `<nav>n</nav><main><p>${"m ".repeat(200)}</main><footer>f</footer>`,
    "m ".repeat(200).trim(),
  ],
  [
    "a page without a marked main part",
    "<nav>n</nav><div>m</div><aside>a</aside><footer>f</footer>",
    "m",
  ],
  [
    "scripts, styles and forms",
    "<p>a<script>b</script><style>c</style><noscript>d</noscript><input value=e>",
    "a",
  ],
];

for (const [what, html, markdown] of TABLE) {
  Deno.test(`alice reads a page with ${what} as Markdown`, async () => {
    assert.equal((await read(html)).markdown, markdown);
  });
}

const HIDING: readonly string[] = [
  "<p hidden>EVIL</p>",
  "<p aria-hidden='true'>EVIL</p>",
  "<p style='display:none'>EVIL</p>",
  "<p style='DISPLAY : none !important'>EVIL</p>",
  "<p style='dis/**/play:none'>EVIL</p>",
  "<p style='visibility: hidden'>EVIL</p>",
  "<p style='d\\69splay:none'>EVIL</p>",
  "<p style='display:none!important;display:block'>EVIL</p>",
  "<p style='left:-400px'>EVIL</p>",
  "<p style='clip:rect(0,9px,9px,0)'>EVIL</p>",
  "<p style='filter:opacity(0)'>EVIL</p>",
  `<p style='font-size:9px;${"a:b;".repeat(300)}font-size:1px'>EVIL</p>`,
  `<p style='opacity:${" ".repeat(400)}0'>EVIL</p>`,
  "<p style='color:hotpink;background:hotpink'>EVIL</p>",
  "<p style='color:transparent'>EVIL</p>",
  "<p style='opacity:0'>EVIL</p>",
  "<p style='font-size:0px'>EVIL</p>",
  "<p style='position:absolute;left:-9999px'>EVIL</p>",
  "<p style='text-indent:-5000em'>EVIL</p>",
  "<p style='width:0;height:0;overflow:hidden'>EVIL</p>",
  "<p style='color:#fff;background-color:#fff'>EVIL</p>",
  "<p style='clip-path:inset(100%)'>EVIL</p>",
  "<style>.x, .y { display: none }</style><p class='b y'>EVIL</p>",
  "<style>#z{visibility:hidden}</style><p id=z>EVIL</p>",
  "<!-- EVIL -->",
  "<template><p>EVIL</p></template>",
  "<svg><text>EVIL</text></svg>",
  "<p hidden><b>a</b><p>b</p></p><div hidden><div>c</div>EVIL</div>",
];

for (const html of HIDING) {
  Deno.test(`mallory's text is not shown when it is hidden by ${html.slice(0, 60)}`, async () => {
    const { markdown, hidden } = await read(`<p>good</p>${html}<p>also good</p>`);
    assert.ok(!markdown.includes("EVIL") && markdown.includes("also good"), markdown);
    if (!/svg|template/.test(html)) assert.ok(hidden.elements + hidden.comments > 0);
  });
}

Deno.test("what a person sees at a screen is shown although print hides it", async () => {
  const { markdown } = await read(
    "<style>@media print { .p { display: none } } .q{color:red}</style><p class='p q'>shown</p>",
  );
  assert.equal(markdown, "shown");
});

Deno.test("characters without a shape are taken out and counted", async () => {
  const { markdown, hidden } = await read("<p>a\u200bb\u202ec\u{e0041}\u{e0042}d\ufeff");
  assert.deepEqual([markdown, hidden.invisible], ["abcd", 7]);
});

for (
  const href of [
    "javascript:alert(1)",
    "JaVa\nScript:x",
    "\u0001javascript:x",
    "data:text/html,x",
    "vbscript:x",
    "file:///etc/passwd",
    `/${"x".repeat(3000)}`,
  ]
) {
  Deno.test(`a link to ${JSON.stringify(href.slice(0, 24))} is dropped, its text kept, and counted`, async () => {
    const { markdown, hidden } = await read(`<a href="${href.replace("\n", "&#10;")}">text</a>`);
    assert.deepEqual([markdown, hidden.links], ["text", 1]);
  });
}

Deno.test("relative links resolve as the platform's own URL does", () => {
  const segment = fc.constantFrom("a", "b", "..", ".", "", "c.html");
  const link = fc.tuple(
    fc.constantFrom("", "/", "//h.org/", "https://o.org/"),
    fc.array(segment, { minLength: 1, maxLength: 4 }),
    fc.constantFrom("", "?q=1", "#f"),
  )
    .map(([head, path, tail]) => head + path.join("/") + tail)
    .filter((text) =>
      text !== "" && !text.startsWith("#") && !/^\/\/(?!h)/.test(text) &&
      !/^(https:\/\/o\.org|\/\/h\.org)/.test(text)
    );
  fc.assert(fc.property(link, (written) => {
    const found = resolveLink(written, URL_OF_PAGE);
    assert.equal(found.kind === "address" && found.url, new URL(written, URL_OF_PAGE).href);
  }));
});

Deno.test("a long page comes in parts that join to the whole", async () => {
  const html = "<p>Some words, and a line 😀.</p>".repeat(200);
  const whole = (await read(html, { limit: 60_000 })).markdown;
  let joined = "";
  for (let from: number | undefined = 0; from !== undefined;) {
    const part: Awaited<ReturnType<typeof read>> = await read(html, { from, limit: 333 });
    joined += part.markdown;
    from = part.next;
  }
  assert.equal(joined, whole);
});

Deno.test("text and JSON pass as they are, and other types are refused with a hint", async () => {
  const as = (type: string, text: string) =>
    tools.web_read({ url: URL_OF_PAGE }, host({ headers: { "content-type": type }, text }));
  assert.equal((await as("text/markdown", "# a <b>")).markdown, "# a <b>");
  assert.equal((await as("application/ld+json; charset=utf-8", '{"a":1}')).markdown, '{"a":1}');
  await assert.rejects(as("application/pdf", "x"), /application\/pdf.*http_fetch/);
  await assert.rejects(as("image/svg", "x"), { code: "refused" });
});

Deno.test("a redirect that was not followed is told with its address", async () => {
  const answer = host({
    status: 302,
    stopped: { location: "https://other.org/", why: "another origin" },
  });
  await assert.rejects(
    tools.web_read({ url: URL_OF_PAGE }, answer),
    /leads to "https:\/\/other\.org\/".*another origin/,
  );
});

Deno.test("bytes are decoded by header, by meta, by byte order mark, and the unknown is said", async () => {
  const binary = (bytes: readonly number[]) => String.fromCharCode(...bytes);
  const base64 = (bytes: readonly number[]) => btoa(binary(bytes));
  const read = (bytes: readonly number[], type: string) => webText(binary(bytes), type).text;
  assert.equal(read([0xe9, 0x80], "text/html; charset=ISO-8859-1"), "é€");
  assert.equal(read([0xe9, 0xa4, 0xa5], "text/html; charset=ISO-8859-15"), "é€¥");
  assert.equal(read([0xc3, 0xa9, 0xff, 0x41], "text/html"), "é\ufffdA");
  assert.equal(read([0xff, 0xfe, 0xe9, 0x00], ""), "é");
  const meta = [...'<meta charset="windows-1252">'].map((char) => char.charCodeAt(0));
  assert.ok(read([...meta, 0x93], "text/html").endsWith("“"));
  const page = await tools.web_read(
    { url: URL_OF_PAGE },
    host({
      headers: { "content-type": "text/html; charset=koi8-r" },
      base64: base64([0x41, 0xc1]),
    }),
  );
  assert.match(page.notes?.[0] ?? "", /koi8-r is not known/);
});

const BOMBS: readonly (readonly [what: string, html: string])[] = [
  ["100,000 elements in each other", "<div>".repeat(100_000) + "x" + "</div>".repeat(100_000)],
  ["100,000 open emphases and wrong ends", "<b>".repeat(100_000) + "x" + "</i>".repeat(100_000)],
  ["50,000 lists in each other", "<ul><li>".repeat(50_000) + "x"],
  ["30,000 tables in each other", "<table><tr><td>".repeat(30_000) + "x"],
  [
    "100,000 hidden elements and wrong ends",
    "x<div hidden>".repeat(100_000) + "</b>".repeat(100_000),
  ],
  ["a million entities", "x&amp;".repeat(200_000)],
  ["300,000 attributes", `<p ${"a=b ".repeat(300_000)}>x`],
  ["a style of open comments", `<p style='${"/*".repeat(500_000)}'>y</p>x`],
  ["a sheet of open comments", `<style>${"/*".repeat(250_000)}</style>x`],
  [
    "a million blanks and underscores",
    `<p>x ${"_".repeat(1_000_000)}x<pre>${" ".repeat(1_000_000)}x</pre>`,
  ],
  ["a million open angles", `x${"<".repeat(1_000_000)}`],
  ["comments that do not end", `x${"<!--".repeat(300_000)}`],
  ["ten megabytes of text", "<p>x and some words\n</p>".repeat(430_000)],
];

for (const [what, html] of BOMBS) {
  Deno.test(`mallory's page of ${what} is read in seconds`, async () => {
    const started = processorTime();
    const { markdown } = await read(html);
    assert.ok(markdown.includes("x"));
    assert.ok(processorTime() - started < 60_000);
  });
}

Deno.test("whatever mallory writes, it is read, and nothing unseen or live comes out", async () => {
  const part = fc.constantFrom(
    "<p>",
    "</p>",
    "<a href='javascript:x'>",
    "</a>",
    "<table>",
    "<td>",
    "<li>",
    "<ul>",
    "</ul>",
    "<script>",
    "</script>",
    "<!--",
    "-->",
    "text ",
    "<div hidden>",
    "</div>",
    "<",
    "&",
    "'",
    '"',
    "<svg>",
    "<title>",
    "<pre>",
    "<b>",
    "<img src=data:x alt=i>",
  );
  await fc.assert(
    fc.asyncProperty(fc.array(part, { maxLength: 40 }), async (parts) => {
      const { markdown } = await read(parts.join(""), { whole: true });
      assert.ok(
        !/javascript:|data:|<script|<div|<svg/.test(markdown.replaceAll("\\<", "")),
        markdown,
      );
    }),
    { numRuns: 500 },
  );
});
