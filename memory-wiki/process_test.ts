import assert from "node:assert/strict";
import { ingestOf, makeFolders, refusal } from "./_fixture/opened_wiki.ts";
import { openProcess, startWiki } from "./_fixture/wiki_process.ts";

Deno.test("the real process takes a folder in, answers with the line, and a second one answers the same", async () => {
  await using folders = await makeFolders();
  await Deno.writeTextFile(
    `${folders.files}/lease.md`,
    "# Leases\n\nA lease is a right that ends unless it is renewed.\n",
  );
  let first: unknown;
  {
    await using wiki = await openProcess(folders);
    const report = await wiki.ask("ingestFiles", ingestOf(folders, ["lease.md"]));
    assert.deepEqual(report, { added: 1, changed: 0, unchanged: 0, failed: [] });
    assert.deepEqual(wiki.told.map(({ body }) => body), [{ name: "lease.md", did: "new" }]);
    first = await wiki.ask("query", { text: "what is a lease?", k: 1, clearance: "internal" });
  }
  await using wiki = await openProcess(folders);
  const again = await wiki.ask("query", { text: "what is a lease?", k: 1, clearance: "internal" });
  const [hit] = again.hits;
  assert.deepEqual([again], [first]);
  const read = await wiki.ask("read", { clearance: "internal", name: hit.file, from: 3, lines: 1 });
  assert.equal(read.text, "A lease is a right that ends unless it is renewed.");
});

Deno.test("mallory's names of files reach nothing outside: refused by the ops, and by the process's rights", async () => {
  await using folders = await makeFolders();
  await Deno.writeTextFile(`${folders.files}/a.md`, "# A\n\nA is a letter.\n");
  await using wiki = await openProcess(folders);
  const report = await wiki.ask("ingestFiles", {
    ...ingestOf(folders, ["a.md"]),
    files: ["/etc/passwd", `${folders.files}/../../../etc/passwd`, "/proc/self/environ"].map((
      path,
    ) => ({ path, key: `file:${path}`, kind: "text", name: path, origin: path })),
  });
  assert.equal(report.failed.length, 3, JSON.stringify(report));
  const names = [
    ...[
      "../../../../etc/passwd",
      "/etc/passwd",
      "raw/../../../etc/passwd",
      "raw/x.000000000000.md",
    ],
    ...["pages/../../state/wiki.db", "..", "pages/a\0.md", "raw/%2e%2e/x"],
  ];
  for (const name of names) {
    const read = await refusal(wiki.ask("read", { clearance: "secret", name }));
    assert.equal(read.code, "notFound", name);
    const cited = await refusal(
      wiki.ask("cite", { clearance: "secret", file: name, startLine: 1, endLine: 1 }),
    );
    assert.equal(cited.code, "notFound", name);
    const edited = await refusal(
      wiki.ask("edit", { name, text: "# x\n", base: 0, by: "mallory" }),
    );
    assert.equal(edited.code, "invalidInput", name);
  }
  const other = await makeFolders();
  await using _other = other;
  await using second = await startWiki(folders);
  const opened = await refusal(second.ask("open", {
    ...{ folder: other.folder, stateFolder: folders.state, create: true },
    ...{ trustedKeys: [], readOnly: false },
  }));
  assert.equal(opened.code, "refused", opened.message);
  assert.deepEqual(await Array.fromAsync(Deno.readDir(other.folder)), []);
});

Deno.test("a program that ran in its place could read and write those folders and nothing else", async () => {
  await using folders = await makeFolders();
  await using other = await makeFolders();
  const entry = new URL("./_fixture/rights_probe.ts", import.meta.url);
  await using probe = await startWiki(folders, { entry });
  const { folder, state, files } = folders;
  await Deno.writeTextFile(`${files}/a.md`, "a");
  const found = await probe.ask("try", [
    {
      what: "read",
      paths: [`${files}/a.md`, "/etc/passwd", "/proc/self/environ", Deno.execPath()],
    },
    {
      what: "write",
      paths: [
        `${folder}/a`,
        `${state}/a`,
        `${files}/b.md`,
        `${other.folder}/a`,
        "/tmp/remit-wiki-a",
      ],
    },
    { what: "list", paths: [folder, "/", "/etc"] },
    { what: "run", paths: ["/bin/true", Deno.execPath()] },
    { what: "connect", paths: ["http://127.0.0.1:9/"] },
    { what: "env", paths: ["HOME", "PATH"] },
    { what: "link", paths: [`${folder}/link`] },
  ]);
  const done = Object.entries(found).filter(([, how]) => how === "done").map(([what]) => what);
  assert.deepEqual(done, [
    `read ${files}/a.md`,
    `write ${folder}/a`,
    `write ${state}/a`,
    `list ${folder}`,
  ]);
  assert.equal(Object.keys(found).length, 18);
  assert.equal(found["read /etc/passwd"], "NotCapable");
  assert.equal(found[`write ${other.folder}/a`], "NotCapable");
});

