/** mallory's repository: hooks, filters, a monitor, includes, submodules, links and names that want to run or to lead out. */
import assert from "node:assert/strict";
import { planOf } from "../../../swarm/plan.ts";
import { personsGit } from "../../fake/swarm.ts";
import { approving, onSwarm, realSwarmPowers } from "../../fake/swarm_rig.ts";
import { findBase, makeMirror } from "../../../swarm/mod.ts";
import { needs } from "../../needs.ts";

const PLAN = planOf({ version: 1, issues: [{ id: "a", title: "A" }] }, (why) => new Error(why));

/** Makes everything of it that git would run write `marker`. */
async function arm(folder: string, marker: string): Promise<void> {
  const write = async (path: string, text: string, mode = 0o644): Promise<void> => {
    await Deno.mkdir(`${folder}/${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
    await Deno.writeTextFile(`${folder}/${path}`, text, { mode });
  };
  const run = `sh -c 'echo ran >> ${marker}; cat'`;
  await write(
    ".gitattributes",
    "* filter=evil diff=evil merge=evil\n*.txt text eol=crlf ident\n",
  );
  const url = `ext::sh -c 'echo ran >> ${marker}'`;
  await write(".gitmodules", `[submodule "sub"]\n\tpath = sub\n\turl = ${url}\n`);
  await Deno.symlink("/etc/passwd", `${folder}/absolute`);
  await Deno.symlink("../../../etc", `${folder}/upwards`);
  await Deno.mkdir(`${folder}/deep`);
  await Deno.symlink("../phrases.txt", `${folder}/deep/inside`);
  // Passes the link before it: up from there is outside.
  await Deno.symlink(".", `${folder}/here`);
  await Deno.symlink("here/../../secret", `${folder}/winding`);
  const commit = await personsGit(folder, "rev-parse", "HEAD");
  await personsGit(folder, "add", "--all");
  await personsGit(folder, "update-index", "--add", "--cacheinfo", `160000,${commit},sub`);
  await personsGit(folder, "commit", "--quiet", "--message=evil");
  for (
    const hook of [
      "post-checkout",
      "pre-commit",
      "reference-transaction",
      "post-index-change",
      "pre-auto-gc",
      "update",
      "proc-receive",
      "fsmonitor-watchman",
    ]
  ) {
    await write(`.git/hooks/${hook}`, `#!/bin/sh\necho ${hook} >> ${marker}\n`, 0o755);
  }
  await write("included", `[core]\n\tfsmonitor = sh -c "echo fsmonitor >> ${marker}"\n`);
  const config = {
    "filter.evil.clean": run,
    "filter.evil.smudge": run,
    "filter.evil.process": run,
    "diff.evil.textconv": run,
    "diff.evil.command": run,
    "diff.external": run,
    "merge.evil.driver": run,
    "core.fsmonitor": `${folder}/.git/hooks/fsmonitor-watchman`,
    "core.sshCommand": run,
    "core.alternateRefsCommand": run,
    "core.pager": run,
    "uploadpack.packObjectsHook": run,
    "include.path": "../included",
    "gc.auto": "1",
  };
  for (const [name, value] of Object.entries(config)) {
    await Deno.writeTextFile(`${folder}/.git/config`, line(name, value), { append: true });
  }
}

function line(name: string, value: string): string {
  const parts = name.split(".");
  const [section = "", key = ""] = [parts[0], parts.at(-1)];
  const sub = parts.length > 2 ? ` "${parts[1]}"` : "";
  return `[${section}${sub}]\n\t${key} = "${
    value.replaceAll("\\", "\\\\").replaceAll('"', '\\"')
  }"\n`;
}

Deno.test("nothing of mallory's repository runs, leads out or is converted: from its copy to the merged change", async () => {
  if (!needs("git")) return;
  let marker = "";
  const seen = new Set<string>();
  await onSwarm({
    plan: PLAN,
    does: approving((ask, read) => {
      for (const { name } of Deno.readDirSync(ask.folder)) seen.add(name);
      // As it was committed: no line end, no encoding of an attribute's.
      assert.match(read("phrases.txt"), /^greeting: Hello\n/);
      assert.match(read("deep/inside"), /^greeting: Hello\n/);
      return { files: { "phrases.txt": read("phrases.txt").replace("Hello", "Hi") } };
    }),
    async prepare(folder) {
      marker = `${folder}.marker`;
      await arm(folder, marker);
      // That the arms are sharp is seen where a person runs git in it.
      await personsGit(folder, "status");
      await assert.doesNotReject(Deno.stat(marker));
      await Deno.remove(marker);
    },
  }, async (rig) => {
    const { issues } = await rig.run();
    assert.equal(issues.get("a")?.status, "merged", issues.get("a")?.why);
    assert.match(await rig.content("phrases.txt") ?? "", /^greeting: Hi\n/);
    assert.deepEqual([...seen].sort(), [
      ".gitattributes",
      ".gitmodules",
      "check.sh",
      "deep",
      "here",
      "phrases.txt",
    ]);
    // Links and the submodule are in the tree as they were: only nobody is handed them.
    const tip = await rig.mirror.tree(await rig.mirror.tip());
    assert.deepEqual(tip.left.map(({ path }) => path), ["sub"]);
    assert(tip.files.some(({ path, mode }) => path === "absolute" && mode === "120000"));
    await assert.rejects(Deno.stat(marker), Deno.errors.NotFound);
  });
});

Deno.test("a tree that holds .git under any of its names is not taken", async () => {
  if (!needs("git")) return;
  await onSwarm({ plan: PLAN, does: () => ({}) }, async ({ dir, powers, repository }) => {
    const blob = await personsGit(repository, "rev-parse", "HEAD:phrases.txt");
    for (const name of [".git", ".GIT", ".git ", "git~1", ".g\u200cit"]) {
      const objects = `${repository}/.git/objects`;
      const tree = await writeObject(objects, "tree", entry(name, blob));
      const text = `tree ${tree}\nauthor a <a@a> 1 +0000\ncommitter a <a@a> 1 +0000\n\nx\n`;
      const commit = await writeObject(objects, "commit", new TextEncoder().encode(text));
      const mirror = makeMirror(powers, `${dir}/other-${name.codePointAt(1)}-${name.length}.git`);
      await assert.rejects(
        mirror.take({ commit, objects }),
        /Cannot (keep|use) the repository/,
        name,
      );
    }
  });
});

function entry(name: string, blob: string): Uint8Array {
  const head = new TextEncoder().encode(`100644 ${name}\0`);
  const oid = Uint8Array.from(blob.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  return Uint8Array.from([...head, ...oid]);
}

/** As git keeps it, whatever git thinks of it. */
async function writeObject(objects: string, type: string, body: Uint8Array): Promise<string> {
  const whole = Uint8Array.from([...new TextEncoder().encode(`${type} ${body.length}\0`), ...body]);
  const name = Array.from(
    new Uint8Array(await crypto.subtle.digest("SHA-1", whole)),
    (byte) => byte.toString(16).padStart(2, "0"),
  ).join("");
  const packed = new Response(whole).body?.pipeThrough(new CompressionStream("deflate"));
  await Deno.mkdir(`${objects}/${name.slice(0, 2)}`, { recursive: true });
  await Deno.writeFile(
    `${objects}/${name.slice(0, 2)}/${name.slice(2)}`,
    new Uint8Array(await new Response(packed).arrayBuffer()),
  );
  return name;
}

Deno.test("a repository whose parts lie elsewhere, or that names its commit by a way out, is refused in words", async () => {
  if (!needs("git")) return;
  await onSwarm({ plan: PLAN, does: () => ({}) }, async ({ dir, repository }) => {
    const powers = realSwarmPowers(dir);
    const at = `${dir}/evil`;
    await Deno.mkdir(at);
    assert.throws(() => findBase(powers, at), /no \.git/);
    await Deno.writeTextFile(`${at}/.git`, `gitdir: ${repository}/.git\n`);
    assert.throws(() => findBase(powers, at), /linked worktree or a submodule/);
    await Deno.remove(`${at}/.git`);
    await Deno.symlink(`${repository}/.git`, `${at}/.git`);
    assert.throws(() => findBase(powers, at), /no folder/);
    await Deno.remove(`${at}/.git`);
    await Deno.mkdir(`${at}/.git`);
    await Deno.symlink(`${repository}/.git/objects`, `${at}/.git/objects`);
    assert.throws(() => findBase(powers, at), /objects is no folder/);
    await Deno.remove(`${at}/.git/objects`);
    await Deno.mkdir(`${at}/.git/objects`);
    for (const head of ["ref: refs/../../../etc/passwd", "ref: /etc/passwd", "what"]) {
      await Deno.writeTextFile(`${at}/.git/HEAD`, head);
      assert.throws(() => findBase(powers, at), /HEAD names neither/);
    }
    await Deno.writeTextFile(`${at}/.git/HEAD`, "ref: refs/heads/main\n");
    assert.throws(() => findBase(powers, at), /no commit yet/);
  });
});
