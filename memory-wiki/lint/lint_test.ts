import { deepEqual, equal, match, ok } from "node:assert/strict";
import type { Finding, LintRule } from "../../contracts/memory/mod.ts";
import { makeTwin, NOW, type Twin } from "./_fixture/twin.ts";
import { lintWiki } from "./mod.ts";

const TEXT = [
  "# Leases",
  "A lease lasts 30 seconds and is renewed by its owner.",
  "The kernel ends what has no lease.",
  "Nobody renews another's lease.",
].join("\n");

async function told(
  wiki: Twin,
  rule: LintRule,
  more: { clearance?: "public" | "internal" | "secret"; now?: number } = {},
): Promise<readonly Finding[]> {
  return await lintWiki(wiki, { clearance: "secret", now: NOW, rules: [rule], ...more });
}

const places = (findings: readonly Finding[]): readonly string[] =>
  findings.map(({ file, line }) => `${file}:${line ?? ""}`);

/** A page with a body of which line 1 is line 12 of the file. */
const FRONT = 11;

Deno.test("a wiki in which all is well has no finding of any rule", async () => {
  const wiki = makeTwin();
  const lease = wiki.source("lease.md", TEXT);
  wiki.page(
    "lease",
    `A lease lasts 30 seconds.[^1] See [[kernel]].\n\n${wiki.note("1", lease, 2)}\n`,
  );
  wiki.page(
    "kernel",
    `The kernel ends what has no [[lease]].[^1]\n\n${wiki.note("1", lease, 3)}\n`,
  );
  deepEqual(await lintWiki(wiki, { clearance: "secret", now: NOW }), []);
});

Deno.test("a claim without a citation is told, a quote, a question and a list of links are not", async () => {
  const wiki = makeTwin();
  const lease = wiki.source("lease.md", TEXT);
  wiki.page(
    "lease",
    [
      "# Lease",
      "",
      "A lease lasts 30 seconds.[^1]",
      "",
      "Leases are always fun to have.",
      "",
      "> Somebody said that leases are fun.",
      "",
      "Who owns a lease?",
      "",
      "- [[kernel]]",
      "- See [[kernel]], [[lease]].",
      "",
      "These are the kinds of leases:",
      "",
      "- A read lease is for reading things.",
      "",
      wiki.note("1", lease, 2),
    ].join("\n"),
  );
  const findings = await told(wiki, "missingCitation");
  deepEqual(places(findings), [`pages/lease.md:${FRONT + 5}`, `pages/lease.md:${FRONT + 16}`]);
  match(findings[0]?.remedy ?? "", /remit wiki edit lease/);
  equal(findings[0]?.severity, "warning");
});

Deno.test("a footnote that names no source, no such lines, or is not defined, is an error", async () => {
  const wiki = makeTwin();
  const lease = wiki.source("lease.md", TEXT);
  const good = wiki.note("4", lease, 2);
  wiki.page(
    "lease",
    [
      "One thing is so.[^1] Another thing is so.[^2] A third thing is so.[^3] All of it.[^4]",
      "",
      wiki.note("1", lease, 4).replaceAll("4", "9").replace(/L9\)/, "L9)"),
      wiki.note("2", lease, 2, 44),
      good,
    ].join("\n"),
  );
  const findings = await told(wiki, "brokenCitation");
  equal(findings.length, 3);
  ok(findings.every(({ severity }) => severity === "error"));
  match(findings.map(({ message }) => message).join("\n"), /has 4 lines, and line 44 is cited/);
  match(findings.map(({ message }) => message).join("\n"), /"3" cites nothing: it is not defined/);
});

