import { deepEqual, doesNotMatch, equal, match, ok } from "node:assert/strict";
import { HOSTILE } from "./_fixture/hostile.ts";
import { digestOf, makeTwin, NOW, type Twin } from "../lint/_fixture/twin.ts";
import { ExportManifest, exportSite, reportOf } from "./mod.ts";
import { processorTime } from "../../tests/fake/processor_time.ts";

type Clearance = "public" | "internal" | "secret";

function siteOf(wiki: Twin, clearance: Clearance = "secret"): ReadonlyMap<string, string> {
  const files = [...exportSite(wiki, { clearance, now: NOW })];
  const site = new Map(files.map(({ path, text }) => [path, text]));
  equal(site.size, files.length);
  return site;
}

/** What a reader of the page sees between `<main>` and `</main>`. */
function mainOf(site: ReadonlyMap<string, string>, path: string): string {
  const text = site.get(path) ?? "";
  return text.slice(text.indexOf("<main>"), text.indexOf("</main>"));
}

Deno.test("a page shows its links, its footnotes lead to the cited lines, and its backlinks back", () => {
  const wiki = makeTwin();
  const lease = wiki.source("lease.md", "# Leases\nA lease lasts 30 s.\nThen it ends.\n<b>");
  wiki.page(
    "lease",
    `# Lease\n\nA lease *lasts* 30 s.[^a] It is [[Kernel|held]] by the [[kernel]].\n\n${
      wiki.note("a", lease, 2, 3)
    }\n`,
    { title: "Lease" },
  );
  wiki.page("kernel", "It ends what has no [[lease]].", {
    title: "The Kernel",
    aliases: ["kernel"],
  });
  const site = siteOf(wiki);
  const main = mainOf(site, "pages/lease.html");
  match(main, /A lease <em>lasts<\/em> 30 s\.<sup id="ref-1-1"><a href="#fn-1">\[1\]<\/a><\/sup>/);
  match(
    main,
    /<a href="\.\.\/pages\/kernel\.html">held<\/a> by the <a href="[^"]*">The Kernel<\/a>/,
  );
  const source = `sources/${lease.text.slice(4)}.html`;
  ok(main.includes(`<a href="../${source}#L2-L3">lease.md, lines 2-3</a>`), main);
  match(main, /Linked from<\/h2><ul><li><a href="\.\.\/pages\/kernel\.html">The Kernel/);
  const lines = mainOf(site, source);
  match(lines, /<span id="L2" class="cited"><i id="L2-L3"><\/i><a href="#L2">2<\/a>A lease/);
  match(lines, /<span id="L3" class="cited"><a/);
  match(lines, /<span id="L4"><a href="#L4">4<\/a>&lt;b&gt;<\/span>/);
  match(lines, /Cited by<\/h2><ul><li><a href="\.\.\/pages\/lease\.html">Lease/);
  match(site.get("index.html") ?? "", /<h2>Concepts<\/h2>/);
});

Deno.test("the manifest names every file with digest, colour and label, and each is recorded", () => {
  const wiki = makeTwin();
  const red = wiki.source("web.md", "Anybody wrote this.", { colour: "RED", label: "public" });
  wiki.page("web", `So it is.[^1]\n\n${wiki.note("1", red, 1)}\n`, {
    colour: "RED",
    label: "secret",
  });
  const site = siteOf(wiki);
  const text = site.get("remit.json") ?? "";
  const manifest = ExportManifest.parse(JSON.parse(text));
  deepEqual(manifest.files.map(({ path }) => path), [...site.keys()].slice(0, -1));
  for (const { path, digest, colour, label } of manifest.files) {
    equal(digest, digestOf(site.get(path) ?? ""), path);
    deepEqual(wiki.sources.exported.get(digest), { colour, label }, path);
  }
  deepEqual(wiki.sources.exported.get(digestOf(text)), { colour: "RED", label: "secret" });
  deepEqual(manifest.files.map(({ path, colour, label }) => [path, colour, label]), [
    ["pages/web.html", "RED", "secret"],
    [`sources/${red.text.slice(4)}.html`, "RED", "public"],
    ["index.html", "RED", "secret"],
    ["sources.html", "RED", "public"],
  ]);
  deepEqual(reportOf(text), { files: 5, pages: 1, sources: 1, colour: "RED", label: "secret" });
});

