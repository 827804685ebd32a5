import assert from "node:assert/strict";
import {
  type AskedWiki,
  makeFolders,
  openFolders,
  refusal,
  takeIn,
} from "../_fixture/opened_wiki.ts";

async function page(
  wiki: AskedWiki,
  name: string,
  more: {
    readonly title?: string;
    readonly aliases?: readonly string[];
    readonly label?: string;
    readonly body?: string;
  } = {},
): Promise<void> {
  const { title = name, aliases = [], label = "public", body = `# ${title}\n\nIt is.\n` } = more;
  const { id } = await wiki.ask("propose", {
    ...{ author: "operator", reason: "r", colour: "BLUE", label },
    changes: [{
      ...{ kind: "write", base: 0, fresh: true },
      draft: { name, kind: "concept", title, aliases, confidence: "low", body },
    }],
  });
  const { state } = await wiki.ask("decide", { id, apply: true, by: "carol" });
  assert.equal(state, "applied");
}

Deno.test("reading is bounded: 200 lines, 64 KiB, and past the end there is nothing", async () => {
  await using folders = await makeFolders();
  const wiki = await openFolders(folders);
  await takeIn(wiki, folders, {
    "long.md": Array.from({ length: 500 }, (_, n) => `Line ${n + 1}.`).join("\n"),
    "wide.md": `# Wide\n${"ä".repeat(100_000)}\n${"b".repeat(50_000)}\n`,
  });
  const files = (await wiki.ask("query", { text: "line 7 wide", k: 20, clearance: "internal" }))
    .hits
    .map(({ file }: { file: string }) => file);
  const long = files.find((file: string) => file.includes("long"));
  const read = (name: string, more: object = {}) =>
    wiki.ask("read", { clearance: "internal", name, ...more });
  const first = await read(long);
  assert.deepEqual([first.from, first.to, first.of], [1, 200, 500]);
  assert.match(first.text, /^Line 1\.\n[^]*\nLine 200\.$/);
  const last = await read(long, { from: 499, lines: 10 });
  assert.deepEqual([last.from, last.to, last.text], [499, 500, "Line 499.\nLine 500."]);
  const past = await read(long, { from: 501 });
  assert.deepEqual([past.from, past.to, past.text], [501, 500, ""]);
  await page(wiki, "wide", { body: `# Wide\n\n${"ä".repeat(100_000)}\n` });
  const lines = await read("wide", { lines: 10_000 });
  assert.ok(new TextEncoder().encode(lines.text).length <= 65_536);
  const { of } = lines;
  const line = await read("wide", { from: of, lines: 1 });
  assert.ok(line.text.length > 30_000 && new TextEncoder().encode(line.text).length <= 65_536);
});

Deno.test("a page is found by name, path, title and alias; a hidden one takes no visible one's title", async () => {
  await using folders = await makeFolders();
  const wiki = await openFolders(folders);
  await page(wiki, "lease", { title: "The lease", aliases: ["Tenancy"] });
  for (const name of ["lease", "pages/lease.md", "./pages/lease.md", "The lease", "tenancy"]) {
    assert.equal((await wiki.ask("read", { clearance: "public", name })).name, "lease", name);
  }
  await page(wiki, "a-merger", { title: "Project X", label: "secret" });
  await page(wiki, "z-public", { title: "Project X" });
  const read = (clearance: string) => wiki.ask("read", { clearance, name: "Project X" });
  assert.equal((await read("public")).name, "z-public");
  assert.equal((await read("internal")).name, "z-public");
});

Deno.test("an old version that was more confidential stays hidden, its place in the history too", async () => {
  await using folders = await makeFolders();
  const wiki = await openFolders(folders);
  await page(wiki, "plan", { label: "secret", body: "# Plan\n\nThe merger closes in May.\n" });
  // Written anew from nothing confidential: the page is public from then on.
  const { id } = await wiki.ask("propose", {
    ...{ author: "operator", reason: "r", colour: "BLUE", label: "public" },
    changes: [{
      ...{ kind: "write", base: 1, fresh: true },
      draft: {
        ...{ name: "plan", kind: "concept", title: "Plan", aliases: [], confidence: "low" },
        body: "# Plan\n\nThere is a plan.\n",
      },
    }],
  });
  await wiki.ask("decide", { id, apply: true, by: "carol" });
  const low = { clearance: "internal", name: "plan" };
  const { page: shown, history } = await wiki.ask("page", low);
  assert.equal(shown.label, "public");
  assert.deepEqual(history.map(({ version }: { version: number }) => version), [2]);
  for (
    const [op, body] of [
      ["read", { ...low, version: 1 }],
      ["diff", { ...low, from: 1, to: 2 }],
    ] as const
  ) {
    assert.equal((await refusal(wiki.ask(op, body))).code, "notFound", op);
  }
  const { diff } = await wiki.ask("diff", { name: "plan", from: 1, to: 2 });
  assert.match(diff, /^-The merger closes in May\.$/m);
  const all = await wiki.ask("page", { ...low, clearance: "secret" });
  assert.equal(all.history.length, 2);
});

Deno.test("a citation names lines that are there, and not too many", async () => {
  await using folders = await makeFolders();
  const wiki = await openFolders(folders);
  await takeIn(wiki, folders, {
    "a.md": Array.from({ length: 300 }, (_, n) => `Line ${n}.`).join("\n"),
  });
  const [{ file }] = (await wiki.ask("query", { text: "line", k: 1, clearance: "internal" })).hits;
  const cite = (startLine: number, endLine: number) =>
    wiki.ask("cite", { clearance: "internal", file, startLine, endLine });
  const held = await cite(2, 3);
  assert.equal(held.text, "Line 1.\nLine 2.");
  assert.match(
    held.definition,
    /^\[\^N\]: \[.*a\.md\]\(\.\.\/raw\/.*#L2-L3\) lines 2-3 of sha256:[0-9a-f]{16}$/,
  );
  for (const [from, to] of [[3, 2], [300, 301], [1, 201]] as const) {
    assert.equal((await refusal(cite(from, to))).code, "invalidInput");
  }
});

Deno.test("the catalogue goes on behind a name, and sources are listed to whom they may be shown", async () => {
  await using folders = await makeFolders();
  const wiki = await openFolders(folders);
  await takeIn(wiki, folders, { "a.md": "# A\n", "b.md": "# B\n" });
  await takeIn(wiki, folders, { "plan.md": "# Plan\n" }, { label: "secret" });
  await wiki.ask("extract", {});
  const names = async (more: object) =>
    (await wiki.ask("index", { clearance: "internal", ...more }))
      .map(({ name }: { name: string }) => name);
  assert.deepEqual([await names({ limit: 1 }), await names({ after: "a" })], [["a"], ["b"]]);
  const sources = async (clearance: string, afterId = 0): Promise<{ id: number; key: string }[]> =>
    await wiki.ask("sources", { clearance, afterId });
  const files = (all: readonly { readonly key: string }[]) =>
    all.map(({ key }) => key.slice(key.lastIndexOf("/") + 1)).sort();
  assert.deepEqual(files(await sources("secret")), ["a.md", "b.md", "plan.md"]);
  const [first, ...rest] = await sources("internal");
  assert.deepEqual(files(rest), ["b.md"]);
  assert.deepEqual(await sources("internal", first?.id), rest);
});
