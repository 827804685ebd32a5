/** Two workers on one file: what can be merged is, what cannot is told to both sides by name, and nobody's work is lost. */
import assert from "node:assert/strict";
import { planOf } from "../../../swarm/plan.ts";
import { approving, onSwarm } from "../../fake/swarm_rig.ts";
import { needs } from "../../needs.ts";

const PLAN = planOf({
  version: 1,
  issues: [{ id: "a", title: "A" }, { id: "b", title: "B" }],
  limits: { workers: 2, attempts: 5 },
}, (why) => new Error(why));

Deno.test("changes of other lines merge; of one line, who comes second begins anew from what was merged", async () => {
  if (!needs("git")) return;
  await onSwarm({
    plan: PLAN,
    does: approving((ask, read) => {
      const now = read("phrases.txt");
      const a = ask.request.includes("Issue a:");
      // The second try of b sees what a did.
      return {
        files: {
          "phrases.txt": now.replace(/greeting: (.*)/, a ? "greeting: A" : "greeting: $1 and B"),
        },
        ms: a ? 1 : 300,
      };
    }),
  }, async (rig) => {
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
    assert.match(
      b?.handoffs.at(-1)?.why ?? "",
      new RegExp(`conflicts with "a" \\(task ${task}\\) in phrases.txt`),
    );
  });
});

Deno.test("who conflicts twice is reported, and does not hold up the others", async () => {
  if (!needs("git")) return;
  let other = 0;
  await onSwarm({
    plan: PLAN,
    does: approving((ask, read) => {
      if (ask.request.includes("Issue a:")) {
        return {
          files: { "phrases.txt": read("phrases.txt").replace("Hello", `A${other}`) },
          ms: 1,
        };
      }
      return {
        files: { "phrases.txt": read("phrases.txt").replace(/greeting: .*/, "greeting: B") },
        ms: 400,
      };
    }),
  }, async (rig) => {
    // Somebody else moves the branch under b's second try, as a third issue would.
    const { swap, tip, commit } = rig.mirror;
    const state = await rig.run();
    assert.equal(state.issues.get("a")?.status, "merged");
    assert.equal(state.issues.get("b")?.status, "merged");
    // The branch moves by compare-and-swap: a stale view of it moves nothing.
    const now = await tip();
    other += 1;
    const mine = await commit(now, {
      ...{ ref: "refs/remit/test", message: "x", at: 0 },
      changes: [{ path: "new.txt", bytes: new TextEncoder().encode("x") }],
    });
    assert.equal(await swap(mine.commit, state.begun.base), false);
    assert.equal(await tip(), now);
    assert.equal(await swap(mine.commit, now), true);
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
