import assert from "node:assert/strict";
import { generateKeyPairSync, sign } from "node:crypto";
import { pageMarkText } from "../../contracts/memory/wiki_page.ts";
import { makeFolders, openFolders, refusal, takeIn } from "../_fixture/opened_wiki.ts";

const LEASE = "# Leases\n\nA lease is a right that ends after 30 seconds.\n";

Deno.test("two people edit one page: the second is told, and nothing of the first is lost", async () => {
  await using folders = await makeFolders();
  const wiki = await openFolders(folders);
  const edit = (text: string, base: number, by: string) =>
    wiki.ask("edit", { name: "lease", text, base, by });
  assert.equal((await edit("# Lease\n\nOne.\n", 0, "alice")).state, "applied");
  assert.equal((await edit("# Lease\n\nTwo.\n", 1, "alice")).state, "applied");
  const late = await edit("# Lease\n\nThree.\n", 1, "bob");
  assert.equal(late.state, "conflict");
  assert.deepEqual(
    late.conflicts.map((
      { expected, found }: { expected: number; found: number },
    ) => [expected, found]),
    [[1, 2]],
  );
  const { text } = await wiki.ask("read", { clearance: "internal", name: "lease" });
  assert.match(text, /Two\./);
  // What bob wrote is kept in his patch.
  const { patch } = await wiki.ask("patch", { id: late.id });
  assert.match(patch.changes[0].draft.body, /Three\./);
  const { diff } = await wiki.ask("diff", { name: "lease", from: 1, to: 2 });
  assert.match(diff, /^-One\.$/m);
  assert.match(diff, /^\+Two\.$/m);
});

Deno.test("front matter that mallory edits changes neither label nor colour, and an edit not a version", async () => {
  await using folders = await makeFolders();
  const wiki = await openFolders(folders);
  await takeIn(wiki, folders, { "lease.md": LEASE }, { colour: "RED", label: "secret" });
  const { hits } = await wiki.ask("query", { text: "lease", k: 1, clearance: "secret" });
  const cite = await wiki.ask("cite", {
    clearance: "secret",
    file: hits[0].file,
    startLine: 3,
    endLine: 3,
  });
  const text = `# Lease\n\nA lease ends after 30 seconds.[^N]\n\n${cite.definition}\n`;
  await wiki.ask("edit", { name: "lease", text, base: 0, by: "carol" });
  const file = `${folders.folder}/pages/lease.md`;
  const first = await Deno.readTextFile(file);
  await Deno.chmod(file, 0o644);
  await Deno.writeTextFile(
    file,
    first.replace(/label: .*/, "label: public").replace(/colour: .*/, "colour: BLUE").replace(
      "ends",
      "stops",
    ),
  );
  const synced = await wiki.ask("sync", null);
  assert.deepEqual(synced.taken, ["lease"]);
  const { page, history } = await wiki.ask("page", { clearance: "secret", name: "lease" });
  assert.deepEqual([page.colour, page.label, page.version, page.author], [
    "RED",
    "secret",
    2,
    "hand",
  ]);
  assert.equal(history.length, 2);
  assert.equal(
    (await refusal(wiki.ask("page", { clearance: "internal", name: "lease" }))).code,
    "notFound",
  );
});

Deno.test("a mark raises a page only with a trusted signature, for that very digest", async () => {
  await using folders = await makeFolders();
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const key = String(publicKey.export({ format: "jwk" })["x"]);
  const wiki = await openFolders(folders, { trustedKeys: [key] });
  await wiki.ask("propose", {
    ...{ author: "task:t", reason: "r", colour: "RED", label: "secret" },
    changes: [{
      ...{ kind: "write", base: 0, fresh: true },
      draft: {
        ...{ name: "note", kind: "concept", title: "Note", aliases: [], confidence: "low" },
        body: "# Note\n\nA note.\n",
      },
    }],
  }).then(({ id }) => wiki.ask("decide", { id, apply: true, by: "carol" }));
  const { page } = await wiki.ask("page", { clearance: "secret", name: "note" });
  assert.deepEqual([page.colour, page.label], ["RED", "secret"]);
  const mark = {
    page: page.name,
    digest: page.digest,
    colour: "YELLOW",
    label: "internal",
    by: "carol",
    at: 5,
  } as const;
  const signed = {
    ...mark,
    key,
    signature: sign(null, Buffer.from(pageMarkText(mark)), privateKey).toString("base64url"),
  };
  const forged = { ...signed, colour: "BLUE" };
  assert.equal((await refusal(wiki.ask("mark", forged))).code, "refused");
  const other = generateKeyPairSync("ed25519");
  const mallory = {
    ...mark,
    key: String(other.publicKey.export({ format: "jwk" })["x"]),
    signature: sign(null, Buffer.from(pageMarkText(mark)), other.privateKey).toString("base64url"),
  };
  assert.equal((await refusal(wiki.ask("mark", mallory))).code, "refused");
  const marked = await wiki.ask("mark", signed);
  assert.deepEqual([marked.colour, marked.label], ["YELLOW", "internal"]);
  assert.equal((await wiki.ask("read", { clearance: "internal", name: "note" })).colour, "YELLOW");
});

