import assert from "node:assert/strict";
import type { Hit } from "../contracts/memory/mod.ts";
import {
  type AskedWiki,
  ingestOf,
  makeFolders,
  openFolders,
  takeIn,
} from "./_fixture/opened_wiki.ts";

const RED =
  "# Leases on the web\n\nA lease is a thing that mallory describes at length and in her own words.\n";

interface Trust {
  readonly colour: string;
  readonly label: string;
}

const trust = ({ colour, label }: Trust): Trust => ({ colour, label });
const POISON = { colour: "RED", label: "secret" } as const;

async function hits(wiki: AskedWiki, text: string): Promise<readonly Hit[]> {
  return (await wiki.ask("query", { text, k: 20, clearance: "secret" })).hits;
}

Deno.test("a RED and secret source stays so as it is found, read, cited, and in the pages that rules make of it", async () => {
  await using folders = await makeFolders();
  const wiki = await openFolders(folders);
  await takeIn(wiki, folders, { "web.md": RED }, POISON);
  await wiki.ask("extract", null);
  const found = await hits(wiki, "what is a lease on the web?");
  assert.ok(found.length > 0);
  for (const hit of found) assert.deepEqual(trust(hit), POISON, hit.file);
  const [{ file }] = found.filter(({ kind }) => kind === "source") as [Hit];
  assert.deepEqual(trust(await wiki.ask("read", { clearance: "secret", name: file })), POISON);
  const cite = { clearance: "secret", file, startLine: 3, endLine: 3 };
  assert.deepEqual(trust(await wiki.ask("cite", cite)), POISON);
  const rows: (Trust & { name: string })[] = await wiki.ask("index", { clearance: "secret" });
  assert.ok(rows.length > 0);
  for (const row of rows) {
    assert.deepEqual(trust(row), POISON, row.name);
    assert.deepEqual(
      trust(await wiki.ask("read", { clearance: "secret", name: row.name })),
      POISON,
    );
  }
});

Deno.test("asked for again with better colour and label, known bytes keep what was recorded, under any name", async () => {
  await using folders = await makeFolders();
  const wiki = await openFolders(folders);
  await takeIn(wiki, folders, { "web.md": RED }, POISON);
  await takeIn(wiki, folders, { "web.md": RED, "copy.md": RED }, {
    colour: "BLUE",
    label: "public",
  });
  for (const hit of await hits(wiki, "lease")) assert.deepEqual(trust(hit), POISON, hit.origin);
  // Worse ones are taken at once.
  await takeIn(wiki, folders, { "own.md": "# Own\n\nA lease of our own.\n" }, {
    colour: "BLUE",
    label: "public",
  });
  await takeIn(wiki, folders, { "own.md": "# Own\n\nA lease of our own.\n" }, POISON);
  const own = (await hits(wiki, "lease of our own")).filter(({ origin }) =>
    origin.endsWith("own.md")
  );
  assert.deepEqual(own.map(trust), [POISON]);
});

Deno.test("exported and taken in again, what came of a RED and secret source is RED and secret", async () => {
  await using folders = await makeFolders();
  const wiki = await openFolders(folders);
  await takeIn(wiki, folders, { "web.md": RED }, POISON);
  await wiki.ask("extract", null);
  const report = await wiki.ask("exportSite", { clearance: "secret", to: "/somewhere" });
  assert.deepEqual(trust(report), POISON);
  const files = wiki.told.filter(({ op }) => op === "file").map(({ body }) =>
    // TRUST: our own process.
    body as unknown as { readonly path: string; readonly text: string }
  );
  const page = files.find(({ path, text }) =>
    path.endsWith(".html") && text.includes("mallory describes")
  );
  assert.ok(page !== undefined, files.map(({ path }) => path).join());
  await Deno.writeTextFile(`${folders.files}/again.txt`, page.text);
  const ask = ingestOf(folders, ["again.txt"], { kind: "text", colour: "BLUE", label: "public" });
  assert.equal((await wiki.ask("ingestFiles", ask)).added, 1);
  const again = (await hits(wiki, "mallory describes")).filter(({ origin }) =>
    origin.endsWith("again.txt")
  );
  assert.ok(again.length > 0);
  for (const hit of again) assert.deepEqual(trust(hit), POISON);
  // For a lower clearance nothing of it is written at all.
  const before = wiki.told.length;
  await wiki.ask("exportSite", { clearance: "public", to: "/elsewhere" });
  assert.doesNotMatch(JSON.stringify(wiki.told.slice(before)), /mallory/);
});

Deno.test("a task that has read RED and secret lines writes RED and secret notes and pages, whatever it cites", async () => {
  await using folders = await makeFolders();
  const wiki = await openFolders(folders);
  await takeIn(wiki, folders, { "own.md": "# Own\n\nA lease of our own.\n" }, {
    colour: "BLUE",
    label: "public",
  });
  const [own] = (await hits(wiki, "lease")) as [Hit];
  const cite = await wiki.ask("cite", {
    clearance: "public",
    file: own.file,
    startLine: 3,
    endLine: 3,
  });
  const patch = await wiki.ask("propose", {
    ...{ author: "task:t1", reason: "r", ...POISON },
    changes: [{
      ...{ kind: "write", base: 0, fresh: true },
      draft: {
        ...{ name: "lease", kind: "concept", title: "Lease", aliases: [], confidence: "high" },
        body: `# Lease\n\nA lease of our own.[^N]\n\n${cite.definition}\n`,
      },
    }],
  });
  await wiki.ask("decide", { id: patch.id, apply: true, by: "carol" });
  const { page } = await wiki.ask("page", { clearance: "secret", name: "lease" });
  assert.deepEqual(trust(page), POISON);
  const note = await wiki.ask("note", {
    ...{
      kind: "taskLog",
      text: "I read it.",
      task: "t1",
      agent: "reader",
      state: "kept",
      ...POISON,
    },
  });
  assert.deepEqual(trust(note), POISON);
  assert.deepEqual(await wiki.ask("notes", { clearance: "internal" }), []);
});
