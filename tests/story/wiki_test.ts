/** carol keeps a wiki at her terminal: no agent, no kernel, and no model until she asks one. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { type Machine, onMachine } from "../fake/remit.ts";
import { openTerminal, type Terminal } from "../fake/terminal.ts";
import { needs } from "../needs.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

/** Copies this repository's documents, so that one of them may change. */
async function layDocs(machine: Machine): Promise<void> {
  const copy = async (from: string, to: string): Promise<void> => {
    await Deno.mkdir(to, { recursive: true });
    for await (const { name, isDirectory } of Deno.readDir(from)) {
      if (isDirectory) await copy(join(from, name), join(to, name));
      else await Deno.copyFile(join(from, name), join(to, name));
    }
  };
  await copy(join(ROOT, "docs"), join(machine.dir, "docs"));
}

async function atTerminal<T>(
  machine: Machine,
  args: readonly string[],
  f: (terminal: Terminal) => Promise<T>,
): Promise<T> {
  const terminal = openTerminal(machine.command(args), { env: machine.env, cwd: machine.dir });
  try {
    return await f(terminal);
  } finally {
    await terminal.close();
  }
}

interface Hit {
  readonly file: string;
  readonly startLine: number;
  readonly endLine: number;
  readonly text: string;
  readonly origin: string;
  readonly kind: string;
}

const ANSWER = `scenario: an answer
turns:
  - say: "A lease is a grant with an extent and an end [1]. It is lent by the moon."
`;

Deno.test("carol makes a wiki, asks it, files an answer, changes a source, and lint finds and mends it", async () => {
  if (!needs("script")) return;
  await onMachine(async (machine) => {
    await layDocs(machine);
    const made = await machine.remit(["wiki", "init", "memory"]);
    assert.equal(made.code, 0, made.stderr);
    assert.match(
      made.stdout,
      /^made a wiki in memory: raw\/, pages\/, index\.md, log\.md, AGENTS\.md/,
    );
    assert.match(made.stderr, /wiki ingest PATH/);

    const ingest = await machine.remit(["wiki", "ingest", "docs"]);
    assert.equal(ingest.code, 0, ingest.stderr);
    assert.match(ingest.stdout, /^\d{2,3} new, 0 changed, 0 unchanged, 0 failed\n$/);
    assert.match(
      ingest.stderr,
      /pages are extractive: sentences chosen by rules, no model read them/,
    );
    const again = await machine.remit(["wiki", "ingest", "docs"]);
    assert.match(again.stdout, /^0 new, 0 changed, \d{2,3} unchanged, 0 failed\n$/);

    await asks(machine);
    await filesAnAnswer(machine);
    await changesASource(machine);
    // All of it without a model's process, but for the one answer.
    const log = await machine.remit(["wiki", "log", "--verify"]);
    assert.equal(log.stdout, "the record holds\n");
  });
});

/** The definition is found, at the line where it stands, in the wiki's own copy. */
async function asks(machine: Machine): Promise<void> {
  await atTerminal(machine, ["wiki", "query", "what is a lease?"], async (terminal) => {
    await terminal.shows(/grant with an extent/);
    assert.equal(await terminal.ended(), 0);
    assert.match(
      terminal.screen(),
      /^memory\/(?:pages\/lease|raw\/glossary\.[0-9a-f]{12})\.md:\d+/m,
    );
  });
  // Words of the line itself: what stands where is the claim here, and every new text of docs/ changes the order.
  const words = "a lease is a grant with an extent, an end and a parent";
  const query = ["wiki", "query", words, "--within", "sources"];
  const { hits } = await machine.json(query) as { hits: readonly Hit[] };
  const glossary = (await machine.read("docs/glossary.md")).split("\n");
  const line = glossary.findIndex((each) => each.startsWith("- **lease**")) + 1;
  const definition = hits.find((each) => each.file.startsWith("raw/glossary."));
  assert.ok(definition !== undefined && definition.startLine <= line && line <= definition.endLine);
  for (const { file, startLine, endLine, text } of hits) {
    const lines = (await machine.read(`memory/${file}`)).split("\n");
    const [first = ""] = text.split("\n");
    assert.ok(
      lines.slice(startLine - 1, endLine).join("\n").startsWith(first),
      `${file}:${startLine}`,
    );
  }
  const all = await machine.json(["wiki", "query", "what is a lease?"]) as {
    hits: readonly Hit[];
  };
  assert.match(
    all.hits[0]?.text ?? "",
    /\*\*lease\*\*: a grant with an extent/,
    "the best comes first",
  );
  const nothing = await machine.remit(["wiki", "query", "zebra xylophone quixotry"]);
  assert.equal(nothing.code, 68, nothing.stdout);
  assert.match(nothing.stdout, /Nothing in this wiki fits/);
}

