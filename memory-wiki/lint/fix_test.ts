import { deepEqual, equal, match, ok } from "node:assert/strict";
import type { PageChange, PagePatch } from "../../contracts/memory/mod.ts";
import { PatchName } from "../../contracts/memory/mod.ts";
import { makeRig, sourceFrom, writePages, writing } from "../store/_fixture/wiki_rig.ts";
import { makeTwin, NOW, type Twin } from "./_fixture/twin.ts";
import { fixFindings, lintWiki } from "./mod.ts";

async function fixed(wiki: Twin) {
  return fixFindings(wiki, await lintWiki(wiki, { clearance: "secret", now: NOW }));
}

const bodyOf = (change: PageChange | undefined): string =>
  change?.kind === "write" ? change.draft.body : "";

Deno.test("a link with one near name is corrected on its line, and nothing else of the page changes", async () => {
  const wiki = makeTwin();
  wiki.page("lease-renewal", "x");
  wiki.page(
    "notes",
    "`[[lease-renewl]]`\nSee [[lease-renewl#how|that]], [[gate]] and [[lease-renewl]].\n",
  );
  const [fix, ...others] = await fixed(wiki);
  equal(others.length, 0);
  match(
    bodyOf(fix?.changes[0]),
    /^`.*`\nSee \[\[lease-renewal#how\|that\]\], \[\[gate\]\] and \[\[lease-renewal\]\]\.\n$/,
  );
  match(fix?.reason ?? "", /Lint of a page: 2 links corrected\./);
});

Deno.test("a page never comes to name one that is more confidential than itself", async () => {
  const wiki = makeTwin();
  wiki.page("falcon-plan", "x", { label: "secret" });
  wiki.page("notes", "See [[falcon-plam]].", { label: "public" });
  deepEqual(await fixed(wiki), []);
  const findings = await lintWiki(wiki, { clearance: "secret", now: NOW, rules: ["brokenLink"] });
  deepEqual(fixFindings(wiki, findings.map((one) => ({ ...one, fixable: true }))), []);
});

Deno.test("citations move to where their words stand now, unless the page would be trusted less", async () => {
  const wiki = makeTwin();
  const text = "# Leases\nA lease lasts 30 seconds.\nIt ends.\n";
  const lease = wiki.source("lease.md", text);
  const web = wiki.source("web.md", `${text}!`);
  wiki.page(
    "lease",
    `It lasts.[^1] It ends.[^2]\n\n${wiki.note("1", lease, 2)}\n${wiki.note("2", lease, 3)}\n`,
  );
  wiki.page("web", `It lasts.[^1]\n\n${wiki.note("1", web, 2)}\n`);
  const newer = wiki.source("lease.md", `New.\n${text.replace("It ends", "It goes on")}`);
  wiki.source("web.md", `New.\n${text}`, { colour: "RED" });
  const fixes = await fixed(wiki);
  equal(fixes.length, 1);
  equal(
    bodyOf(fixes[0]?.changes[0]),
    `It lasts.[^1] It ends.[^2]\n\n${wiki.note("1", newer, 3)}\n${wiki.note("2", lease, 3)}\n`,
  );
});

Deno.test("pages of one trust share a patch, others do not, and an open patch is not proposed again", async () => {
  const wiki = makeTwin();
  const front = '---\nkind: concept\ntitle: "x"\nlabel: public\ncolour: BLUE\n---\n\n';
  for (const name of ["a", "b"]) wiki.page(name, "x", { front, colour: "RED", label: "internal" });
  wiki.page("c", "x", { front, colour: "RED", label: "secret" });
  const fixes = await fixed(wiki);
  deepEqual(fixes.map(({ changes, colour, label }) => [changes.length, colour, label]), [
    [2, "RED", "internal"],
    [1, "RED", "secret"],
  ]);
  match(fixes[0]?.reason ?? "", /Lint of 2 pages: 2 front matters written anew\./);
  for (const [at, fix] of fixes.entries()) {
    const patch: PagePatch = {
      id: PatchName.parse(`w00000000000${at}`),
      author: "operator",
      state: "proposed",
      createdAt: NOW,
      ...fix,
    };
    wiki.propose(patch);
  }
  deepEqual(await fixed(wiki), []);
});

Deno.test("contradictions, missing citations and stale pages are never mended", async () => {
  const wiki = makeTwin();
  const rules = wiki.source("rules.md", "A lease lasts 60 seconds.\n");
  wiki.page("lease", `A lease lasts 30 seconds.[^1]\n\n${wiki.note("1", rules, 1)}\n`, {
    freshAt: 0,
  });
  wiki.page("other", "A lease is renewed by its owner. [[nowhere]]");
  const findings = await lintWiki(wiki, { clearance: "secret", now: NOW });
  ok(findings.length >= 5);
  deepEqual(fixFindings(wiki, findings.map((one) => ({ ...one, fixable: true }))), []);
});

Deno.test("in the true store: carol edits front matter by hand, the lint finds it, its patch mends it", async () => {
  using rig = makeRig();
  const { store } = await rig.open();
  const web = await store.sources.add(
    sourceFrom("file:/web.md", "A lease lasts 30 s.\nIt ends.\n", {
      colour: "RED",
      label: "secret",
    }),
  );
  const note = `[^1]: [web](../${web.text}#L1) line 1 of sha256:${web.digest.slice(0, 16)}`;
  await writePages(store, [
    writing("lease", `A lease lasts 30 s.[^1] See [[leese]].\n\n${note}\n`),
  ]);
  const path = `${rig.folder}/pages/lease.md`;
  const before = await Deno.readTextFile(path);
  await Deno.writeTextFile(
    path,
    before.replace("label: secret", "label: public").replace("colour: RED", "colour: BLUE"),
  );
  await store.pages.sync();
  const options = { clearance: "secret", now: Date.now() } as const;
  const rules = (findings: Awaited<ReturnType<typeof lintWiki>>): readonly string[] =>
    findings.map(({ rule }) => rule).sort();
  const found = await lintWiki(store, options);
  deepEqual(rules(found), [
    "brokenLink",
    "colourDrift",
    "handEdit",
    "labelDrift",
    "untrustedClaim",
  ]);
  const [fix] = fixFindings(store, found);
  ok(fix !== undefined);
  deepEqual([fix.colour, fix.label], ["RED", "secret"]);
  const patch = store.patches.propose({ author: "lint", ...fix, changes: [...fix.changes] });
  deepEqual(fixFindings(store, found), []);
  equal((await store.patches.apply(patch.id, "carol")).state, "applied");
  match(await Deno.readTextFile(path), /label: secret\ncolour: RED/);
  deepEqual(rules(await lintWiki(store, options)), ["brokenLink", "untrustedClaim"]);
  store.close();
});
