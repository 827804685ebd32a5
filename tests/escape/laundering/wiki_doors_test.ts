/**
 * A wiki knows what is RED and what is secret. Its site, and its pages, taken into another wiki or read as a folder,
 * would have been like any other file; and so would have been what a RED task applied to a folder.
 */
import assert from "node:assert/strict";
import type { WikiSource } from "../../../contracts/memory/mod.ts";
import { besiege } from "../../fake/siege.ts";
import { type Machine, onMachine } from "../../fake/remit.ts";
import { playing } from "../../fake/scenes.ts";
import { makeWiki, type WikiAtHand } from "../../fake/wikis.ts";
import { calling, cameOf } from "../_calls.ts";
import { MAIL } from "./_laundry.ts";

const PLAN = "# Falcon\n\nThe falcon is sold to Wren Limited in March.\n";
const LETTER = `# Letter\n\n${MAIL}\n`;
const ALICE = "# Kettle\n\nThe kettle boils water for tea.\n";

/** A wiki of alice's with a file of each kind, and its site. */
async function alices(machine: Machine): Promise<{ wiki: WikiAtHand; site: string }> {
  await machine.write("plan.md", PLAN);
  await machine.write("letter.md", LETTER);
  await machine.write("kettle.md", ALICE);
  const wiki = await makeWiki(machine, "memory");
  await wiki.must("ingest", `${machine.dir}/plan.md`, "--label", "secret");
  await wiki.must("ingest", `${machine.dir}/letter.md`, "--colour", "RED");
  await wiki.must("ingest", `${machine.dir}/kettle.md`);
  const site = `${machine.dir}/site`;
  await wiki.must("export", "--to", site);
  return { wiki, site };
}

async function sourcesOf(
  wiki: WikiAtHand,
): Promise<
  readonly { readonly origin: string; readonly colour: string; readonly label: string }[]
> {
  const rows = await wiki.json("list", "--sources") as WikiSource[];
  return rows.map(({ provenance: { origin }, colour, label }) => ({ origin, colour, label }));
}

/** Sources of a wiki by what of alice's they hold: the worst that is said of any of them. */
async function trustOf(wiki: WikiAtHand): Promise<Readonly<Record<string, string>>> {
  const found: Record<string, string> = {};
  const rows = await sourcesOf(wiki);
  assert.ok(rows.length > 2, JSON.stringify(rows));
  for (const { origin, colour, label } of rows) {
    const [name] = /falcon|plan|letter|kettle/.exec(origin.split("/").at(-1) ?? "") ?? ["other"];
    found[`${name === "falcon" ? "plan" : name}`] = `${colour} ${label}`;
  }
  return found;
}

async function copied(from: string, to: string, without: readonly string[] = []): Promise<string> {
  await Deno.mkdir(to, { recursive: true });
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    if (without.includes(name)) continue;
    if (isDirectory) await copied(`${from}/${name}`, `${to}/${name}`, without);
    else await Deno.copyFile(`${from}/${name}`, `${to}/${name}`);
  }
  return to;
}

/** What everybody must hear of the three, however they come. */
function known(found: Readonly<Record<string, string>>): void {
  assert.equal(found["plan"], "YELLOW secret", JSON.stringify(found));
  assert.equal(found["letter"], "RED internal", JSON.stringify(found));
  assert.equal(found["kettle"], "YELLOW internal", JSON.stringify(found));
}

Deno.test("a wiki's site and its pages would have come into another wiki of the state as any other files", () =>
  onMachine(async (machine) => {
    const { wiki, site } = await alices(machine);
    // Without its list the site is known by what its files hold.
    const bare = await copied(site, `${machine.dir}/bare`, ["remit.json"]);
    const pages = await copied(`${wiki.folder}/pages`, `${machine.dir}/pages`);
    for (const folder of [site, bare, pages]) {
      const other = await makeWiki(machine, `other-${folder.split("/").at(-1)}`);
      await other.must("ingest", folder);
      known(await trustOf(other));
      // What is secret is not found by whom it is not for, nor what was made of it.
      for (const clearance of ["public", "internal"]) {
        const asked = await other.ask("query", "falcon sold Wren", "--clearance", clearance);
        assert.doesNotMatch(asked.stdout, /Wren/, folder);
      }
    }
  }));

