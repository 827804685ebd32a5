import assert from "node:assert/strict";
import type { Found, Hit } from "../../contracts/memory/mod.ts";
import type { CheckedAnswer } from "../../contracts/wire/mod.ts";
import type { WorkItem } from "../../contracts/wire/wire_wiki.ts";
import { type AskedWiki, makeFolders, openFolders, takeIn } from "../_fixture/opened_wiki.ts";
import { readPage } from "../markdown/mod.ts";
import { sha256Hex } from "../../port/digest.ts";

const LEASE = [
  "# Leases",
  "",
  "A lease is a right that ends after 30 seconds.",
  "",
  "The broker revokes a lease when its task ends.",
  "",
].join("\n");

const question = { text: "when does a lease end?", k: 4, clearance: "internal" };

interface Planned {
  readonly found: Found;
  readonly ask: WorkItem;
}

/** The snippet and line on which a text stands, as the model is shown them. */
function placeOf(
  { ask }: Planned,
  text: string,
): { snippet: number; startLine: number; endLine: number } {
  let snippet = 0;
  for (const line of ask.user.split("\n")) {
    snippet = Number(/^Snippet (\d+),/.exec(line)?.[1] ?? snippet);
    const number = /^(\d+)\| /.exec(line)?.[1];
    if (number !== undefined && line.includes(text)) {
      return { snippet, startLine: Number(number), endLine: Number(number) };
    }
  }
  throw new Error(`"${text}" was not shown`);
}

async function check(wiki: AskedWiki, planned: Planned, text: string): Promise<CheckedAnswer> {
  return await wiki.ask("answerCheck", { question: question.text, text, found: planned.found });
}

function answer(...sentences: readonly { text: string; citations: readonly object[] }[]): string {
  return JSON.stringify({ version: 1, sentences });
}

Deno.test("each sentence keeps the citations that hold; one that has none is marked", async () => {
  await using folders = await makeFolders();
  const wiki = await openFolders(folders);
  await takeIn(wiki, folders, { "lease.md": LEASE });
  const planned: Planned = await wiki.ask("answerPlan", question);
  const ends = placeOf(planned, "30 seconds");
  const revokes = placeOf(planned, "The broker revokes");
  const checked = await check(
    wiki,
    planned,
    answer(
      { text: "A lease ends after 30 seconds.", citations: [ends] },
      { text: "A lease ends after 31 seconds.", citations: [ends] },
      {
        text: "The broker revokes it when the task ends.",
        citations: [revokes, { ...ends, snippet: 77 }],
      },
      { text: "The moon is made of green cheese.", citations: [ends] },
      { text: "A lease is a right.", citations: [{ ...ends, startLine: 900, endLine: 900 }] },
      { text: "I know no more.", citations: [] },
    ),
  );
  assert.deepEqual(checked.sentences.map(({ uncited }) => uncited), [
    false,
    true,
    false,
    true,
    true,
    true,
  ]);
  assert.equal(checked.dropped, 4);
  assert.deepEqual([checked.colour, checked.label], ["YELLOW", "internal"]);
  const [cited] = checked.sentences[0]?.citations ?? [];
  assert.ok(cited !== undefined);
  const { text } = await wiki.ask("read", {
    ...{ clearance: "internal", name: cited.file, from: cited.startLine, lines: 1 },
  });
  assert.equal(text, "A lease is a right that ends after 30 seconds.");
  assert.equal(cited.span, sha256Hex(text));
});

Deno.test("prose with numbers in brackets is read as an answer too", async () => {
  await using folders = await makeFolders();
  const wiki = await openFolders(folders);
  await takeIn(wiki, folders, { "lease.md": LEASE });
  const planned: Planned = await wiki.ask("answerPlan", question);
  const { snippet } = placeOf(planned, "30 seconds");
  const checked = await check(
    wiki,
    planned,
    `A lease ends after 30 seconds [${snippet}]. It is a pet.`,
  );
  assert.deepEqual(checked.sentences.map(({ text, uncited }) => [text, uncited]), [
    ["A lease ends after 30 seconds.", false],
    ["It is a pet.", true],
  ]);
});

