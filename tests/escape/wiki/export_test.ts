/**
 * alice exports to a folder that holds something else, or in which mallory put links. The export would write over her
 * files, or delete what its own list, which mallory wrote, names.
 */
import assert from "node:assert/strict";
import { onMachine } from "../../fake/remit.ts";
import { makeWiki, treeOf } from "../../fake/wikis.ts";

const MARK = ".remit-export";
const HEAD = "Remit wrote the files below; the next export replaces them.";

Deno.test("an export writes beneath its own folder alone, whatever lies in it", () =>
  onMachine(async (machine) => {
    const own = await machine.write("own/index.html", "alice's own\n");
    await machine.write(
      "docs/a.md",
      "---\ntitle: ../../../own/index\n---\n# A <script>alert(1)</script>\n\n**x**: an x is [y](javascript:alert(1)).\n",
    );
    const wiki = await makeWiki(machine);
    await wiki.must("ingest", `${machine.dir}/docs`);
    const site = `${machine.dir}/site`;
    const refused = async (to: string, why: RegExp): Promise<void> => {
      const { code, stderr } = await wiki.ask("export", "--to", to);
      assert.ok(code !== 0, to);
      assert.match(stderr, why, to);
    };
    await Promise.all([
      refused(`${machine.dir}/own`, /it has files that no export made/),
      refused(wiki.folder, /touches the wiki/),
      refused(`${wiki.folder}/pages`, /touches the wiki/),
      refused(machine.state, /touches the wiki or Remit's state/),
    ]);
    await wiki.must("export", "--to", site);
    const first = await treeOf(site);
    assert.ok(first.has(`${site}/index.html`));
    for (const [path, text] of first) {
      if (path.endsWith(".html")) {
        assert.doesNotMatch(text, /<script>alert|href="javascript:/i, path);
      }
    }
    // mallory's list says that files elsewhere are an export's; the next export would remove them.
    for (const path of ["../own/index.html", own, "link/index.html"]) {
      await Deno.writeTextFile(`${site}/${MARK}`, `${HEAD}\n${path}\n`);
      await Deno.remove(`${site}/link`).catch(() => undefined);
      await Deno.symlink(`${machine.dir}/own`, `${site}/link`);
      await wiki.ask("export", "--to", site);
      assert.equal(await Deno.readTextFile(own), "alice's own\n", path);
    }
    // A link where a file, and where a folder of the site is to be.
    const file = [...first.keys()].find((path) => path.endsWith("index.html")) ?? "";
    await Deno.writeTextFile(`${site}/${MARK}`, `${HEAD}\n`);
    await Deno.remove(file);
    await Deno.symlink(own, file);
    const [folder = ""] = [...first.keys()].map((path) => path.slice(site.length + 1).split("/"))
      .filter((parts) => parts.length > 1).map(([name]) => name ?? "");
    assert.notEqual(folder, "");
    await wiki.ask("export", "--to", site);
    await Deno.remove(`${site}/${folder}`, { recursive: true });
    await Deno.symlink(`${machine.dir}/own`, `${site}/${folder}`);
    await refused(site, /a link lies in it/);
    assert.deepEqual([...await treeOf(`${machine.dir}/own`)], [[own, "alice's own\n"]]);
    await Deno.mkdir(`${machine.dir}/real`);
    await Deno.symlink(`${machine.dir}/own`, `${machine.dir}/to-own`);
    await refused(`${machine.dir}/to-own`, /it has files that no export made/);
  }));
