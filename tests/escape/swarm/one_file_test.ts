/** Two workers on one file: what can be merged is, what cannot is told to both sides by name, and nobody's work is lost. */
import assert from "node:assert/strict";
import { planOf } from "../../../swarm/plan.ts";
import { approving, onSwarm, type SwarmRig } from "../../fake/swarm_rig.ts";
import { personsGit } from "../../fake/swarm.ts";
import { needs } from "../../needs.ts";

const PLAN = planOf({
  version: 1,
  issues: [{ id: "a", title: "A" }, { id: "b", title: "B" }],
  limits: { workers: 2, attempts: 5 },
}, (why) => new Error(why));

const merged = (rig: Pick<SwarmRig, "lines"> | undefined, issue: string): boolean =>
  rig?.lines.some((line) =>
    line.includes('"kind":"merged"') && line.includes(`"issue":"${issue}"`)
  ) ?? false;

Deno.test("of one line, who comes second begins anew from what was merged, and both are named", async () => {
  if (!needs("git")) return;
  let rig: SwarmRig | undefined;
  await onSwarm({
    plan: PLAN,
    does: approving((ask, read) => {
      const greeting = (words: string): string =>
        read("phrases.txt").replace(/greeting: (.*)/, `greeting: ${words}`);
      if (ask.request.includes("Issue a:")) return { files: { "phrases.txt": greeting("A") } };
      // Its first try began before a was merged, and ends after.
      return { files: { "phrases.txt": greeting("$1 and B") }, once: () => merged(rig, "a") };
    }),
  }, async (made) => {
    rig = made;
    const state = await rig.run();
    assert.equal(state.finished?.status, "done");
    const b = state.issues.get("b");
    const [conflict] = b?.conflicts ?? [];
    const task = state.issues.get("a")?.merged?.task;
    assert.deepEqual([conflict?.paths, conflict?.others], [["phrases.txt"], [{
      issue: "a",
      task,
    }]]);
    assert.match(await rig.content("phrases.txt") ?? "", /^greeting: A and B\n/);
    const why = `conflicts with "a" \\(task ${task}\\) in phrases.txt`;
    assert.match(b?.handoffs.at(-1)?.why ?? "", new RegExp(why));
  });
});

Deno.test("who conflicts twice is reported with both tasks and the path, and does not hold up the others", async () => {
  if (!needs("git")) return;
  let rig: SwarmRig | undefined;
  const plan = planOf({
    version: 1,
    issues: [{ id: "a", title: "A" }, { id: "b", title: "B" }, {
      id: "c",
      title: "C",
      after: ["a"],
    }],
    limits: { workers: 3, attempts: 5 },
  }, (why) => new Error(why));
  await onSwarm({
    plan,
    does: approving((ask, read) => {
      const files = {
        "phrases.txt": read("phrases.txt").replace(/greeting: .*/, `greeting: ${ask.session}`),
      };
      if (ask.request.includes("Issue a:")) return { files };
      const tries = (): readonly string[] =>
        [...rig?.asked.values() ?? []].flatMap(({ work, request, session }) =>
          work === "author" && request.includes("Issue b:") ? session : []
        );
      // c ends once b's second worker has begun, from the same tip; that one ends once c is merged.
      if (ask.request.includes("Issue c:")) return { files, once: () => tries().length > 1 };
      return { files, once: () => merged(rig, tries()[0] === ask.session ? "a" : "c") };
    }),
  }, async (made) => {
    rig = made;
    const state = await rig.run();
    const b = state.issues.get("b");
    assert.deepEqual(
      [...state.issues.values()].map(({ issue, status }) => `${issue.id} ${status}`),
      ["a merged", "b conflicted", "c merged"],
    );
    const task = state.issues.get("c")?.merged?.task ?? "";
    assert.equal(b?.conflicts.length, 2);
    assert(b?.why.includes(`"c" (task ${task}) in phrases.txt`), b?.why);
    assert.equal(state.finished?.status, "partly");
  });
});

