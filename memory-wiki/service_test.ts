import assert from "node:assert/strict";
import { ingestOf, makeFolders, openFolders, refusal, takeIn } from "./_fixture/opened_wiki.ts";

const LEASE = [
  "# Leases",
  "",
  "A lease is a right that ends after 30 seconds unless it is renewed.",
  "",
  "## Revoking",
  "",
  "The broker revokes a lease when its task ends.",
  "",
].join("\n");
const KITCHEN = "# Kitchen\n\nBread is baked in an oven at 220 degrees.\n";

Deno.test("alice takes a folder in, asks, and gets the line that answers, with its file and place", async () => {
  await using folders = await makeFolders();
  const wiki = await openFolders(folders);
  await takeIn(wiki, folders, { "lease.md": LEASE, "kitchen.md": KITCHEN });
  const found = await wiki.ask("query", { text: "what is a lease?", k: 3, clearance: "internal" });
  assert.equal(found.fit, "good");
  const [hit] = found.hits;
  assert.match(hit.file, /^raw\/.*\.[0-9a-f]{12}\.md$/);
  assert.ok(hit.startLine <= 3 && hit.endLine >= 3);
  const read = await wiki.ask("read", { clearance: "internal", name: hit.file, from: 3, lines: 1 });
  assert.equal(read.text, "A lease is a right that ends after 30 seconds unless it is renewed.");
  assert.deepEqual([read.from, read.to, read.label, read.colour], [3, 3, "internal", "YELLOW"]);
});

Deno.test("what is not changed is not taken in again, what is becomes a new version", async () => {
  await using folders = await makeFolders();
  const wiki = await openFolders(folders);
  await takeIn(wiki, folders, { "lease.md": LEASE, "kitchen.md": KITCHEN });
  const ask = ingestOf(folders, ["lease.md", "kitchen.md"]);
  const again = await wiki.ask("ingestFiles", ask);
  assert.deepEqual(again, { added: 0, changed: 0, unchanged: 2, failed: [] });
  await Deno.writeTextFile(`${folders.files}/lease.md`, LEASE.replace("30", "45"));
  const changed = await wiki.ask("ingestFiles", ask);
  assert.deepEqual(changed, { added: 0, changed: 1, unchanged: 1, failed: [] });
  const { hits } = await wiki.ask("query", { text: "lease seconds", k: 5, clearance: "internal" });
  assert.ok(hits.some(({ text }: { text: string }) => text.includes("45 seconds")));
  assert.ok(!hits.some(({ text }: { text: string }) => text.includes("30 seconds")));
  const gone = await wiki.ask("ingestGone", {
    keyPrefix: `file:${folders.files}/`,
    present: [`file:${folders.files}/lease.md`],
  });
  assert.deepEqual(gone, { removed: [`file:${folders.files}/kitchen.md`] });
  // It is the second version of what was there.
  assert.equal((await wiki.ask("ingestFiles", ask)).changed, 1);
});

Deno.test("one bad file does not stop the rest, and each fate is told", async () => {
  await using folders = await makeFolders();
  const wiki = await openFolders(folders);
  await Deno.writeTextFile(`${folders.files}/good.md`, LEASE);
  await Deno.writeFile(`${folders.files}/binary.md`, new Uint8Array(5_000));
  await Deno.writeTextFile(`${folders.files}/large.md`, "x".repeat(2_000));
  await Deno.symlink("/etc/passwd", `${folders.files}/link.md`);
  const names = ["binary.md", "missing.md", "link.md", "large.md", "good.md"];
  const report = await wiki.ask("ingestFiles", ingestOf(folders, names, { maxBytes: 1_000 }));
  assert.equal(report.added, 1);
  assert.deepEqual(
    report.failed.map(({ name }: { name: string }) => name).sort(),
    ["binary.md", "large.md", "link.md", "missing.md"],
  );
  const fates = wiki.told.filter(({ op }) => op === "progress").map(({ body }) => body);
  assert.equal(fates.length, 5);
  assert.deepEqual(
    fates.filter((fate) => JSON.stringify(fate).includes('"new"')),
    [{ name: "good.md", did: "new" }],
  );
});

