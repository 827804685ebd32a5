import assert from "node:assert/strict";
import { join } from "node:path";
import { fakePowers, runCommandLine } from "../_fixture/world.ts";
import { EMPTY_WIKI, fakeWikis, layWiki } from "../_fixture/wikis.ts";

const ops = { status: () => EMPTY_WIKI, index: () => [] };
const powers = (): ReturnType<typeof fakePowers> & { wikis: ReturnType<typeof fakeWikis> } => {
  const wikis = fakeWikis({ ops });
  return { ...fakePowers({ wikis }), wikis };
};
type Powers = ReturnType<typeof powers>;
const run = (at: Powers, line: string, cwd?: string): Promise<number> =>
  runCommandLine(
    line.split(" "),
    cwd === undefined ? at : { ...at, environment: { ...at.environment, cwd } },
  );
const used = (at: Powers): string => at.wikis.seen.started.at(-1)?.folder ?? "";

Deno.test("alice's commands take the wiki that she names, else the one around her, else the last one made", async () => {
  const at = powers();
  const path = (name: string): string => join(at.environment.cwd, name);
  assert.equal(await run(at, "wiki status"), 2);
  assert.match(at.screen.lines.at(-1) ?? "", /none was made yet; make one with "remit wiki init/);
  assert.equal(await run(at, "wiki init one"), 0);
  assert.equal(await run(at, "wiki init deep/two"), 0);
  assert.equal(await run(at, "wiki status"), 0);
  assert.equal(used(at), path("deep/two"));
  assert.match(at.screen.lines.at(-1) ?? "", /wiki {2}deep\/two {2}\(the one last made/);
  assert.equal(await run(at, "wiki status --wiki one"), 0);
  assert.equal(used(at), path("one"));
  Deno.mkdirSync(path("one/pages/sub"));
  assert.equal(await run(at, "wiki status", path("one/pages/sub")), 0);
  assert.equal(used(at), path("one"));
  assert.equal(await run(at, "wiki list --wikis --json"), 0);
  assert.deepEqual(JSON.parse(at.screen.outs.at(-1) ?? ""), [path("deep/two"), path("one")]);
  assert.equal(at.wikis.seen.closed, at.wikis.seen.started.length);
  const [start] = at.wikis.seen.started;
  assert.equal(Deno.statSync(start?.stateFolder ?? "").mode, 0o40700);
  assert.equal(start?.trustedKeys.length, 1);
});

Deno.test("a folder that looks like a wiki but came from elsewhere is not used until it is taken in", async () => {
  const at = powers();
  const folder = join(at.environment.cwd, "cloned");
  layWiki(folder);
  assert.equal(await run(at, "wiki status --wiki cloned"), 2);
  assert.match(at.screen.lines.at(-1) ?? "", /its state is not here .* wiki init cloned/);
  assert.equal(await run(at, "wiki status", folder), 2);
  assert.equal(await run(at, "wiki init cloned --json"), 0);
  assert.equal(JSON.parse(at.screen.outs.at(-1) ?? "").adopted, true);
  assert.equal(await run(at, "wiki status", folder), 0);
  // Moved: another folder, so another wiki.
  Deno.renameSync(folder, `${folder}2`);
  assert.equal(await run(at, "wiki status"), 2);
  assert.equal(await run(at, "wiki status --wiki cloned2"), 2);
});

Deno.test("no wiki is made in Remit's state, around it, over other files, or through links", async () => {
  const at = powers();
  const { cwd } = at.environment;
  const refuse = async (folder: string, code: number, why: RegExp): Promise<void> => {
    assert.equal(await run(at, `wiki init ${folder}`), code, folder);
    assert.match(at.screen.lines.at(-1) ?? "", why);
    assert.equal(at.wikis.seen.started.length, 0, folder);
  };
  await refuse(`${at.root}/.local/state/remit/default/mine`, 64, /Remit's own state/);
  await refuse(at.root, 64, /Remit's own state|its own folder/);
  await refuse("/", 64, /Remit's own state|its own folder/);
  Deno.mkdirSync(join(cwd, "repo"));
  Deno.writeTextFileSync(join(cwd, "repo/AGENTS.md"), "mine");
  await refuse("repo", 1, /there is a "AGENTS.md" already/);
  assert.equal(Deno.readTextFileSync(join(cwd, "repo/AGENTS.md")), "mine");
  Deno.mkdirSync(join(cwd, "linked"));
  Deno.symlinkSync("/tmp", join(cwd, "linked/raw"));
  await refuse("linked", 64, /"raw" in it is a link/);
  Deno.writeTextFileSync(join(cwd, "file"), "");
  await refuse("file", 64, /it is a file/);
  Deno.symlinkSync(`${at.root}/.local/state/remit`, join(cwd, "tunnel"));
  await refuse("tunnel/default/x", 64, /Remit's own state/);
});
