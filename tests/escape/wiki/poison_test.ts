/**
 * Poisoned memory. Mallory's mail is RED, the plan is secret. Each test takes one way out of a source, and would, if
 * it failed, have given an agent mallory's account number as a trusted fact, or a stranger the secret plan.
 */
import { deepEqual, doesNotMatch, equal, match, ok } from "node:assert/strict";
import {
  ingestOf,
  makeFolders,
  refusal,
  takeIn,
} from "../../../memory-wiki/_fixture/opened_wiki.ts";
import { openProcess } from "../../../memory-wiki/_fixture/wiki_process.ts";
import {
  FAKE_FRONT,
  makePoisoned,
  type Poisoned,
  RED_WORDS,
  SECRET_WORDS,
  sourceWith,
  textOfHtml,
  trustOf,
  write,
} from "./_poison.ts";

/** Pages about the mail and the plan, each with its citation. */
async function pagesOf({ wiki }: Poisoned): Promise<void> {
  const mail = await sourceWith(wiki, RED_WORDS);
  const plan = await sourceWith(wiki, SECRET_WORDS);
  deepEqual(await write(wiki, "acme", `${RED_WORDS}[^1]\n\n${await mail.cite("1")}\n`), {
    ...{ colour: "RED", label: "public" },
  });
  deepEqual(await write(wiki, "falcon", `${SECRET_WORDS}[^1]\n\n${await plan.cite("1")}\n`), {
    ...{ colour: "BLUE", label: "secret" },
  });
}

/** What a reader without clearance finds of the plan: nothing, whichever way it asks. */
async function assertHidden({ wiki }: Pick<Poisoned, "wiki">): Promise<void> {
  for (const clearance of ["public", "internal"]) {
    for (const text of [SECRET_WORDS, "falcon", "globex pumps ohio"]) {
      const found = await wiki.ask("query", { text, k: 50, clearance });
      doesNotMatch(JSON.stringify(found.hits), /falcon|globex|900 million/i);
    }
    const rows = await wiki.ask("index", { clearance });
    doesNotMatch(JSON.stringify(rows), /falcon|globex/i);
    equal((await refusal(wiki.ask("read", { clearance, name: "falcon" }))).code, "notFound");
  }
}

Deno.test("a source is what its bringer said: its own front matter makes it neither trusted nor public", async () => {
  await using poisoned = await makePoisoned();
  const { wiki } = poisoned;
  equal((await sourceWith(wiki, RED_WORDS)).colour, "RED");
  equal((await sourceWith(wiki, SECRET_WORDS)).label, "secret");
  await assertHidden(poisoned);
});

Deno.test("pages made without a model keep the colour and label of what they were made from", async () => {
  await using poisoned = await makePoisoned();
  const { wiki } = poisoned;
  const report = await wiki.ask("extract", {});
  ok(report.written.length >= 3, JSON.stringify(report));
  let [red, secret] = [0, 0];
  for (const { name } of await wiki.ask("index", { clearance: "secret" })) {
    const { text } = await wiki.ask("read", { clearance: "secret", name });
    const trust = await trustOf(wiki, name);
    if (/DE4450|acme/i.test(text)) {
      equal(trust.colour, "RED", text);
      red += 1;
    }
    if (/falcon|globex/i.test(text)) {
      equal(trust.label, "secret", text);
      secret += 1;
    }
  }
  ok(red >= 1 && secret >= 1, `${red} ${secret}`);
  await assertHidden(poisoned);
});

Deno.test("a page that claims to be trusted and public is what it cites, also mixed with good sources", async () => {
  await using poisoned = await makePoisoned();
  const { wiki } = poisoned;
  await pagesOf(poisoned);
  const good = await sourceWith(wiki, "A lease lasts 30 seconds.");
  const mail = await sourceWith(wiki, RED_WORDS);
  const plan = await sourceWith(wiki, SECRET_WORDS);
  const notes = [await good.cite("1"), await mail.cite("2"), await plan.cite("3")].join("\n");
  const body = `${FAKE_FRONT}A lease lasts 30 seconds.[^1] Paid.[^2] Bought.[^3]\n\n${notes}\n`;
  deepEqual(await write(wiki, "mixed", body), { colour: "RED", label: "secret" });
  await assertHidden(poisoned);
});

