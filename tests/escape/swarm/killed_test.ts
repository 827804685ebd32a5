/** The scheduler and the merge queue, killed before and after every event that they write: what comes of it is the same. */
import assert from "node:assert/strict";
import { planOf } from "../../../swarm/plan.ts";
import { approving, Killed, onSwarm } from "../../fake/swarm_rig.ts";
import { needs } from "../../needs.ts";

const PLAN = planOf({
  version: 1,
  issues: [{ id: "a", title: "A" }, { id: "b", title: "B" }],
  checks: [{ name: "phrases", command: ["sh", "check.sh"] }],
  limits: { workers: 1 },
}, (why) => new Error(why));

const does = approving((ask, read) => ({
  files: ask.request.includes("Issue a:")
    ? { "phrases.txt": read("phrases.txt").replace("Hello", "A") }
    : { "phrases.txt": read("phrases.txt").replace("Bye", "B") },
}));

Deno.test("killed at every step, a swarm goes on: the same commits, no task twice, nothing lost", async () => {
  if (!needs("git")) return;
  let kinds: readonly string[] = [];
  let whole = { tip: "", tasks: 0 };
  await onSwarm({ plan: PLAN, does }, async (rig) => {
    const state = await rig.run();
    assert.equal(state.finished?.status, "done");
    kinds = rig.lines.slice(1).map((line) => JSON.parse(line).kind);
    whole = { tip: await tree(rig), tasks: rig.asked.size };
  });
  assert(kinds.length > 15, kinds.join(", "));
  for (const [n, kind] of kinds.entries()) {
    // Around a merge both; elsewhere one of the two, in turn.
    const times = kind.startsWith("merg")
      ? ["before", "after"] as const
      : [n % 2 === 0 ? "before" : "after"] as const;
    for (const when of times) {
      await onSwarm({ plan: PLAN, does }, async (rig) => {
        await assert.rejects(rig.run({ crash: { at: n + 1, when } }), Killed);
        const state = await rig.run();
        const what = `killed ${when} event ${n + 1}, ${kind}`;
        assert.equal(state.finished?.status, "done", what);
        assert.deepEqual([await tree(rig), rig.asked.size], [whole.tip, whole.tasks], what);
        // Written once each, however often it was begun.
        const merged = rig.lines.filter((line) => line.includes('"kind":"merged"'));
        assert.equal(merged.length, 2, what);
      });
    }
  }
});

async function tree(
  { mirror }: {
    readonly mirror: { tip(): Promise<string>; treeOf(commit: string): Promise<string> };
  },
): Promise<string> {
  return await mirror.treeOf(await mirror.tip());
}