Deno.test("what is above the clearance leaves no trace: the same bytes come out as if it were not there", () => {
  const make = (hidden: boolean): Twin => {
    const wiki = makeTwin();
    const plan = wiki.source("plan.md", "Falcon flies in May.\nNobody knows.", { label: "public" });
    if (hidden) {
      wiki.source("falcon-budget.md", "Falcon costs 5 M.", { label: "secret" });
      wiki.page("project-falcon", "It is [[plan]]ned.", {
        label: "secret",
        title: "Project Falcon",
      });
      wiki.page("moon", "[[plan]]", { label: "secret", aliases: ["Mission to the Moon"] });
    }
    const text =
      `See [[Project Falcon]], [[moon|Mission  to the moon]], [[moon|there]].[^1] Or [[gone]].`;
    wiki.page("plan", `${text}\n\n${wiki.note("1", plan, 1)}\n`, { label: "public" });
    return wiki;
  };
  const open = siteOf(make(true), "public");
  for (const [path, text] of open) {
    doesNotMatch(text, /project|budget|mission|moon/i, path);
  }
  match(
    mainOf(open, "pages/plan.html"),
    /See \(not in this export\), \(not in this export\), there\./,
  );
  const without = siteOf(make(false), "public");
  deepEqual([...open.keys()], [...without.keys()]);
  for (const [path, text] of open) {
    if (path !== "pages/plan.html" && path !== "remit.json" && path !== "index.html") {
      equal(text, without.get(path));
    }
  }
});

Deno.test("a redacted page's footnote to a source above the clearance tells neither its name nor its lines", () => {
  const wiki = makeTwin();
  const budget = wiki.source("falcon-budget.md", "Falcon costs 5 M.", { label: "secret" });
  const old = wiki.source("old.md", "It was so.", { label: "public", expiresAt: NOW });
  wiki.page(
    "costs",
    `It costs much.[^1] It was so.[^2]\n\n${wiki.note("1", budget, 1)}\n${
      wiki.note("2", old, 1)
    }\n`,
    { label: "public" },
  );
  const site = siteOf(wiki, "public");
  deepEqual([...site.keys()], [
    "pages/costs.html",
    "index.html",
    "sources.html",
    "remit.json",
  ]);
  for (const text of site.values()) {
    doesNotMatch(text, new RegExp(`falcon|${budget.digest.slice(0, 12)}|old\\.md`, "i"));
  }
  equal(mainOf(site, "pages/costs.html").split("A source that is not in this export.").length, 3);
});