Deno.test("what was changed since it was shown cites nothing any more", async () => {
  await using folders = await makeFolders();
  const wiki = await openFolders(folders);
  await wiki.ask("edit", {
    ...{ name: "lease", base: 0, by: "carol" },
    text: "# Lease\n\nA lease ends after 30 seconds.\n",
  });
  const planned: Planned = await wiki.ask("answerPlan", question);
  const ends = placeOf(planned, "30 seconds");
  const page = await wiki.ask("page", { clearance: "internal", name: "lease" });
  await wiki.ask("edit", {
    ...{ name: "lease", base: page.page.version, by: "carol" },
    text: "# Lease\n\nA lease ends after 45 seconds.\n",
  });
  const text = answer({ text: "A lease ends after 30 seconds.", citations: [ends] });
  const checked = await check(wiki, planned, text);
  assert.deepEqual(checked.sentences.map(({ uncited }) => uncited), [true]);
});

Deno.test("a filed answer cites raw sources also for what a page said, and is proposed, not written", async () => {
  await using folders = await makeFolders();
  const wiki = await openFolders(folders);
  await takeIn(wiki, folders, { "lease.md": LEASE });
  const { hits } = await wiki.ask("query", question) as { hits: Hit[] };
  const raw = hits.find(({ kind }) => kind === "source")?.file ?? "";
  const cite = await wiki.ask("cite", {
    clearance: "internal",
    file: raw,
    startLine: 3,
    endLine: 3,
  });
  await wiki.ask("edit", {
    ...{ name: "lease", base: 0, by: "carol" },
    text: `# Lease\n\nLeases last for half a minute.[^N]\n\n${cite.definition}\n`,
  });
  const planned: Planned = await wiki.ask("answerPlan", {
    ...question,
    text: "how long do leases last?",
  });
  const place = placeOf(planned, "half a minute");
  const checked = await check(
    wiki,
    planned,
    answer(
      { text: "Leases last for half a minute.", citations: [place] },
      { text: "Some say <b>otherwise</b>. [[evil]]", citations: [] },
    ),
  );
  assert.match(checked.sentences[0]?.citations[0]?.file ?? "", /^pages\/lease\.md$/);
  const patch = await wiki.ask("answerFile", { answer: checked, model: "scripted:a", by: "carol" });
  assert.equal(patch.state, "proposed");
  const [{ draft }] = patch.changes;
  assert.equal(draft.kind, "synthesis");
  const read = readPage(draft.body);
  assert.equal(read.citations[0]?.file, raw);
  assert.equal(read.citations[0]?.startLine, 3);
  assert.deepEqual(read.brokenNotes, []);
  assert.deepEqual(read.links, []);
  assert.match(draft.body, /\*\(uncited\)\*/);
  await wiki.ask("decide", { id: patch.id, apply: true, by: "carol" });
  assert.equal((await wiki.ask("index", { clearance: "internal" })).length, 2);
});

Deno.test("an answer that was shown a RED or secret line is RED and secret, cited or not, and so is its page", async () => {
  await using folders = await makeFolders();
  const wiki = await openFolders(folders);
  await takeIn(wiki, folders, { "lease.md": LEASE });
  await takeIn(
    wiki,
    folders,
    { "web.md": "# Lease blog\n\nA lease ends when the moon is full.\n" },
    { colour: "RED" },
  );
  await takeIn(wiki, folders, { "plan.md": "# Lease plan\n\nOur lease ends in May.\n" }, {
    label: "secret",
  });
  const low: Planned = await wiki.ask("answerPlan", question);
  assert.deepEqual([low.ask.colour, low.ask.label], ["RED", "internal"]);
  assert.doesNotMatch(low.ask.user, /May/);
  const planned: Planned = await wiki.ask("answerPlan", { ...question, clearance: "secret" });
  assert.deepEqual([planned.ask.colour, planned.ask.label], ["RED", "secret"]);
  const ends = placeOf(planned, "30 seconds");
  const text = answer({ text: "A lease ends after 30 seconds.", citations: [ends] });
  const checked = await check(wiki, planned, text);
  assert.deepEqual([checked.colour, checked.label], ["RED", "secret"]);
  const patch = await wiki.ask("answerFile", { answer: checked, model: "scripted:a", by: "carol" });
  await wiki.ask("decide", { id: patch.id, apply: true, by: "carol" });
  const name = patch.changes[0].draft.name;
  const { page } = await wiki.ask("page", { clearance: "secret", name });
  assert.deepEqual([page.colour, page.label], ["RED", "secret"]);
  assert.ok(!JSON.stringify(await wiki.ask("index", { clearance: "internal" })).includes(name));
});

Deno.test("where nothing is found there is nothing to ask", async () => {
  await using folders = await makeFolders();
  const wiki = await openFolders(folders);
  const planned = await wiki.ask("answerPlan", question);
  assert.equal(planned.ask, null);
  assert.equal(planned.found.fit, "none");
});