Deno.test("old code pages and UTF-16 are read as what they are, and cited by their text", async () => {
  await using folders = await makeFolders();
  const wiki = await openFolders(folders);
  await Deno.writeFile(
    `${folders.files}/old.txt`,
    Uint8Array.from([..."Die Gr\u00f6\u00dfe ist f\u00fcnf Meter.\n"].map((c) => c.charCodeAt(0))),
  );
  const wide = [..."\ufeffLeases end.\n"].flatMap((
    c,
  ) => [c.charCodeAt(0) & 255, c.charCodeAt(0) >> 8]);
  await Deno.writeFile(`${folders.files}/wide.txt`, Uint8Array.from(wide));
  const ask = ingestOf(folders, ["old.txt", "wide.txt"], { kind: "text" });
  assert.equal((await wiki.ask("ingestFiles", ask)).added, 2);
  const { hits } = await wiki.ask("query", { text: "Größe Meter", k: 1, clearance: "internal" });
  assert.equal(hits[0].text.trim(), "Die Größe ist fünf Meter.");
  const read = await wiki.ask("read", { clearance: "internal", name: hits[0].file });
  assert.equal(read.text, "Die Größe ist fünf Meter.");
});

Deno.test("carol's secret source does not exist for whoever is cleared for less, in the same words", async () => {
  await using folders = await makeFolders();
  const wiki = await openFolders(folders);
  await takeIn(wiki, folders, { "lease.md": LEASE });
  await takeIn(wiki, folders, { "plan.md": "# Plan\n\nThe merger closes in May.\n" }, {
    label: "secret",
  });
  const { hits } = await wiki.ask("query", { text: "merger May", k: 5, clearance: "secret" });
  const secret: string = hits[0].file;
  await wiki.ask("propose", {
    author: "operator",
    reason: "carol writes a page",
    changes: [{
      kind: "write",
      base: 0,
      fresh: true,
      draft: {
        ...{ name: "merger", kind: "concept", title: "Merger", aliases: ["The deal"] },
        ...{ confidence: "high", body: "# Merger\n\nIt closes in May.\n" },
      },
    }],
    colour: "BLUE",
    label: "secret",
  }).then(({ id }) => wiki.ask("decide", { id, apply: true, by: "carol" }));
  const absent = secret.replace(/\.[0-9a-f]{12}\./, ".000000000000.");
  const lower = { clearance: "internal" };
  const pairs: readonly [string, (name: string) => unknown, string, string][] = [
    ["read", (name) => ({ ...lower, name }), secret, absent],
    ["read", (name) => ({ ...lower, name }), "merger", "nothing"],
    ["read", (name) => ({ ...lower, name }), "pages/merger.md", "pages/nothing.md"],
    ["read", (name) => ({ ...lower, name, version: 1 }), "The deal", "No deal"],
    ["page", (name) => ({ ...lower, name }), "merger", "nothing"],
    ["diff", (name) => ({ ...lower, name, from: 0, to: 1 }), "merger", "nothing"],
    ["cite", (file) => ({ ...lower, file, startLine: 1, endLine: 1 }), secret, absent],
  ];
  for (const [op, bodyOf, hidden, missing] of pairs) {
    const [one, other] = [
      await refusal(wiki.ask(op, bodyOf(hidden))),
      await refusal(wiki.ask(op, bodyOf(missing))),
    ];
    assert.equal(one.code, "notFound");
    assert.equal(one.message.replace(hidden, missing), other.message, op);
    assert.deepEqual(one.detail, other.detail);
  }
  const found = await wiki.ask("query", { text: "merger May", k: 5, clearance: "internal" });
  assert.ok(!JSON.stringify(found.hits).includes("merger"));
  assert.equal(found.searched.sources, 1);
  assert.equal(found.searched.pages, 0);
  assert.deepEqual(await wiki.ask("index", lower), []);
  assert.deepEqual(await wiki.ask("patches", lower), []);
  assert.equal((await wiki.ask("index", { clearance: "secret" })).length, 1);
  const read = await wiki.ask("read", { clearance: "secret", name: "The deal" });
  assert.equal(read.label, "secret");
});

Deno.test("the index is cut at its limit", async () => {
  await using folders = await makeFolders();
  const wiki = await openFolders(folders);
  const changes = Array.from({ length: 210 }, (_, n) => ({
    kind: "write",
    base: 0,
    fresh: true,
    draft: {
      ...{ name: `page-${n}`, kind: "concept", title: `Page ${n}`, aliases: [], confidence: "low" },
      body: `# Page ${n}\n\nThis page is about the number ${n}.\n`,
    },
  }));
  const { id } = await wiki.ask("propose", {
    ...{ author: "operator", reason: "many", changes, colour: "BLUE", label: "public" },
  });
  assert.equal((await wiki.ask("decide", { id, apply: true, by: "carol" })).state, "applied");
  assert.equal((await wiki.ask("index", { clearance: "public" })).length, 200);
  const [row] = await wiki.ask("index", { clearance: "public", limit: 1 });
  assert.equal(row.about, "This page is about the number 0.");
});