/** What hostile texts would need in a file to do anything: none of it may stand outside of our own script. */
function assertInert(site: ReadonlyMap<string, string>): void {
  for (const [path, whole] of site) {
    if (!path.endsWith(".html")) continue;
    const scripts = [...whole.matchAll(/<script\b[^>]*>/g)].map(([tag]) => tag);
    const index = '<script type="application/json" id="remit-index">';
    deepEqual(scripts, path === "index.html" ? [index, "<script>"] : ["<script>"], path);
    equal(whole.match(/<style\b/g)?.length, 1, path);
    equal(
      whole.match(/<\/title>/g)?.length,
      1 + (whole.match(/<a [^>]*><title>/g)?.length ?? 0),
      path,
    );
    const text = whole.replace(/<script\b[\s\S]*?<\/script>/g, "").replace(
      /<style>[\s\S]*?<\/style>/,
      "",
    );
    doesNotMatch(
      text,
      /<(?:iframe|object|embed|img|image|link|base|form|video|audio|use|foreignObject|set|animate)\b/i,
      path,
    );
    doesNotMatch(
      text,
      /<[^>]*\s(?:on\w+|style|src|srcset|srcdoc|ping|action|xlink:href)\s*=/i,
      path,
    );
    for (const [, href = ""] of text.matchAll(/\shref="([^"]*)"/g)) {
      match(
        href,
        /^(?:https?:\/\/|mailto:|#|(?:\.\.\/)?(?:pages|sources)\/|(?:\.\.\/)?(?:index|sources)\.html$)/,
        `${path}: ${href}`,
      );
    }
    // Every attribute is quoted and every quote within is escaped.
    for (const [tag] of text.matchAll(/<[a-zA-Z/!][^>]*>/g)) {
      match(tag, /^<[/!]?[a-zA-Z][\w:-]*(?: [\w:-]+(?:="[^"<>]*")?)* ?\/?>$/, `${path}: ${tag}`);
    }
  }
}

Deno.test("no text of a page, a title, an alias, a source or its origin becomes markup", () => {
  const wiki = makeTwin();
  const all = HOSTILE.join("\n\n");
  const source = wiki.source("web.md", all, {
    colour: "RED",
    title: HOSTILE.join(" ").slice(0, 500),
  });
  for (const [index, text] of HOSTILE.entries()) {
    wiki.page(`p${index}`, `${text}[^x] [[q${index}]]`, {
      kind: "entity",
      title: `${text} ${index}`.slice(0, 200),
    });
    wiki.page(`q${index}`, `${text}\n\n${wiki.note("1", source, 1)}`, {
      aliases: [text.slice(0, 200)],
    });
  }
  wiki.page("all", `${all}\n\n[^1] [^x]\n\n${wiki.note("1", source, 1, 5)}`, { colour: "RED" });
  const site = siteOf(wiki);
  assertInert(site);
  const main = mainOf(site, "pages/all.html");
  match(main, /&lt;script&gt;document\.documentElement/);
  match(main, /⟨U\+202E⟩gnp\.exe⟨U\+0000⟩⟨U\+001B⟩\[2J/);
  const index = site.get("index.html") ?? "";
  const json = /id="remit-index">([\s\S]*?)<\/script>/.exec(index)?.[1] ?? "";
  equal(JSON.parse(json).length, HOSTILE.length * 2 + 1);
  doesNotMatch(json, /</);
});

Deno.test("the policy allows nothing but the site's own style and script, by their hashes", () => {
  const wiki = makeTwin();
  wiki.page("a", "x");
  const text = siteOf(wiki).get("index.html") ?? "";
  const policy = /Content-Security-Policy" content="([^"]*)"/.exec(text)?.[1] ?? "";
  match(
    policy,
    /^default-src &#39;none&#39;; style-src &#39;sha256-[\w+/=]{44}&#39;; script-src &#39;sha256-/,
  );
  ok(text.indexOf("Content-Security-Policy") < text.indexOf("<style"));
  doesNotMatch(policy, /unsafe|\*|http/);
});

Deno.test("nested lists, tables, quotes and code are closed where they end", () => {
  const wiki = makeTwin();
  wiki.page(
    "a",
    "- one\n  - two\n    1. three\n    2. four\n- five\n\ntext\n\n> quote\n> - item\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n3. x\n\n---\n",
  );
  const main = mainOf(siteOf(wiki), "pages/a.html").replaceAll("\n", "");
  ok(
    main.includes(
      '<ul><li>one<ul><li>two<ol start="1"><li>three</li><li>four</li></ol></li></ul></li><li>five</li></ul><p>text</p>',
    ),
    main,
  );
  ok(main.includes("<blockquote><p>quote</p><ul><li>item</li></ul></blockquote>"), main);
  ok(
    main.includes(
      '<tr><td>1</td><td>2</td></tr></tbody></table></div><ol start="3"><li>x</li></ol><hr>',
    ),
    main,
  );
});

Deno.test("names that differ only by case have paths that do not", () => {
  const wiki = makeTwin();
  for (const name of ["Ada", "ada", "ADA"]) wiki.page(name, "x");
  const paths = [...siteOf(wiki).keys()].filter((path) => path.startsWith("pages/"));
  equal(new Set(paths.map((path) => path.toLowerCase())).size, 3);
});

Deno.test("a huge table, a flood of marks and a source of long lines are rendered in linear time", () => {
  const time = (size: number): number => {
    const wiki = makeTwin();
    wiki.page("table", `| a |\n|---|\n${"| [[x]] *y* `z` |\n".repeat(size)}`);
    wiki.page(
      "flood",
      "*[_".repeat(size) + "](x)".repeat(size) + "[[".repeat(size) + "`".repeat(size),
    );
    wiki.page(
      "deep",
      `${"> ".repeat(500)}x\n${
        Array.from({ length: size / 100 }, (_, at) => `${" ".repeat(at % 90)}- y`).join("\n")
      }`,
    );
    wiki.source("long.md", `${"x".repeat(size)}\n`.repeat(20));
    const start = processorTime();
    const bytes = siteOf(wiki).get("sources/long.html")?.length ?? 0;
    ok(bytes < 200_000);
    return processorTime() - start;
  };
  time(1_000);
  const [few, many] = [time(2_000), time(16_000)];
  ok(many < Math.max(20 * few, 3_000), `${few} ms, ${many} ms`);
});