Deno.test("the branch moves by compare-and-swap: a stale view of it moves nothing, and nothing is overwritten", async () => {
  if (!needs("git")) return;
  const does = approving((_, read) => ({
    files: { "phrases.txt": read("phrases.txt").replace("Hello", "Hi") },
  }));
  await onSwarm({ plan: PLAN, does }, async ({ mirror, dir }) => {
    const base = await mirror.tip();
    const change = (path: string): ReturnType<typeof mirror.commit> =>
      mirror.commit(base, {
        ...{ ref: `refs/remit/${path}`, message: path, at: 0 },
        changes: [{ path, bytes: new TextEncoder().encode("x") }],
      });
    const [one, two] = [await change("one"), await change("two")];
    assert.equal(await mirror.swap(one.commit, base), true);
    assert.equal(await mirror.swap(two.commit, base), false);
    assert.equal(await mirror.tip(), one.commit);
    // A lock that a killed process left holds up nobody for ever.
    const lock = `${dir}/mirror.git/refs/heads/swarm.lock`;
    await Deno.writeTextFile(lock, "");
    const three = await mirror.commitTree(two.tree, {
      parent: one.commit,
      message: "three",
      at: 0,
    });
    assert.equal(await mirror.swap(three, one.commit), false);
    await mirror.mend();
    assert.equal(await mirror.swap(three, one.commit), true);
    // What Remit wrote is what git would have written.
    assert.equal(
      await personsGit(`${dir}/mirror.git`, "fsck", "--strict", "--no-dangling", "swarm"),
      "",
    );
    const [subject, parent] =
      (await personsGit(`${dir}/mirror.git`, "log", "-1", "--format=%s %P", "swarm")).split(" ");
    assert.deepEqual([subject, parent], ["three", one.commit]);
  });
});

Deno.test("a repository whose names are SHA-256 is merged as any other", async () => {
  if (!needs("git")) return;
  await onSwarm({
    plan: PLAN,
    does: approving((ask) => ({ files: { [`${ask.session}.txt`]: "x" } })),
    async prepare(folder) {
      await Deno.remove(`${folder}/.git`, { recursive: true });
      await personsGit(
        folder,
        "init",
        "--quiet",
        "--initial-branch=main",
        "--object-format=sha256",
      );
      await personsGit(folder, "add", "--all");
      await personsGit(folder, "commit", "--quiet", "--message=first");
      // A branch in packed-refs, as after a clone.
      await personsGit(folder, "pack-refs", "--all");
    },
  }, async (rig) => {
    const state = await rig.run();
    assert.equal(state.finished?.status, "done");
    assert.equal((await rig.mirror.tip()).length, 64);
    assert.equal(
      await personsGit(`${rig.dir}/mirror.git`, "fsck", "--strict", "--no-dangling", "swarm"),
      "",
    );
  });
});

Deno.test("two issues that claim the same folder are worked on one after the other", async () => {
  if (!needs("git")) return;
  const plan = planOf({
    version: 1,
    issues: [
      { id: "a", title: "A", paths: ["src/"] },
      { id: "b", title: "B", paths: ["src/deep/x.txt"] },
      { id: "c", title: "C", after: ["a"] },
    ],
    limits: { workers: 3 },
  }, (why) => new Error(why));
  await onSwarm({
    plan,
    does: approving((ask) => ({ files: { [`${ask.session}.txt`]: "x" }, ms: 50 })),
  }, async (rig) => {
    const state = await rig.run();
    assert.equal(state.finished?.status, "done");
    const kinds = rig.lines.map((line) => JSON.parse(line)).filter(({ kind, work }) =>
      kind === "merged" || (kind === "assigned" && work === "author")
    ).map(({ kind, issue }) => `${kind} ${issue}`);
    assert(kinds.indexOf("merged a") < kinds.indexOf("assigned b"), kinds.join(", "));
    assert(kinds.indexOf("merged a") < kinds.indexOf("assigned c"), kinds.join(", "));
  });
});