Deno.test("a changed source is told: words that moved can be moved after, words that are gone cannot", async () => {
  const wiki = makeTwin();
  const lease = wiki.source("lease.md", TEXT);
  wiki.page(
    "lease",
    [
      "A lease lasts 30 seconds.[^1] Nobody renews another's.[^2] The kernel ends.[^3]",
      "",
      wiki.note("1", lease, 2),
      wiki.note("2", lease, 4),
      wiki.note("3", lease, 3),
    ].join("\n"),
  );
  const newer = wiki.source(
    "lease.md",
    [
      "# Leases",
      "A new first line.",
      "A lease lasts 30 seconds",
      "and is renewed by its owner.",
      "Nobody renews another's lease.",
    ].join("\n"),
  );
  const findings = await told(wiki, "changedSource");
  deepEqual(findings.map(({ line, fixable, other }) => [line, fixable, other]), [
    [FRONT + 3, true, { file: newer.text, line: 3 }],
    [FRONT + 4, true, { file: newer.text, line: 5 }],
    [FRONT + 5, false, { file: newer.text }],
  ]);
  match(findings[0]?.message ?? "", /the same words stand on lines 3-4 of version 2/);
  const stale = await told(wiki, "stalePage");
  deepEqual(places(stale), ["pages/lease.md:1"]);
});

Deno.test("a removed source is told at each citation of it", async () => {
  const wiki = makeTwin();
  const lease = wiki.source("lease.md", TEXT);
  wiki.page("lease", `A lease lasts 30 seconds.[^1]\n\n${wiki.note("1", lease, 2)}\n`);
  wiki.gone("lease.md");
  const [finding] = await told(wiki, "changedSource");
  match(finding?.message ?? "", /removed: \/docs\/lease\.md/);
  match(finding?.remedy ?? "", /remit wiki ingest \/docs\/lease\.md/);
});

Deno.test("how a source above the clearance fares is not told through a page that was redacted", async () => {
  const wiki = makeTwin();
  const plan = wiki.source("plan.md", TEXT, { label: "secret", colour: "RED", expiresAt: 1 });
  wiki.page("lease", `A lease lasts 30 seconds.[^1]\n\n${wiki.note("1", plan, 2, 44)}\n`, {
    label: "public",
  });
  wiki.source("plan.md", "Nothing of that.", { label: "secret" });
  wiki.alter(plan);
  const open = await lintWiki(wiki, { clearance: "secret", now: NOW });
  ok(open.length >= 4, JSON.stringify(open));
  const findings = await lintWiki(wiki, { clearance: "public", now: NOW });
  deepEqual(findings.map(({ rule }) => rule), ["untrustedClaim"]);
});

Deno.test("raw bytes that are not what was ingested are an error at the file", async () => {
  const wiki = makeTwin();
  const lease = wiki.source("lease.md", TEXT);
  wiki.source("other.md", TEXT);
  wiki.alter(lease);
  const findings = await told(wiki, "alteredSource");
  deepEqual(places(findings), [`${lease.raw}:`]);
  equal(findings[0]?.severity, "error");
});

Deno.test("a page that nobody compared with its sources for 180 days is stale", async () => {
  const wiki = makeTwin();
  wiki.page("lease", "", { freshAt: NOW - 181 * 86_400_000 });
  wiki.page("kernel", "", { freshAt: NOW - 179 * 86_400_000 });
  const findings = await told(wiki, "stalePage");
  deepEqual(places(findings), ["pages/lease.md:1"]);
  match(findings[0]?.message ?? "", /for 181 days/);
});

Deno.test("a page that only itself links to is an orphan, a summary is not", async () => {
  const wiki = makeTwin();
  wiki.page("lease", "It is like [[lease]].");
  wiki.page("kernel", "It holds [[The gate]].");
  wiki.page("gate", "It is in the [[kernel|heart]].", { title: "The Gate" });
  const lease = wiki.source("lease.md", TEXT);
  wiki.page("report", `The kernel ends it.[^1]\n\n${wiki.note("1", lease, 3)}\n`, {
    kind: "summary",
  });
  deepEqual(places(await told(wiki, "orphanPage")), ["pages/lease.md:1"]);
});

Deno.test("a broken link is told, with the one name that is nearly it", async () => {
  const wiki = makeTwin();
  wiki.page("lease-renewal", "");
  wiki.page("phase-2", "");
  wiki.page(
    "notes",
    "[[lease-renewl]] [[Lease Renewal]] [[phase-3]] [[gate]] [[lease renewals#x|y]]",
  );
  const findings = await told(wiki, "brokenLink");
  deepEqual(
    findings.map(({ message, fixable }) => [/"([^"]*)"/.exec(message)?.[1], fixable]).sort(),
    [["gate", false], ["lease renewals", true], ["lease-renewl", true], ["phase-3", false]],
  );
});