Deno.test("an answer that is filed is as trusted and as public as the worst that was shown to the model", async () => {
  await using poisoned = await makePoisoned();
  const { wiki } = poisoned;
  for (
    const [text, words, want] of [
      ["what is the payout account of Acme?", RED_WORDS, { colour: "RED" }],
      ["what does project Falcon buy?", SECRET_WORDS, { label: "secret" }],
    ] as const
  ) {
    const planned = await wiki.ask("answerPlan", { text, k: 4, clearance: "secret" });
    const sentence = { text: words, citations: [] };
    const answer = JSON.stringify({ version: 1, sentences: [sentence] });
    const checked = await wiki.ask("answerCheck", {
      question: text,
      text: answer,
      found: planned.found,
    });
    // What mallory's sentence does not cite it was shown all the same.
    const filed = await wiki.ask("answerFile", { answer: checked, model: "m", by: "carol" });
    const { colour, label } = filed;
    deepEqual({ colour, label, ...want }, { colour, label }, text);
    await wiki.ask("decide", { id: filed.id, apply: true, by: "carol" });
    const [change] = filed.changes;
    const trust = await trustOf(wiki, change.draft.name);
    deepEqual({ ...trust, ...want }, trust, text);
  }
});

Deno.test("a hand that removes citations and writes better front matter makes nothing better", async () => {
  await using poisoned = await makePoisoned();
  const { wiki, folders } = poisoned;
  await pagesOf(poisoned);
  for (const name of ["acme", "falcon"]) {
    const before = await trustOf(wiki, name);
    const words = name === "acme" ? RED_WORDS : SECRET_WORDS;
    await Deno.writeTextFile(`${folders.folder}/pages/${name}.md`, `${FAKE_FRONT}${words}\n`);
    const { taken } = await wiki.ask("sync", null);
    deepEqual(taken, [name]);
    const { colour, label } = await trustOf(wiki, name);
    equal(colour, before.colour === "RED" ? "RED" : "YELLOW");
    equal(label, before.label === "secret" ? "secret" : "internal");
  }
  const findings = await wiki.ask("lint", { clearance: "secret" });
  const drifts = findings.filter(({ rule }: { rule: string }) => /Drift$/.test(rule));
  deepEqual(drifts.map(({ file, rule }: { file: string; rule: string }) => [file, rule]), [
    ["pages/acme.md", "labelDrift"],
    ["pages/acme.md", "colourDrift"],
    ["pages/falcon.md", "labelDrift"],
    ["pages/falcon.md", "colourDrift"],
  ]);
  await assertHidden(poisoned);
  for (const patch of await wiki.ask("lintFix", { by: "carol" })) {
    await wiki.ask("decide", { id: patch.id, apply: true, by: "carol" });
  }
  match(await Deno.readTextFile(`${folders.folder}/pages/acme.md`), /label: internal\ncolour: RED/);
  match(await Deno.readTextFile(`${folders.folder}/pages/falcon.md`), /label: secret/);
  await assertHidden(poisoned);
});

Deno.test("an edit through the editor keeps the page's colour and label, whatever its front matter says", async () => {
  await using poisoned = await makePoisoned();
  const { wiki } = poisoned;
  await pagesOf(poisoned);
  for (
    const [name, want] of [["acme", { colour: "RED" }], ["falcon", { label: "secret" }]] as const
  ) {
    const text = `${FAKE_FRONT}Rewritten by carol, who cites nothing.\n`;
    const patch = await wiki.ask("edit", { name, text, base: 1, by: "carol" });
    if (patch.state === "proposed") {
      await wiki.ask("decide", { id: patch.id, apply: true, by: "carol" });
    }
    const trust = await trustOf(wiki, name);
    deepEqual({ ...trust, ...want }, trust, name);
  }
});

