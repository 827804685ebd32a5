/**
 * Several commands work on one wiki at once. Without a meeting place one would read what another has half written, write
 * a page over another's, or tell alice "database is locked".
 */
import assert from "node:assert/strict";
import { onMachine } from "../fake/remit.ts";
import { makeWiki, treeOf } from "../fake/wikis.ts";

const TERMS = ["lease", "grant", "broker", "ledger"];

function documents(): Readonly<Record<string, string>> {
  return Object.fromEntries(TERMS.map((term, n) => [
    `docs/${term}.md`,
    `# Notes ${n}\n\n**${term}**: a ${term} is a thing of kind ${n}.\n\nIt follows the ${
      TERMS[(n + 1) % TERMS.length]
    }.\n`,
  ]));
}

/** Pages without what differs from one run to the next: times, and how often a page was written. */
async function pagesOf(folder: string): Promise<readonly (readonly [string, string])[]> {
  const all = await treeOf(`${folder}/pages`);
  return [...all].sort(([a], [b]) => a < b ? -1 : 1).map(([path, text]) => [
    path.slice(folder.length),
    text.replace(/^(updated|version): .*$/gm, ""),
  ]);
}

Deno.test("three ingests, a query and a lint of one new wiki at once leave what one ingest leaves (long)", () =>
  onMachine(async (machine) => {
    for (const [name, text] of Object.entries(documents())) await machine.write(name, text);
    const docs = `${machine.dir}/docs`;
    const [one, many] = [await makeWiki(machine, "one"), await makeWiki(machine, "many")];
    await one.must("ingest", docs);
    const done = await Promise.all([
      many.ask("ingest", docs),
      many.ask("query", "what is a lease?"),
      many.ask("ingest", docs),
      many.ask("lint"),
      many.ask("ingest", docs),
    ]);
    assert.deepEqual(done.map(({ code }) => code).map((code) => code === 68 ? 0 : code), [
      0,
      0,
      0,
      0,
      0,
    ]);
    for (const { stdout, stderr } of done) {
      // No patch of one meets another's: all of them want the same pages.
      assert.doesNotMatch(stdout + stderr, /locked|busy|corrupt|another change|✗|Error/i);
    }
    assert.match((await many.must("lint")).stderr, /^clean$/m);
    assert.match((await many.must("log", "--verify")).stdout, /the record holds/);
    assert.deepEqual(await pagesOf(many.folder), await pagesOf(one.folder));
    const [a, b] = [
      await one.json("query", "what is a broker?"),
      await many.json("query", "what is a broker?"),
    ];
    const places = (found: { hits: { file: string; startLine: number }[] }) =>
      found.hits.map(({ file, startLine }) => [file, startLine]);
    assert.ok(places(a).length > 0);
    assert.deepEqual(places(b), places(a));
    assert.equal((await many.json("status")).patches, 0);
  }));

Deno.test("a source that another ingest takes in meanwhile is in the pages of both", () =>
  onMachine(async (machine) => {
    for (const n of [1, 2, 3]) {
      await machine.write(
        `d${n}/a${n}.md`,
        `# Words ${n}\n\n**lease**: a lease is the ${n}th thing.\n`,
      );
    }
    const wiki = await makeWiki(machine);
    const done = await Promise.all(
      [1, 2, 3].map((n) => wiki.ask("ingest", `${machine.dir}/d${n}`)),
    );
    assert.deepEqual(done.map(({ code }) => code), [0, 0, 0]);
    const page = await Deno.readTextFile(`${wiki.folder}/pages/lease.md`);
    for (const n of [1, 2, 3]) assert.match(page, new RegExp(`a lease is the ${n}th thing`));
    assert.match((await wiki.must("lint")).stderr, /^clean$/m);
  }));
