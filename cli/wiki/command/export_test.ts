import assert from "node:assert/strict";
import { join } from "node:path";
import { fakePowers, runCommandLine } from "../../_fixture/world.ts";
import { fakeWikis } from "../../_fixture/wikis.ts";
import { EXPORT_MARK, exportPath } from "./export.ts";

const REPORT = { files: 1, pages: 1, sources: 0, colour: "RED", label: "internal" };

async function exporting(files: Readonly<Record<string, string>>) {
  let told = files;
  const wikis = fakeWikis({
    ops: {
      exportSite(_body, tell) {
        for (const [path, text] of Object.entries(told)) tell("file", { path, text });
        return REPORT;
      },
    },
  });
  const powers = fakePowers({ wikis });
  assert.equal(await runCommandLine(["wiki", "init", "w"], powers), 0);
  return {
    powers,
    path: (name: string): string => join(powers.environment.cwd, name),
    run(to: string, next: Readonly<Record<string, string>> = files): Promise<number> {
      told = next;
      return runCommandLine(["wiki", "export", "--to", to], powers);
    },
    said: () => powers.screen.lines.join("\n"),
  };
}

Deno.test("an export fills an empty folder, and the next one takes its place and nothing else's", async () => {
  const at = await exporting({ "index.html": "one", "pages/a.html": "a" });
  assert.equal(await at.run("site"), 0);
  assert.equal(Deno.readTextFileSync(at.path("site/pages/a.html")), "a");
  assert.match(at.said(), /together they are RED/);
  Deno.writeTextFileSync(at.path("site/mine.txt"), "mine");
  assert.equal(await at.run("site", { "index.html": "two" }), 0);
  assert.equal(Deno.readTextFileSync(at.path("site/index.html")), "two");
  assert.equal(at.powers.disk.stat(at.path("site/pages/a.html")), undefined);
  assert.equal(Deno.readTextFileSync(at.path("site/mine.txt")), "mine");
});

Deno.test("a folder with files of others, the wiki and the state are not written to", async () => {
  const at = await exporting({ "index.html": "x" });
  Deno.mkdirSync(at.path("full"));
  Deno.writeTextFileSync(at.path("full/mine.txt"), "mine");
  assert.equal(await at.run("full"), 1);
  for (const to of ["w", "w/site", ".", join(at.powers.root, ".local/state/remit/default/x")]) {
    assert.equal(await at.run(to), 64, to);
  }
  assert.deepEqual([...Deno.readDirSync(at.path("full"))].map(({ name }) => name), ["mine.txt"]);
});

Deno.test("mallory's paths in an export lead nowhere else", async () => {
  for (
    const path of [
      "../x",
      "/etc/x",
      "a/../../x",
      "a//b",
      ".ssh/x",
      "a\\b",
      "a\nb",
      "a:b",
      "C:x",
      EXPORT_MARK,
      "",
    ]
  ) {
    assert.throws(() => exportPath(path), { code: "refused" }, path);
  }
  const at = await exporting({ "../escaped.html": "x" });
  assert.equal(await at.run("site"), 64);
  assert.equal(at.powers.disk.stat(at.path("escaped.html")), undefined);
  // Half done, it is still known as ours.
  assert.equal(await at.run("site", { "index.html": "x" }), 0);
  Deno.mkdirSync(at.path("elsewhere"));
  Deno.symlinkSync(at.path("elsewhere"), at.path("site/pages"));
  assert.equal(await at.run("site", { "pages/a.html": "x" }), 64);
  assert.deepEqual([...Deno.readDirSync(at.path("elsewhere"))], []);
  // A list of files that was changed to name others'.
  Deno.writeTextFileSync(at.path("victim.html"), "v");
  Deno.writeTextFileSync(at.path(`site/${EXPORT_MARK}`), "head\n../victim.html\n");
  assert.equal(await at.run("site", { "index.html": "x" }), 64);
  assert.equal(Deno.readTextFileSync(at.path("victim.html")), "v");
});