Deno.test("a review is for the version that was read", async () => {
  await using folders = await makeFolders();
  const wiki = await openFolders(folders);
  const edit = (base: number, text: string) =>
    wiki.ask("edit", { name: "lease", text, base, by: "carol" });
  await edit(0, "# Lease\n\nOne.\n");
  await edit(1, "# Lease\n\nTwo.\n");
  assert.equal(
    (await refusal(wiki.ask("review", { name: "lease", version: 1, by: "carol" }))).code,
    "conflict",
  );
  assert.equal(
    (await wiki.ask("review", { name: "lease", version: 2, by: "carol" })).reviewed.by,
    "carol",
  );
  assert.equal(
    (await refusal(wiki.ask("review", { name: "none", version: 1, by: "carol" }))).code,
    "notFound",
  );
});

Deno.test("a rejected patch changes nothing; a patch is decided once", async () => {
  await using folders = await makeFolders();
  const wiki = await openFolders(folders);
  const { id } = await wiki.ask("propose", {
    ...{ author: "task:t", reason: "r", colour: "BLUE", label: "public" },
    changes: [{
      ...{ kind: "write", base: 0, fresh: true },
      draft: {
        ...{ name: "note", kind: "concept", title: "Note", aliases: [], confidence: "low" },
        body: "# Note\n\nA note.\n",
      },
    }],
  });
  assert.match(
    (await wiki.ask("patch", { id })).diff,
    /^--- \/dev\/null\n\+\+\+ b\/pages\/note\.md/,
  );
  assert.equal((await wiki.ask("decide", { id, apply: false, by: "carol" })).state, "rejected");
  const again = await wiki.ask("decide", { id, apply: true, by: "carol" }).then(
    ({ state }) => state,
    ({ code }) => code,
  );
  assert.notEqual(again, "applied");
  assert.deepEqual(await wiki.ask("index", { clearance: "secret" }), []);
  const none = await refusal(wiki.ask("decide", { id: "w000000000000", apply: true, by: "carol" }));
  assert.equal(none.code, "notFound");
});

Deno.test("carol's tags stay when she, an agent or the lint writes her page, and go when it is made anew", async () => {
  await using folders = await makeFolders();
  const wiki = await openFolders(folders);
  const shown = async () => (await wiki.ask("read", { name: "lease", clearance: "secret" })).text;
  const text = "---\ntags:\n  - lease\n---\n\n# Lease\n\nA lease ends.\n";
  await wiki.ask("edit", { name: "lease", text, base: 0, by: "carol" });
  assert.match(await shown(), /\ntags:\n {2}- lease\n---\n/);
  const file = `${folders.folder}/pages/lease.md`;
  await Deno.writeTextFile(file, (await shown()).replace("tags:\n", "tags:\n  - tea\n") + "\n");
  await wiki.ask("sync", null);
  const draft = { name: "lease", kind: "concept", title: "Lease", aliases: [], confidence: "low" };
  const write = async (body: string, base: number, fresh: boolean) => {
    const changes = [{ kind: "write", base, fresh, draft: { ...draft, body } }];
    const patch = await wiki.ask("propose", {
      ...{ author: "task:t1", reason: "more", changes, colour: "YELLOW", label: "internal" },
    });
    assert.equal(
      (await wiki.ask("decide", { id: patch.id, apply: true, by: "carol" })).state,
      "applied",
    );
  };
  await write("# Lease\n\nA lease may end.\n", 2, false);
  assert.match(await shown(), /\ntags:\n {2}- tea\n {2}- lease\n---\n\n# Lease\n\nA lease may end/);
  await write("# Lease\n\nA lease ends.\n", 3, true);
  assert.doesNotMatch(await shown(), /tags/);
});