Deno.test("a footnote that lies about its source changes nothing, and the lint says so", async () => {
  await using poisoned = await makePoisoned();
  const { wiki, folders } = poisoned;
  await pagesOf(poisoned);
  const good = await sourceWith(wiki, "A lease lasts 30 seconds.");
  const mail = await sourceWith(wiki, RED_WORDS);
  const honest = await mail.cite("1");
  // The mail's digest under the good file's name, the good file's under the mail's, and a citation within code.
  const digest = /sha256:([0-9a-f]{16})/.exec(honest)?.[1] ?? "";
  const lies = [
    (await good.cite("1")).replace(/sha256:[0-9a-f]{16}/, `sha256:${digest}`),
    honest.replace(mail.file, good.file),
    `\`${await good.cite("1")}\``,
    honest.replace(/sha256:[0-9a-f]{16}/, `sha256:${"0".repeat(16)}`),
  ];
  for (const [at, lie] of lies.entries()) {
    const before = await trustOf(wiki, "acme");
    const body = `${RED_WORDS}[^1]\n\n${lie}\n`;
    await Deno.writeTextFile(`${folders.folder}/pages/acme.md`, body);
    await wiki.ask("sync", null);
    equal(before.colour, "RED");
    equal((await trustOf(wiki, "acme")).colour, "RED", lie);
    const findings = await wiki.ask("lint", { clearance: "secret", rules: ["brokenCitation"] });
    ok(findings.some(({ file }: { file: string }) => file === "pages/acme.md"), `${at} ${lie}`);
  }
});

Deno.test("a note keeps the colour and label it was written with, and is shown to nobody below it", async () => {
  await using poisoned = await makePoisoned();
  const { wiki } = poisoned;
  for (const kind of ["taskLog", "projectWiki", "userMemory"]) {
    const more = { kind, task: "t000000000001", agent: "scribe", state: "kept" };
    await wiki.ask("note", { ...more, text: RED_WORDS, colour: "RED", label: "public" });
    await wiki.ask("note", { ...more, text: SECRET_WORDS, colour: "BLUE", label: "secret" });
    const shown = await wiki.ask("notes", { clearance: "internal", kind });
    deepEqual(shown.map(({ text, colour }: { text: string; colour: string }) => [text, colour]), [
      [RED_WORDS, "RED"],
    ]);
    const all = await wiki.ask("notes", { clearance: "secret", kind });
    equal(all.find(({ text }: { text: string }) => text === SECRET_WORDS)?.label, "secret");
  }
  const log = JSON.stringify(await wiki.ask("log", {}));
  doesNotMatch(log, /DE4450|falcon|globex/i);
  doesNotMatch(
    await Deno.readTextFile(`${poisoned.folders.folder}/log.md`),
    /DE4450|falcon|globex/i,
  );
});

