/**
 * The command, or the wiki's process beneath it, is killed in the middle of whatever it does. A wiki that holds half a
 * change would answer from pages whose sources are not there, or say of itself that it is whole.
 */
import assert from "node:assert/strict";
import { type Machine, onMachine } from "../fake/remit.ts";
import {
  descendants,
  endProcesses,
  type Proc,
  processesNaming,
  stillRunning,
} from "../fake/processes.ts";
import { waitUntil } from "../fake/wait_until.ts";
import { makeWiki, treeOf, type WikiAtHand } from "../fake/wikis.ts";

const FILES = 80;

async function documents(machine: Machine): Promise<string> {
  for (let n = 0; n < FILES; n++) {
    const text = `# Thing ${n}\n\n**thing-${n}**: a thing-${n} is number ${
      n * 7
    } of them.\n\nIt follows thing-${n + 1}.\n`;
    await machine.write(`docs/t${n}.md`, text);
  }
  return `${machine.dir}/docs`;
}

/** What a reader sees of a wiki: its pages without their times, and what a question finds. */
async function seen(wiki: WikiAtHand): Promise<unknown> {
  const pages = await treeOf(`${wiki.folder}/pages`);
  const { hits } = await wiki.json("query", "what is a thing-77?");
  return {
    // What was staged goes after an hour: until then another command may be writing it.
    pages: [...pages].filter(([path]) => !path.includes("/.remit-")).map(([path, text]) => [
      path.slice(wiki.folder.length),
      text.replace(/^(updated|version): .*$/gm, ""),
    ]).sort(),
    hits: hits.map((hit: Record<string, unknown>) => [hit["file"], hit["startLine"], hit["text"]]),
  };
}

/** Signs that a command has come so far; each is looked for in the wiki's folder or its state. */
const MOMENTS: readonly (readonly [what: string, found: (wiki: WikiAtHand) => Promise<boolean>])[] =
  [
    ["the process has been started", () => Promise.resolve(true)],
    ["raw files are staged", (wiki) => some(wiki, "raw", (name) => name.startsWith(".remit-"))],
    ["a raw file stands", (wiki) => some(wiki, "raw", (name) => name.endsWith(".md"))],
    ["pages are staged", (wiki) => some(wiki, "pages", (name) => name.startsWith(".remit-"))],
    ["a page stands", (wiki) => some(wiki, "pages", (name) => name.endsWith(".md"))],
  ];

async function some(
  wiki: WikiAtHand,
  part: string,
  fits: (name: string) => boolean,
): Promise<boolean> {
  for await (const { name } of Deno.readDir(`${wiki.folder}/${part}`)) if (fits(name)) return true;
  return false;
}

/** The wiki's process of a command, with all that stands around it, from the outermost to the innermost. */
function familyOf(pid: number, wiki: WikiAtHand): Promise<readonly Proc[]> {
  return waitUntil("a wiki's process", async () => {
    const beneath = await descendants(pid);
    const own = beneath.filter(({ command }) => command.includes(`${wiki.folder},`));
    return own.some(({ command }) => !command.includes("--remount-ro")) ? own : undefined;
  });
}

Deno.test("an ingest killed at any moment, or its child: the next one leaves what a fresh wiki has (long)", () =>
  onMachine(async (machine) => {
    const docs = await documents(machine);
    const fresh = await makeWiki(machine, "fresh");
    await fresh.must("ingest", docs);
    const wanted = await seen(fresh);
    const wiki = await makeWiki(machine, "killed");
    for (const [at, [what, found]] of MOMENTS.entries()) {
      // One wiki bears all the kills, so that each begins in what the one before left.
      const running = machine.start(["wiki", "ingest", docs, "--wiki", wiki.folder]);
      const family = await familyOf(running.pid, wiki);
      const ended = running.done.then(() => true);
      await waitUntil(
        what,
        async () =>
          await found(wiki) || await Promise.race([ended, Promise.resolve(false)]) || undefined,
      );
      // The last of them is the innermost: Deno itself, beneath the walls around it.
      const victim = at % 2 === 0 ? running.pid : family.at(-1)?.pid ?? running.pid;
      try {
        Deno.kill(victim, "SIGKILL");
      } catch { /* it was done sooner */ }
      await running.done;
      // With its starter gone nothing of it runs on.
      await waitUntil(
        `the end of all (${what})`,
        async () => (await stillRunning(family)).length === 0 ? true : undefined,
      );
      assert.match((await wiki.must("lint")).stderr, /^clean$/m, what);
    }
    await wiki.must("ingest", docs);
    assert.match((await wiki.must("log", "--verify")).stdout, /the record holds/);
    assert.deepEqual(await seen(wiki), wanted);
    assert.deepEqual(await processesNaming(wiki.folder), []);
  }));

Deno.test("a wiki's process that spins ends with its command, whoever kills that", () =>
  onMachine(async (machine) => {
    const wiki = await makeWiki(machine);
    // Long enough to be in the middle of it: 20 MB on one line.
    await machine.write("docs/line.md", "giraffe ".repeat(2_500_000));
    const running = machine.start(["wiki", "ingest", `${machine.dir}/docs`, "--wiki", wiki.folder]);
    const family = await familyOf(running.pid, wiki);
    running.kill("SIGKILL");
    await running.done;
    try {
      await waitUntil(
        "its end",
        async () => (await stillRunning(family)).length === 0 ? true : undefined,
      );
    } finally {
      await endProcesses(wiki.folder);
    }
    assert.deepEqual(await processesNaming(machine.dir), []);
  }));
