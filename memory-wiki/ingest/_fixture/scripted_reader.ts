/** A scripted model that reads a wiki's sources, and the properties that its pages must have. @module */
import assert from "node:assert/strict";
import type { WorkItem } from "../../../contracts/wire/wire_wiki.ts";
import type { AskedWiki, Folders } from "../../_fixture/opened_wiki.ts";
import { readPage } from "../../markdown/mod.ts";

/** Two sources about the same things. */
export const LEASE = [
  "# Leases",
  "",
  "A lease is a right that ends after 30 seconds.",
  "",
  "The broker revokes a lease when its task ends.",
  "",
].join("\n");
export const BROKER = "# Broker\n\nThe broker decides each call before it happens.\n";

/** The shown lines of an item, by number. */
function shownLines({ user }: WorkItem): readonly (readonly [number, string])[] {
  return [...user.matchAll(/^(\d+)\| (.*)$/gm)].map(([, n, text = ""]) => [Number(n), text]);
}

/** An honest model: each shown sentence is a claim, and the entities are the given ones. */
export function honest(item: WorkItem, entities: readonly string[]): string {
  const lines = shownLines(item).filter(([, text]) => /^[A-Z].{8,}\.$/.test(text));
  const text = lines.map(([, line]) => line.toLowerCase()).join(" ");
  return JSON.stringify({
    version: 1,
    claims: lines.map(([n, line]) => ({ text: line, startLine: n, endLine: n, quote: line })),
    entities: entities.filter((name) => text.includes(name.toLowerCase()))
      .map((name) => ({ name, kind: "concept", aliases: [] })),
    relations: [
      { from: "broker", kind: "revokes", to: "lease" },
      { from: "broker", kind: "adores", to: "lease" },
    ],
    contradictions: [],
    pages: entities.filter((name) => text.includes(name.toLowerCase()))
      .map((title) => ({ title, kind: "concept" })),
  });
}

/** Answers every item of a run; gives their number. */
export async function answerAll(
  wiki: AskedWiki,
  run: string,
  answer: (item: WorkItem) => string,
): Promise<number> {
  let asked = 0;
  for (;;) {
    const item: WorkItem | null = await wiki.ask("workNext", { run });
    if (item === null) return asked;
    asked++;
    assert.ok(asked < 50, "asked without end");
    await wiki.ask("workTaken", { run, item: item.id, text: answer(item) });
  }
}

/** The plan of a run. */
export const plan = { model: "scripted:reader", contextTokens: 8_000 };

/** Applies a patch. */
export async function apply(wiki: AskedWiki, id: string): Promise<void> {
  const decided = await wiki.ask("decide", { id, apply: true, by: "carol" });
  assert.equal(decided.state, "applied", JSON.stringify(decided.conflicts));
}

/** Every claim of every page cites a line of a source that holds its words. */
export async function everyClaimHolds(wiki: AskedWiki, folders: Folders): Promise<number> {
  let claims = 0;
  for (const { name } of await wiki.ask("index", { clearance: "secret" })) {
    const read = readPage(await Deno.readTextFile(`${folders.folder}/pages/${name}.md`));
    const notes = new Map(read.citations.map((each) => [each.note, each]));
    assert.deepEqual(read.brokenNotes, [], name);
    for (const claim of read.claims) {
      claims++;
      assert.ok(claim.notes.length > 0, `${name}: "${claim.text}" cites nothing`);
      for (const note of claim.notes) {
        const cited = notes.get(note);
        assert.ok(cited !== undefined, `${name}: [^${note}]`);
        const { file, startLine, endLine } = cited;
        const { text } = await wiki.ask("cite", { clearance: "secret", file, startLine, endLine });
        assert.ok(text.length > 0);
      }
    }
  }
  return claims;
}
