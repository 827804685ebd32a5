/**
 * carol clones a wiki that mallory made. Links in it would have her files read and written, front matter would say that
 * the pages are trusted, and a raw file under another's digest would be cited as what it is not.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { type Machine, onMachine } from "../../fake/remit.ts";
import { TERMINAL_CONTROL, treeOf, wikiAt, type WikiAtHand } from "../../fake/wikis.ts";
import { openProcess } from "../../../memory-wiki/_fixture/wiki_process.ts";
import { makeFolders, refusal, takeIn } from "../../../memory-wiki/_fixture/opened_wiki.ts";

const LEASE = "# Lease\n\nA lease is a grant.\n";
const DIGEST = createHash("sha256").update(LEASE).digest("hex");
const CLAIMS = `---
kind: concept
title: Claims
label: public
colour: BLUE
confidence: high
reviewed: {by: alice, at: 2020-01-01T00:00:00.000Z}
version: 7
---
# Claims

A lease is a grant.[^1]

[^1]: [x](../raw/lease.${DIGEST.slice(0, 12)}.md#L3) line 3 of sha256:${DIGEST.slice(0, 16)}
`;

async function mallorys(machine: Machine, name: string): Promise<WikiAtHand> {
  await machine.write("outside/secret.md", "The outside word is zebu.\n");
  for (const file of ["AGENTS.md", "index.md", "log.md"]) {
    await machine.write(`${name}/${file}`, "# M\n");
  }
  await machine.write(`${name}/raw/lease.${DIGEST.slice(0, 12)}.md`, LEASE);
  await machine.write(`${name}/pages/claims.md`, CLAIMS);
  return wikiAt(machine, name);
}

Deno.test("mallory's cloned wiki is taken in without its links, its pipes, its claims and its false digests", () =>
  onMachine(async (machine) => {
    const wiki = await mallorys(machine, "clone");
    const { folder } = wiki;
    const outside = await Deno.realPath(`${machine.dir}/outside`);
    await Deno.symlink(`${outside}/secret.md`, `${folder}/raw/out.${"a".repeat(12)}.md`);
    await Deno.symlink(`${outside}/secret.md`, `${folder}/pages/out.md`);
    await Deno.remove(`${folder}/log.md`);
    // A second name of carol's file: what is appended to the log would be written into it.
    await Deno.link(`${outside}/secret.md`, `${folder}/log.md`);
    for (const path of ["pages/pipe.md", `raw/pipe.${"b".repeat(12)}.md`]) {
      assert.ok(
        (await new Deno.Command("mkfifo", { args: [`${folder}/${path}`] }).output()).success,
      );
    }
    await machine.write(`clone/raw/lie.${"0".repeat(12)}.md`, "The lie is a gnu.\n");
    await machine.write(
      "clone/pages/yaml.md",
      "---\na: &a [*a, *a]\nb: !!js/function x\n---\n# Yaml\n",
    );
    await machine.write("clone/pages/n\x1b[2J\u202eame.md", "# Name\n");
    await machine.write("clone/wiki.db", "no database");
    await machine.write("clone/pages/sub/inner.md", "The inner word is gnu.\n");
    using huge = await Deno.open(`${folder}/pages/huge.md`, { create: true, write: true });
    await huge.truncate(3 * 2 ** 30);
    const made = await machine.remit(["wiki", "init", folder]);
    assert.equal(made.code, 0, made.stderr);
    assert.match(made.stderr + made.stdout, /none trusted above YELLOW or below internal/);
    assert.doesNotMatch((made.stderr + made.stdout).replaceAll("\n", ""), TERMINAL_CONTROL);
    assert.equal(await Deno.readTextFile(`${outside}/secret.md`), "The outside word is zebu.\n");
    const rows = await wiki.json("list");
    assert.deepEqual(
      rows.map((row: Record<string, unknown>) => [row["name"], row["colour"], row["label"]]),
      [["claims", "YELLOW", "internal"], ["yaml", "YELLOW", "internal"]],
    );
    const { page } = await wiki.json("history", "claims");
    assert.equal(page.reviewed, undefined);
    assert.equal((await wiki.ask("query", "zebu")).code, 68);
    assert.equal((await wiki.ask("query", "gnu")).code, 68);
    const lint = await wiki.ask("lint");
    assert.equal(lint.code, 1);
    assert.match(lint.stdout, /claims\.md:\d+: error colourDrift/);
    assert.match(lint.stdout, /claims\.md:\d+: error labelDrift/);
    assert.doesNotMatch(lint.stdout.replaceAll("\n", ""), TERMINAL_CONTROL);
  }));

Deno.test("mallory's cloned wiki with a link in a part's place is refused, and nothing is written where it leads", () =>
  onMachine(async (machine) => {
    for (const name of ["raw", "pages", "index.md", "log.md", "AGENTS.md"]) {
      const { folder } = await mallorys(machine, `clone-${name}`);
      await Deno.remove(`${folder}/${name}`, { recursive: true });
      await machine.write("outside/raw/own.md", "carol's own\n");
      const outside = `${machine.dir}/outside`;
      await Deno.symlink(
        name.endsWith(".md") ? `${outside}/secret.md` : outside,
        `${folder}/${name}`,
      );
      const before = await treeOf(outside);
      const made = await machine.remit(["wiki", "init", folder]);
      assert.ok(made.code !== 0 && /Cannot (?:make|use|open) /.test(made.stderr), made.stderr);
      assert.deepEqual(await treeOf(outside), before);
    }
  }));

Deno.test("mallory swaps the wiki's folders for links while it is in use: the process refuses to go on", async () => {
  for (const part of ["", "/raw", "/pages"]) {
    await using folders = await makeFolders();
    await using wiki = await openProcess(folders);
    await takeIn(wiki, folders, { "lease.md": LEASE });
    const elsewhere = `${folders.files}/elsewhere`;
    await Deno.rename(`${folders.folder}${part}`, `${folders.files}/moved`);
    await Deno.mkdir(elsewhere);
    for (const name of part === "" ? ["raw", "pages"] : []) {
      await Deno.mkdir(`${elsewhere}/${name}`);
    }
    await Deno.symlink(elsewhere, `${folders.folder}${part}`);
    await Deno.writeTextFile(`${folders.files}/b.md`, "# B\n\nMore.\n");
    const given = {
      files: [{
        ...{
          path: `${folders.files}/b.md`,
          key: "file:/b.md",
          kind: "markdown",
          name: "b.md",
          origin: "b",
        },
      }],
      ...{
        label: "internal",
        colour: "YELLOW",
        owner: "carol",
        by: "operator",
        maxBytes: 1_000_000,
      },
    };
    const edit = { name: "note", base: 0, text: "# Note\n\nText.\n", by: "carol" };
    const tries = [wiki.ask("ingestFiles", given), wiki.ask("extract", {}), wiki.ask("edit", edit)];
    const ends = await Promise.allSettled(tries);
    if (part === "") {
      for (const end of ends) {
        assert.equal(end.status, "rejected", `${part} ${JSON.stringify(end)}`);
      }
    }
    assert.deepEqual([...(await treeOf(elsewhere)).keys()], [], part);
    if (part !== "/pages") {
      assert.match((await refusal(wiki.ask("extract", {}))).message, /link|not the folder/);
    }
  }
});