Deno.test("a page above the clearance is as if it were not there", async () => {
  const wiki = makeTwin();
  wiki.page("falcon", "The falcon lasts 30 seconds.", { label: "secret" });
  wiki.page("notes", "See [[falcon]] and [[falconn]]. A falcon lasts 60 seconds.", {
    label: "public",
  });
  wiki.page("other", "See [[notes]].", { label: "public" });
  const findings = await lintWiki(wiki, { clearance: "public", now: NOW });
  const links = findings.filter(({ rule }) => rule === "brokenLink");
  equal(links.length, 2);
  ok(links.every(({ message, other }) => message.endsWith(".") && other === undefined));
  const missing = makeTwin();
  missing.page("notes", "See [[falcon]] and [[falconn]]. A falcon lasts 60 seconds.", {
    label: "public",
  });
  missing.page("other", "See [[notes]].", { label: "public" });
  deepEqual(findings, await lintWiki(missing, { clearance: "public", now: NOW }));
});

Deno.test("two pages of one title, one alias or nearly one text are duplicates", async () => {
  const wiki = makeTwin();
  const words = Array.from({ length: 90 }, (_, at) => `word${at * 7919 % 1000}`);
  wiki.page("access", words.join(" "), { title: "Access control" });
  wiki.page("access-2", words.toSpliced(40, 1).join(" "), { title: "Who may do what" });
  wiki.page("acl", "Short.", { title: "ACL", aliases: ["access-control"] });
  wiki.page("gate", words.toReversed().join(" "), { title: "Gate" });
  const findings = await told(wiki, "duplicatePage");
  deepEqual(findings.map(({ file, other, fixable }) => [file, other?.file, fixable]), [
    ["pages/access-2.md", "pages/access.md", false],
    ["pages/acl.md", "pages/access.md", true],
  ]);
  match(findings[0]?.message ?? "", /is 9\d % the same text/);
});