Deno.test("a wiki's site would have come into a wiki on another machine as any other files, and its list as better ones", async () => {
  await onMachine(async (machine) => {
    const { site } = await alices(machine);
    await onMachine(async (bobs) => {
      const moved = await copied(site, `${bobs.dir}/moved`);
      const wiki = await makeWiki(bobs);
      await wiki.must("ingest", `${moved}/pages`, moved);
      known(await trustOf(wiki));
      // mallory's list says that all is BLUE and public, and that bob's own file is RED and secret.
      await bobs.write("mine.md", ALICE.replace("tea", "coffee"));
      await bobs.write("hers/kettle.md", ALICE);
      const digest = async (path: string): Promise<string> =>
        new Uint8Array(await crypto.subtle.digest("SHA-256", await Deno.readFile(path))).toHex();
      const files = [
        {
          path: "a",
          digest: await digest(`${bobs.dir}/hers/kettle.md`),
          colour: "BLUE",
          label: "public",
        },
        { path: "b", digest: await digest(`${bobs.dir}/mine.md`), colour: "RED", label: "secret" },
      ];
      await bobs.write("hers/remit.json", JSON.stringify({ remit: "wiki-export", files }));
      const other = await makeWiki(bobs, "other");
      await other.must("ingest", `${bobs.dir}/hers/kettle.md`, `${bobs.dir}/mine.md`);
      const rows = await sourcesOf(other);
      assert.deepEqual(rows.map(({ colour, label }) => `${colour} ${label}`), [
        "YELLOW internal",
        "YELLOW internal",
      ]);
    });
  });
});

Deno.test("a wiki's site would have been read by a task as any other folder, also deep in it and by a program", async () => {
  await onMachine(async (machine) => {
    const { site } = await alices(machine);
    await besiege(async (siege) => {
      await copied(site, `${siege.desk}/notes/site`);
      const list = JSON.parse(await Deno.readTextFile(`${site}/remit.json`)) as {
        files: { path: string; colour: string; label: string }[];
      };
      const path = (name: string) => {
        const found = list.files.find((each) => each.path.includes(name));
        assert.ok(found, name);
        return found;
      };
      for (const name of ["falcon", "letter", "kettle", "index.html"]) {
        const { path: file, colour, label } = path(name);
        const task = await siege.run({
          program: calling([["file_read", { path: `desk/notes/site/${file}` }]]),
          mounts: [siege.mount()],
        });
        const [came] = await cameOf(task);
        const worst = { colour: colour === "BLUE" ? "YELLOW" : colour, label };
        assert.deepEqual({ colour: came?.colour, label: came?.label }, worst, file);
      }
      const searching = await siege.run({
        program: calling([["file_search", { path: "desk/notes", query: "Wren Limited" }]]),
        mounts: [siege.mount()],
      });
      const [hit] = await cameOf(searching);
      assert.match(hit?.content ?? "", /Wren Limited/);
      assert.equal(hit?.label, "secret");
    });
  });
});

Deno.test("what a RED task applied would have come into a wiki as any other file, also while no kernel runs", () =>
  onMachine(async (machine) => {
    await machine.write("inbox/mail.eml", `${MAIL}\n`);
    await machine.write("desk/old.md", "old\n");
    await Deno.mkdir(`${machine.env["XDG_CONFIG_HOME"]}/remit`, { recursive: true });
    await Deno.writeTextFile(
      `${machine.env["XDG_CONFIG_HOME"]}/remit/remit.yaml`,
      `version: 1\nmounts:\n  inbox: { dir: ${machine.dir}/inbox, mode: ro, colour: RED, label: secret }\n` +
        `  desk: { dir: ${machine.dir}/desk, mode: stage }\n`,
    );
    await machine.write(
      "answers.json",
      '{"answers":[{"tool":"patch_apply","path":"desk","answer":"allow"}]}',
    );
    const play = await playing(
      machine,
      `
scenario: a mail is put into the folder
turns:
  - calls: [{ tool: file_read, args: { path: inbox/mail.eml } }]
  - calls: [{ tool: file_write, args: { path: desk/letter.md, content: ${
        JSON.stringify(LETTER)
      } } }]
  - say: Done.
`,
    );
    const words = ["run", "-p", "Note it", "--answers", "answers.json", ...play];
    const ran = await machine.remit(words);
    assert.equal(ran.code, 0, ran.stdout + ran.stderr);
    assert.equal(await machine.read("desk/letter.md"), LETTER);
    await machine.remit(["stop"]);
    const wiki = await makeWiki(machine);
    await wiki.must("ingest", `${machine.dir}/desk`);
    const rows = await sourcesOf(wiki);
    const [letter] = rows.filter(({ origin }) => origin.endsWith("letter.md"));
    assert.deepEqual([letter?.colour, letter?.label], ["RED", "secret"]);
    const [old] = rows.filter(({ origin }) => origin.endsWith("old.md"));
    assert.deepEqual([old?.colour, old?.label], ["YELLOW", "internal"]);
  }));
