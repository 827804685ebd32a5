/** An agent with a wiki: the story of the README, at a terminal and without one, and a wiki of carol's own. */
import assert from "node:assert/strict";
import { onMachine } from "../fake/remit.ts";
import { openTerminal } from "../fake/terminal.ts";
import { needs } from "../needs.ts";

const wikiOf = (screen: string): string => /^ {2}wiki +(\S+)/m.exec(screen)?.[1] ?? "";
const PAGE = "pages/lanterns-in-a-gale.md";

Deno.test("bob plays the story wiki: it cites, writes a page, is refused what a document wants, and the record verifies", async () => {
  await onMachine(async (machine) => {
    const story = await machine.remit(["run", "--story", "wiki"]);
    assert.equal(story.code, 0, story.stderr);
    for (const tool of ["wiki_index", "wiki_search", "wiki_read", "wiki_cite"]) {
      assert.match(story.stderr, new RegExp(`✓ ${tool}`));
    }
    assert.match(story.stderr, /memory_note +userMemory +refused\n +by desk\/remit\.yaml:4/);
    assert.match(story.stderr, /asked +wiki_propose: allow, by answers-file/);
    assert.match(story.stderr, /memory +wiki page lanterns-in-a-gale\n +note taskLog\n/);
    const note =
      /^\[\^1\]: \[docs\/lanterns\.md\]\(\.\.\/raw\/lanterns\.[0-9a-f]{12}\.md#L7-L8\) lines 7-8 of sha256:[0-9a-f]{16}$/m;
    assert.match(story.stdout, note);
    const page = await Deno.readTextFile(`${wikiOf(story.stderr)}/${PAGE}`);
    assert.match(page, /^colour: YELLOW$/m);
    assert.match(page, /^label: internal$/m);
    assert.match(page, note);
    const log = await machine.remit([
      "log",
      /remit log (t[0-9a-z]{12})/.exec(story.stderr)?.[1] ?? "",
    ]);
    assert.match(log.stdout, /wiki_propose/);
    const verified = await machine.remit(["audit", "verify"]);
    assert.equal(verified.code, 0, verified.stderr);
  });
});

Deno.test("carol is shown the whole page with what it changes, line by line, before it is one", async () => {
  if (!needs("script")) return;
  await onMachine(async (machine) => {
    const words = machine.command(["run", "--story", "wiki"]);
    const terminal = openTerminal(words, { env: machine.env, cwd: machine.dir });
    try {
      const asked = await terminal.shows("your answer");
      assert.match(asked, /┃ Write wiki page "lanterns-in-a-gale" \(a new page\): \+\d+ −0 lines,/);
      assert.match(
        asked.replaceAll(/\r?\n┃ /g, " "),
        /1 of 1 citations hold, 1 statement uncited; it becomes YELLOW, internal/,
      );
      assert.match(asked, /┃ and +body, exactly this text/);
      assert.match(asked, /┃ {3}│ Guests hear of a gale a day before\./);
      assert.match(asked, /┃ sends to +memory:wiki/);
      assert.match(asked, /┃ {3}│ wiki raw\/lanterns\.[0-9a-f]{12}\.md {2}\(YELLOW, internal\)/);
      const page = `${wikiOf(asked)}/${PAGE}`;
      await assert.rejects(Deno.stat(page), "nothing is written while she thinks");
      await terminal.type("n not without a source\n");
      assert.equal(await terminal.ended(), 0);
      assert.match(terminal.screen(), /asked +wiki_propose: deny, by terminal/);
      await assert.rejects(Deno.stat(page));
    } finally {
      await terminal.close();
    }
  });
});

const PLAY = `scenario: own wiki
turns:
  - calls: [{ tool: wiki_search, args: { query: how long does a lease last, within: sources } }]
  - calls: [{ tool: wiki_cite, args: { file: '{{ tool.wiki_search | between "[1] " ":" }}', startLine: 3, endLine: 3 } }]
  - say: "{{ tool.wiki_cite | line 1 }}"
`;

Deno.test("carol hands over her own wiki with --wiki, or by remit.yaml, and without either the agent has none", async () => {
  await onMachine(async (machine) => {
    await machine.write("docs/lease.md", "# Lease\n\nA lease lasts an hour.\n");
    const play = await machine.write("play.yaml", PLAY);
    const wiki = `${machine.dir}/notes`;
    for (const words of [["init", wiki], ["ingest", "docs", "--wiki", wiki]]) {
      const made = await machine.remit(["wiki", ...words]);
      assert.equal(made.code, 0, made.stderr);
    }
    const run = ["run", "-p", "How long?", "--model", `scripted:${play}`];
    const handed = await machine.remit([...run, "--wiki", "notes"]);
    assert.equal(handed.code, 0, handed.stderr);
    assert.match(handed.stdout, /#L3\) line 3 of sha256:/);

    const bare = await machine.remit(run);
    assert.match(bare.stderr, /Cannot call "wiki_search": it is not among the tools/);

    await Deno.mkdir(`${machine.env["XDG_CONFIG_HOME"]}/remit`, { recursive: true });
    await Deno.writeTextFile(
      `${machine.env["XDG_CONFIG_HOME"]}/remit/remit.yaml`,
      `version: 1\nmemory: { wiki: ${wiki}, access: read, user: none }\n`,
    );
    const configured = await machine.remit(run);
    assert.equal(configured.code, 0, configured.stderr);
    assert.match(configured.stdout, /#L3\) line 3 of sha256:/);

    const nowhere = await machine.remit([...run, "--wiki", "docs"]);
    assert.notEqual(nowhere.code, 0);
    assert.match(nowhere.stderr, /Cannot use "docs": it is no wiki/);
  });
});