Deno.test("a claim that its own citation contradicts is told, also by the newer version", async () => {
  const wiki = makeTwin();
  const lease = wiki.source("lease.md", TEXT);
  wiki.page(
    "lease",
    `A lease lasts 45 seconds and is renewed by its owner.[^1]\n\n${wiki.note("1", lease, 2)}\n`,
  );
  const first = await told(wiki, "contradiction");
  equal(first.length, 1);
  match(first[0]?.message ?? "", /another number than what it cites/);

  const other = makeTwin();
  const old = other.source("lease.md", TEXT);
  other.page(
    "lease",
    `A lease lasts 30 seconds and is renewed by its owner.[^1]\n\n${other.note("1", old, 2)}\n`,
  );
  const newer = other.source("lease.md", TEXT.replace("30", "20"));
  const second = await told(other, "contradiction");
  deepEqual(second.map((one) => one.other), [{ file: newer.text, line: 2 }]);
  match(second[0]?.message ?? "", /newer version .* "A lease lasts 20 seconds/);
});

Deno.test("a claim whose sources are all RED is told, one trusted source is enough", async () => {
  const wiki = makeTwin();
  const red = wiki.source("web.md", TEXT, { colour: "RED" });
  const good = wiki.source("lease.md", `${TEXT}\n`);
  wiki.page(
    "lease",
    [
      "A lease is red.[^1]",
      "",
      "A lease is both.[^1][^2]",
      "",
      "A lease is bare.",
      "",
      wiki.note("1", red, 2),
      wiki.note("2", good, 2),
    ].join("\n"),
  );
  deepEqual(places(await told(wiki, "untrustedClaim")), [`pages/lease.md:${FRONT + 1}`]);
});

Deno.test("front matter that shows better than the store is an error at its line", async () => {
  const wiki = makeTwin();
  const front = (label: string, colour: string): string =>
    `---\nkind: concept\ntitle: "x"\nlabel: ${label}\ncolour: ${colour}\n---\n\n`;
  wiki.page("fake", "", { front: front("public", "BLUE"), label: "secret", colour: "RED" });
  wiki.page("odd", "", { front: front("cosmic", "RED"), label: "internal", colour: "RED" });
  wiki.page("marked", "", { front: front("secret", "RED"), label: "public", colour: "BLUE" });
  wiki.page("bare", "No front matter.", { front: "" });
  const labels = await told(wiki, "labelDrift");
  deepEqual(places(labels), ["pages/fake.md:4", "pages/odd.md:4"]);
  match(labels[0]?.message ?? "", /shows the label "public"; the store has secret/);
  const colours = await told(wiki, "colourDrift");
  deepEqual(places(colours), ["pages/fake.md:5"]);
  ok([...labels, ...colours].every(({ severity, fixable }) => severity === "error" && fixable));
});

Deno.test("a page of 401 lines is too long, one of 400 is not", async () => {
  const wiki = makeTwin();
  const lines = (count: number): string => "x\n".repeat(count - FRONT - 1);
  wiki.page("long", lines(401));
  wiki.page("enough", lines(400));
  wiki.page("wide", "x".repeat(41 * 1024));
  deepEqual(places(await told(wiki, "longPage")), ["pages/long.md:400", "pages/wide.md:12"]);
});

Deno.test("front matter that does not parse is an error, a file that was not taken in as well", async () => {
  const wiki = makeTwin();
  wiki.page("bad", "", { front: "---\nkind: concept\nkind: entity\n---\n" });
  wiki.page("secret", "", { label: "secret" });
  const problems = [
    { file: "pages/new.md", why: "it is longer than 1 MiB" },
    { file: "pages/secret.md", why: "it is a link" },
  ];
  const options = { now: NOW, rules: ["frontMatter"] as const, problems };
  const findings = await lintWiki(wiki, { ...options, clearance: "internal" });
  deepEqual(places(findings), ["pages/bad.md:1", "pages/new.md:1"]);
  equal((await lintWiki(wiki, { ...options, clearance: "secret" })).length, 3);
});

Deno.test("a file that was changed or removed past the store is told, and a hand's version until it is reviewed", async () => {
  const wiki = makeTwin();
  wiki.page("changed", "As the store has it.", { onDisk: "as a hand has it" });
  wiki.page("removed", "As the store has it.", { onDisk: undefined });
  wiki.page("hand", "", { author: "hand", version: 3 });
  wiki.page("read", "", { author: "hand", reviewed: { by: "carol", at: NOW } });
  const findings = await told(wiki, "handEdit");
  deepEqual(places(findings), ["pages/changed.md:1", "pages/hand.md:1", "pages/removed.md:1"]);
  match(findings[1]?.remedy ?? "", /remit wiki review hand/);
});

Deno.test("a cited source whose time is over is told once a page", async () => {
  const wiki = makeTwin();
  const news = wiki.source("news.md", TEXT, { expiresAt: NOW });
  const fresh = wiki.source("fresh.md", `${TEXT}.`, { expiresAt: NOW + 1 });
  wiki.page(
    "lease",
    `One.[^1] Two.[^2] Three.[^3]\n\n${wiki.note("1", news, 2)}\n${wiki.note("2", news, 3)}\n${
      wiki.note("3", fresh, 3)
    }\n`,
  );
  const findings = await told(wiki, "expiredSource");
  deepEqual(places(findings), [`pages/lease.md:${FRONT + 3}`]);
  match(findings[0]?.message ?? "", /expired on 2026-06-01/);
});

Deno.test("a record that does not hold is an error", async () => {
  const wiki = makeTwin();
  wiki.breakLog("line 4 does not follow line 3.");
  const [finding] = await told(wiki, "logAltered");
  deepEqual([finding?.file, finding?.severity], ["log.md", "error"]);
});

Deno.test("findings come in the same order whatever the order in which pages were made", async () => {
  const make = (names: readonly string[]): Twin => {
    const wiki = makeTwin();
    for (const name of names) {
      wiki.page(name, `A thing of ${name} is so. [[nowhere]]`, { freshAt: 0 });
    }
    return wiki;
  };
  const one = await lintWiki(make(["b", "a", "c"]), { clearance: "secret", now: NOW });
  deepEqual(one, await lintWiki(make(["c", "b", "a"]), { clearance: "secret", now: NOW }));
  ok(one.length >= 12);
});

const RULES = [
  "# Store rules",
  "No crate may leave the store unsigned.",
  "A visitor must never open the cold room; the porter keeps its key for 9 days.",
  "The contract with the [carrier](https://carrier.example) ends on 2026-03-01.",
  "Crates are weighed, sealed and listed.",
].join("\n");

Deno.test("a quote that its cited lines do not say is told, and one that is cut openly is not", async () => {
  const wiki = makeTwin();
  const rules = wiki.source("rules.md", RULES);
  const wrong = (body: string, from: number, to = from) => {
    wiki.page("store", `${body}[^1]\n\n${wiki.note("1", rules, from, to)}\n`);
    return told(wiki, "misquote");
  };
  for (
    const [body, line] of [
      ["> Crates are weighed and listed.", 5],
      ["> Crates are weighed, sealed and listed.", 2],
      ["> crate may leave the store unsigned.", 2],
      ['The rules say that "a visitor must open the cold room".', 3],
    ] as const
  ) {
    const findings = await wrong(body, line);
    deepEqual(places(findings), [`pages/store.md:${FRONT + 1}`], body);
    equal(findings[0]?.severity, "error");
  }
  for (
    const [body, from, to] of [
      ["> Crates are weighed, **sealed** and listed.", 5, 5],
      ["> Crates are weighed … and listed.", 5, 5],
      ["> The contract with the carrier ends on 2026-03-01.", 4, 4],
      ["> No crate may leave the store unsigned. A visitor must never open the cold room;", 2, 3],
      ['The porter "keeps its key for 9 days".', 3, 3],
      ['The "cold room" is cold.', 3, 3],
    ] as const
  ) deepEqual(await wrong(body, from, to), [], body);
});

Deno.test("a claim that drops its source's negation, permits what is forbidden or names another day is told", async () => {
  const wiki = makeTwin();
  const rules = wiki.source("rules.md", RULES);
  const clashes = async (body: string, line: number) => {
    wiki.page("store", `${body}[^1]\n\n${wiki.note("1", rules, line)}\n`);
    return (await told(wiki, "contradiction")).map(({ message }) => message);
  };
  match((await clashes("Crate may leave the store unsigned.", 2)).join(), /says the opposite/);
  match((await clashes("A visitor may open the cold room.", 3)).join(), /says the opposite/);
  match((await clashes("A visitor can open the cold room.", 3)).join(), /says the opposite/);
  match(
    (await clashes("The contract with the carrier ends on 5.3.2026.", 4)).join(),
    /says another date/,
  );
  for (
    const [same, line] of [
      ["A visitor must never open the cold room.", 3],
      ["A visitor must not open the cold room.", 3],
      ["The contract with the carrier ends on 1 March 2026.", 4],
      ["No crate may leave unsigned.", 2],
    ] as const
  ) deepEqual(await clashes(same, line), [], same);
});

Deno.test("a kind that is none, a short page written twice and a summary of nothing are told", async () => {
  const wiki = makeTwin();
  wiki.page("odd", "Odd things are here.\n", { front: "---\nkind: konzept\ntitle: Odd\n---\n" });
  match(
    (await told(wiki, "frontMatter")).map(({ message }) => message).join(),
    /"konzept" is none: /,
  );
  wiki.page("one", "# One\n\nThe porter keeps the key.\n");
  wiki.page("two", "# Two\n\nThe porter keeps the key.\n");
  deepEqual(places(await told(wiki, "duplicatePage")), ["pages/two.md:1"]);
  wiki.page("digest", "Nothing is cited here. See [[one]] and [[two]] and [[odd]].\n", {
    kind: "summary",
  });
  deepEqual(places(await told(wiki, "orphanPage")), ["pages/digest.md:1"]);
});
