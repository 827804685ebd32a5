import assert from "node:assert/strict";
import { makeFolders, openFolders, refusal, takeIn } from "../_fixture/opened_wiki.ts";

const note = {
  ...{ kind: "userMemory", text: "Alice likes tea.", task: "t1", agent: "alice" },
  ...{ colour: "YELLOW", label: "internal", state: "waiting" },
};

Deno.test("a note waits until a person decides, and is another agent's nowhere", async () => {
  await using folders = await makeFolders();
  const wiki = await openFolders(folders);
  const added = await wiki.ask("note", note);
  assert.equal((await wiki.ask("status", null)).notesWaiting, 1);
  const kept = await wiki.ask("noteDecide", { id: added.id, keep: true, by: "carol" });
  assert.equal(kept.state, "kept");
  assert.equal(
    (await refusal(wiki.ask("noteDecide", { id: added.id, keep: false, by: "carol" }))).code,
    "notFound",
  );
  const list = (more: object) => wiki.ask("notes", { clearance: "internal", ...more });
  assert.equal((await list({ kind: "userMemory", agent: "alice" })).length, 1);
  assert.deepEqual(await list({ kind: "userMemory", agent: "mallory" }), []);
  assert.deepEqual(await list({ kind: "taskLog" }), []);
  assert.deepEqual(await wiki.ask("notes", { clearance: "public" }), []);
});

Deno.test("the record tells that there was a note or an ingest, never what a note says, and its chain holds", async () => {
  await using folders = await makeFolders();
  const wiki = await openFolders(folders);
  await takeIn(wiki, folders, { "a.md": "# A\n\nA letter.\n" });
  await wiki.ask("note", note);
  const events: { kind: string; text: string; n: number }[] = await wiki.ask("log", {});
  assert.ok(events.some(({ kind }) => kind === "ingest"));
  assert.ok(events.some(({ kind }) => kind === "note"));
  assert.ok(!JSON.stringify(events).includes("tea"));
  const last = events.at(-1)?.n ?? 0;
  assert.deepEqual(await wiki.ask("log", { afterN: last }), []);
  assert.deepEqual(await wiki.ask("logVerify", null), { problem: null });
});

Deno.test("the lint finds a claim without a citation, and a link that leads nowhere", async () => {
  await using folders = await makeFolders();
  const wiki = await openFolders(folders);
  const text = "# Lease\n\nA lease ends after 30 seconds. See [[nowhere at all]].\n";
  await wiki.ask("edit", { name: "lease", text, base: 0, by: "carol" });
  const findings: { rule: string; line: number }[] = await wiki.ask("lint", {
    clearance: "internal",
  });
  const rules = new Set(findings.map(({ rule }) => rule));
  assert.ok(rules.has("missingCitation") && rules.has("brokenLink"), [...rules].join());
  const only = await wiki.ask("lint", { clearance: "internal", rules: ["brokenLink"] });
  assert.deepEqual([...new Set(only.map(({ rule }: { rule: string }) => rule))], ["brokenLink"]);
  assert.deepEqual(await wiki.ask("lint", { clearance: "public", rules: ["brokenLink"] }), []);
  assert.ok(Array.isArray(await wiki.ask("lintFix", { by: "carol" })));
});

Deno.test("what the lint mends is one patch for pages of one trust, and is not proposed twice", async () => {
  await using folders = await makeFolders();
  const wiki = await openFolders(folders);
  for (const name of ["lease", "broker", "gate"]) {
    const text = `# ${name}\n\nIt leads to [[access-controll]] (${name}).\n`;
    await wiki.ask("edit", { name, text, base: 0, by: "carol" });
  }
  const target = "# Access control\n\nIt is there.\n";
  await wiki.ask("edit", { name: "access-control", text: target, base: 0, by: "carol" });
  const findings: { rule: string; fixable: boolean }[] = await wiki.ask("lint", {
    clearance: "secret",
  });
  const fixable = findings.filter((each) => each.fixable);
  assert.ok(fixable.length >= 3, JSON.stringify(findings));
  const patches = await wiki.ask("lintFix", { by: "carol" });
  assert.equal(patches.length, 1);
  assert.ok(patches[0].changes.length >= 3);
  assert.deepEqual(await wiki.ask("lintFix", { by: "carol" }), []);
  const { state } = await wiki.ask("decide", { id: patches[0].id, apply: true, by: "carol" });
  assert.equal(state, "applied");
  const left = await wiki.ask("lint", { clearance: "secret", rules: ["brokenLink"] });
  assert.deepEqual(left, []);
});