/** A model's answer is cited or marked, and becomes a page by her decision. */
async function filesAnAnswer(machine: Machine): Promise<void> {
  await machine.write("answer.yaml", ANSWER);
  const words = ["wiki", "query", "what is a lease?", "--answer", "--within", "sources"];
  const args = [...words, "--model", "scripted:answer.yaml", "--file"];
  await atTerminal(machine, args, async (terminal) => {
    await terminal.shows("apply it?");
    const screen = terminal.screen();
    assert.match(screen, /A lease is a grant with an extent and an end\. \[1\]/);
    assert.match(screen, /lent by the moon\.\s+\(uncited\)/);
    assert.match(screen, /\[1\] memory\/raw\/\S+:\d+/);
    await terminal.type("yes\r");
    assert.equal(await terminal.ended(), 0);
  });
  const pages = await machine.json(["wiki", "list"]) as readonly { name: string; kind: string }[];
  assert.ok(pages.some(({ name, kind }) => name === "what-is-a-lease" && kind === "synthesis"));
}

/** The cited lines move: lint finds the page that cites them, and mends it when she says so. */
async function changesASource(machine: Machine): Promise<void> {
  const shown = await machine.remit(["wiki", "show", "what-is-a-lease"]);
  const [, raw = ""] = /\((?:\.\.\/)(raw\/[^#)]+)#L/.exec(shown.stdout) ?? [];
  const query = ["wiki", "query", "what is a lease?", "--within", "sources", "--k", "50"];
  const { hits } = await machine.json(query) as { hits: readonly Hit[] };
  const origin = hits.find(({ file }) => file === raw)?.origin ?? "";
  assert.ok(origin.startsWith(machine.dir), `${raw} comes from ${origin}`);
  const before = await Deno.readTextFile(origin);
  await Deno.writeTextFile(origin, `# Preface\n\nThis was put before everything.\n\n${before}`);
  const ingest = await machine.remit(["wiki", "ingest", "docs"]);
  assert.match(ingest.stdout, /^0 new, 1 changed, \d{2,3} unchanged, 0 failed\n$/);

  const rule = ["wiki", "lint", "--rule", "changedSource"];
  const found = await machine.remit(rule);
  assert.match(found.stdout, /memory\/pages\/what-is-a-lease\.md:\d+: \w+ changedSource: /);
  await atTerminal(machine, [...rule, "--fix"], async (terminal) => {
    await terminal.shows(/apply (?:it|all \d+)\?/);
    await terminal.type("yes\r");
    assert.equal(await terminal.ended(), 0);
    assert.match(terminal.screen(), /applied|done/);
  });
  const clean = await machine.remit(rule);
  assert.equal(clean.stdout, "", clean.stdout);
  const history = await machine.json(["wiki", "history", "what-is-a-lease"]) as {
    history: readonly unknown[];
  };
  assert.equal(history.history.length, 2);
}

Deno.test("alice takes in a page of the web, and it stays RED through page, answer and export (long)", async () => {
  await onMachine(async (machine) => {
    await using server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => undefined },
      () =>
        new Response("<h1>Widgets</h1><p>A widget is a small machine that hums.</p>", {
          headers: { "content-type": "text/html" },
        }),
    );
    assert.equal((await machine.remit(["wiki", "init", "memory"])).code, 0);
    const url = `http://127.0.0.1:${server.addr.port}/widgets`;
    const taken = await machine.remit(["wiki", "ingest", url]);
    assert.equal(taken.stdout, "1 new, 0 changed, 0 unchanged, 0 failed\n", taken.stderr);
    const found = await machine.remit(["wiki", "query", "what is a widget?"]);
    assert.match(found.stdout, /A widget is a small machine that hums/);
    assert.match(found.stdout, /RED public/);
    const { hits } = await machine.json(["wiki", "query", "widget"]) as {
      hits: readonly { colour: string; kind: string }[];
    };
    assert.ok(hits.length > 0 && hits.every(({ colour }) => colour === "RED"));
    const exported = await machine.remit(["wiki", "export", "--to", "site"]);
    assert.match(exported.stderr, /together they are RED/);
    const back = await machine.remit(["wiki", "ingest", "site", "--colour", "YELLOW"]);
    assert.equal(back.code, 0, back.stderr);
    const after = await machine.json(["wiki", "query", "widget hums", "--k", "20"]) as {
      hits: readonly { colour: string; file: string }[];
    };
    assert.deepEqual(after.hits.filter(({ colour }) => colour !== "RED"), []);
  });
});