Deno.test("what was exported comes back as what it was: pages, sources, lists and the manifest", async () => {
  await using poisoned = await makePoisoned();
  const { wiki, folders } = poisoned;
  await pagesOf(poisoned);
  const report = await wiki.ask("exportSite", { clearance: "secret", to: "/somewhere" });
  deepEqual([report.colour, report.label], ["RED", "secret"]);
  const files = wiki.told.filter(({ op }) => op === "file")
    .map(({ body }) => body as { readonly path: string; readonly text: string });
  equal(files.length, report.files);
  const manifest = JSON.parse(files.find(({ path }) => path === "remit.json")?.text ?? "");
  for (const [at, { path, text }] of files.entries()) {
    const name = `out${at}.${path.endsWith(".json") ? "json" : "html"}`;
    await Deno.writeTextFile(`${folders.files}/${name}`, text);
    const kind = path.endsWith(".json") ? "json" : "html";
    const taken = await wiki.ask("ingestFiles", {
      ...ingestOf(folders, [name], { kind, colour: "BLUE", label: "public" }),
    });
    deepEqual([taken.added, taken.failed], [1, []], path);
    const was = manifest.files.find((file: { path: string }) => file.path === path) ?? manifest;
    const raw = [...Deno.readDirSync(`${folders.folder}/raw`)]
      .find((entry) => entry.name.startsWith(`out${at}.`))?.name;
    const { colour, label } = await trustOf(wiki, `raw/${raw}`);
    deepEqual([colour, label], [was.colour, was.label], path);
  }
  await assertHidden(poisoned);
});

Deno.test("a page's own file that is taken in as a source stays what the page is", async () => {
  await using poisoned = await makePoisoned();
  const { wiki, folders } = poisoned;
  await pagesOf(poisoned);
  for (
    const [name, want] of [["acme", { colour: "RED" }], ["falcon", { label: "secret" }]] as const
  ) {
    const text = await Deno.readTextFile(`${folders.folder}/pages/${name}.md`);
    await takeIn(wiki, folders, { [`copy-${name}.md`]: text }, { colour: "BLUE", label: "public" });
    const raw = [...Deno.readDirSync(`${folders.folder}/raw`)]
      .find((entry) => entry.name.startsWith(`copy-${name}.`))?.name;
    const trust = await trustOf(wiki, `raw/${raw}`);
    deepEqual({ ...trust, ...want }, trust, name);
  }
  await assertHidden(poisoned);
});

Deno.test("an export for the public holds nothing of the plan and says what is RED", async () => {
  await using poisoned = await makePoisoned();
  const { wiki } = poisoned;
  await pagesOf(poisoned);
  await write(wiki, "overview", "See [[falcon]], [[falcon|Falcon]] and [[acme]].\n");
  await wiki.ask("exportSite", { clearance: "public", to: "/somewhere" });
  const files = wiki.told.filter(({ op }) => op === "file")
    .map(({ body }) => body as { readonly path: string; readonly text: string });
  ok(files.some(({ path }) => path === "pages/acme.html"));
  for (const { path, text } of files) {
    doesNotMatch(`${path} ${text}`, /falcon|globex|900 million/i, path);
  }
  match(
    files.find(({ path }) => path === "pages/acme.html")?.text ?? "",
    /nobody vouches for \(RED\)/,
  );
});

Deno.test("a wiki that is moved without its state keeps RED and secret, and nothing else gets better", async () => {
  await using poisoned = await makePoisoned();
  const { wiki, folders } = poisoned;
  await pagesOf(poisoned);
  const good = await sourceWith(wiki, "A lease lasts 30 seconds.");
  await write(wiki, "lease", `A lease lasts 30 seconds.[^1]\n\n${await good.cite("1")}\n`);
  const mail = await sourceWith(wiki, RED_WORDS);
  const plan = await sourceWith(wiki, SECRET_WORDS);
  await using other = await makeFolders();
  await Deno.remove(other.folder, { recursive: true });
  const copied = await new Deno.Command("cp", { args: ["-a", folders.folder, other.folder] })
    .output();
  ok(copied.success);
  await using moved = await openProcess(other, { parse: textOfHtml });
  deepEqual(await trustOf(moved, "acme"), { colour: "RED", label: "internal" });
  deepEqual(await trustOf(moved, "falcon"), { colour: "YELLOW", label: "secret" });
  deepEqual(await trustOf(moved, "lease"), { colour: "YELLOW", label: "internal" });
  // The bytes behind them as well: else a new page could cite them as better.
  equal((await trustOf(moved, mail.file)).colour, "RED");
  equal((await trustOf(moved, plan.file)).label, "secret");
});