Deno.test("hostile bodies, unknown ops and an op before the opening are refused, and the wiki goes on", async () => {
  await using folders = await makeFolders();
  const wiki = await openFolders(folders);
  const bodies: readonly [string, unknown][] = [
    ["query", null],
    ["query", { text: "", k: 1, clearance: "secret" }],
    ["query", { text: "x", k: 1e9, clearance: "secret" }],
    ["query", { text: "x", k: 1, clearance: "topsecret" }],
    ["query", { text: "x".repeat(5_000), k: 1, clearance: "public" }],
    ["read", { clearance: "public", name: "a", from: 0 }],
    ["read", { clearance: "public", name: "a", extra: 1 }],
    ["cite", { clearance: "public", file: "raw/x", startLine: "1", endLine: 2 }],
    ["edit", { name: "../../etc/passwd", text: "x", base: 0, by: "mallory" }],
    ["propose", { author: "x", reason: "x", changes: [], colour: "BLUE", label: "public" }],
    ["workTaken", { run: "../x", item: "y", text: "" }],
    ["note", { kind: "diary", text: "x" }],
    ["ingestFiles", { files: [{ path: "/etc/passwd" }] }],
    ["open", { folder: "" }],
    ["__proto__", null],
    ["constructor", null],
    ["nothing", null],
  ];
  for (const [op, body] of bodies) {
    assert.equal((await refusal(wiki.ask(op, body))).code, "invalidInput", `${op}`);
  }
  const { folder, state } = folders;
  const open = { folder, stateFolder: state, create: true, trustedKeys: [], readOnly: false };
  assert.equal((await refusal(wiki.ask("open", open))).code, "conflict");
  assert.equal((await wiki.ask("status", null)).pages, 0);
});

Deno.test("what is opened to be read cannot be changed", async () => {
  await using folders = await makeFolders();
  const first = await openFolders(folders);
  await takeIn(first, folders, { "lease.md": LEASE });
  const wiki = await openFolders(folders, { readOnly: true });
  assert.equal((await refusal(wiki.ask("sync", null))).code, "refused");
  assert.equal(
    (await wiki.ask("query", { text: "lease", k: 1, clearance: "secret" })).hits.length,
    1,
  );
});

Deno.test("a reader is answered while an ingest is under way, a writer waits for its turn", async () => {
  await using folders = await makeFolders();
  const wiki = await openFolders(folders);
  const names = Array.from({ length: 150 }, (_, n) => `f${n}.md`);
  for (const name of names) {
    await Deno.writeTextFile(`${folders.files}/${name}`, `# ${name}\n\n${LEASE}`);
  }
  const order: string[] = [];
  const ingest = wiki.ask("ingestFiles", ingestOf(folders, names)).then(() => order.push("ingest"));
  const writer = wiki.ask("sync", null).then(() => order.push("writer"));
  const reader = wiki.ask("status", null).then(() => order.push("reader"));
  await Promise.all([ingest, writer, reader]);
  assert.deepEqual(order, ["reader", "ingest", "writer"]);
});

Deno.test("words of an expired note leave the disk when the wiki is opened, and with the first request of a day", async () => {
  await using folders = await makeFolders();
  const onDisk = async (): Promise<boolean> => {
    for await (const { name } of Deno.readDir(folders.state)) {
      const path = `${folders.state}/${name}`;
      // A file beside the database may be gone again by the time it is read.
      const text = await Deno.readTextFile(path).catch((error: unknown) => {
        if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.IsADirectory) {
          return "";
        }
        throw error;
      });
      if (text.includes("fleeting-words")) return true;
    }
    return false;
  };
  const note = {
    ...{ kind: "taskLog", text: "fleeting-words of carol", task: "t1", agent: "agent" },
    ...{ colour: "RED", label: "secret", state: "kept", expiresAt: Date.now() - 1 },
  };
  const wiki = await openFolders(folders);
  await wiki.ask("note", note);
  await wiki.ask("logVerify", null);
  assert.ok(await onDisk(), "swept a moment ago");
  wiki.clock.now += 24 * 60 * 60_000;
  await wiki.ask("logVerify", null);
  assert.ok(!await onDisk());
  await wiki.ask("note", note);
  assert.ok(await onDisk());
  const again = await openFolders(folders);
  assert.ok(!await onDisk());
  const events = await again.ask("log", {}) as { kind: string; by: string; text: string }[];
  assert.deepEqual(
    events.filter(({ by }) => by === "remit").map(({ kind, text }) => [kind, text]),
    [1, 2].map(() => ["note", "1 note has expired and been erased"]),
  );
});