Deno.test("killed in the middle of an ingest, a wiki keeps what was kept and the next run does the rest", async () => {
  await using folders = await makeFolders();
  const names = Array.from({ length: 400 }, (_, n) => `f${n}.md`);
  for (const name of names) {
    await Deno.writeTextFile(
      `${folders.files}/${name}`,
      `# ${name}\n\nThe file ${name} says so.\n`,
    );
  }
  const begun = Promise.withResolvers<void>();
  let heard = 0;
  const wiki = await openProcess(folders, {
    heard: (op) => {
      if (op === "progress" && ++heard === 100) begun.resolve();
    },
  });
  const lost = refusal(wiki.ask("ingestFiles", ingestOf(folders, names)));
  await begun.promise;
  await wiki.kill();
  assert.equal((await lost).code, "gone");
  await using again = await openProcess(folders);
  const kept = (await again.ask("status", null)).sources;
  assert.ok(kept >= 64 && kept < 400, `${kept}`);
  const report = await again.ask("ingestFiles", ingestOf(folders, names));
  assert.deepEqual(report, { added: 400 - kept, changed: 0, unchanged: kept, failed: [] });
  const raw = await Array.fromAsync(Deno.readDir(`${folders.folder}/raw`));
  assert.equal(raw.filter(({ name }) => name.endsWith(".md")).length, 400);
  assert.equal((await again.ask("logVerify", null)).problem, null);
});

Deno.test("a body that is huge, and a frame that is none, end no other wiki", async () => {
  await using folders = await makeFolders();
  await using wiki = await openProcess(folders);
  const huge = { name: "a", text: "x".repeat(2_000_000), base: 0, by: "mallory" };
  assert.equal((await refusal(wiki.ask("edit", huge))).code, "invalidInput");
  const deep = JSON.parse(`${"[".repeat(60)}${"]".repeat(60)}`);
  assert.equal((await refusal(wiki.ask("query", deep))).code, "invalidInput");
  assert.equal((await wiki.ask("status", null)).sources, 0);
});

Deno.test("two processes take in and write at once: nothing is lost, and each sees the other's", async () => {
  await using folders = await makeFolders();
  const names = Array.from({ length: 60 }, (_, n) => `f${n}.md`);
  for (const name of names) {
    await Deno.writeTextFile(
      `${folders.files}/${name}`,
      `# ${name}\n\nThe file ${name} says so.\n`,
    );
  }
  await using alice = await openProcess(folders);
  await using bob = await openProcess(folders);
  const write = (wiki: typeof alice, by: string, n: number) =>
    wiki.ask("edit", { name: `${by}-${n}`, text: `# ${by} ${n}\n\n${by} writes.\n`, base: 0, by });
  const states = await Promise.all([
    alice.ask("ingestFiles", ingestOf(folders, names.slice(0, 40))),
    bob.ask("ingestFiles", ingestOf(folders, names.slice(20))),
    ...[1, 2, 3].flatMap((n) => [write(alice, "alice", n), write(bob, "bob", n)]),
  ]);
  assert.ok(states.slice(2).every(({ state }) => state === "applied"), JSON.stringify(states));
  for (const wiki of [alice, bob]) {
    const { sources, pages } = await wiki.ask("status", null);
    assert.deepEqual([sources, pages], [60, 6]);
    const { hits } = await wiki.ask("query", { text: "bob writes", k: 3, clearance: "internal" });
    assert.ok(hits.some(({ file }: { file: string }) => file.startsWith("pages/bob-")));
    assert.equal((await wiki.ask("logVerify", null)).problem, null);
  }
});

Deno.test("hundreds of sources and pages are written by a process that may open 128 files", async () => {
  await using folders = await makeFolders();
  const names = Array.from({ length: 300 }, (_, n) => `note-${n}.md`);
  for (const [n, name] of names.entries()) {
    await Deno.writeTextFile(
      `${folders.files}/${name}`,
      `# Note ${n}\n\nNote ${n} is about ${n}.\n`,
    );
  }
  await using wiki = await openProcess(folders, { openFiles: 128 });
  const report = await wiki.ask("ingestFiles", ingestOf(folders, names));
  assert.equal(report.added, 300);
  const { written } = await wiki.ask("extract", {});
  assert.ok(written.length >= 300, `${written.length} pages`);
});
