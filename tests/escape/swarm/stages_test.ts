/** A gated pipeline: who settles a stage badly settles nothing, and who works past the design has done nothing. */
import assert from "node:assert/strict";
import { planOf } from "../../../swarm/plan.ts";
import { approving, Killed, onSwarm, type SwarmRig } from "../../fake/swarm_rig.ts";
import { needs } from "../../needs.ts";

const PLAN = planOf({
  version: 1,
  issues: [{ id: "a", title: "A" }],
  stages: ["requirements", "design", "plan"],
  limits: { workers: 1, attempts: 2 },
}, (why) => new Error(why));

const SETTLES: Readonly<Record<string, object>> = {
  requirements: { requirements: [{ id: "r1", must: "It greets", acceptance: "check.sh" }] },
  design: { files: [{ path: "phrases.txt", change: "It greets" }] },
  plan: {
    steps: [{
      ...{ id: "s1", does: "Greet", files: ["phrases.txt"], meets: ["r1"] },
      ...{ gate: "check.sh", rollback: "undo" },
    }],
  },
};

/** The first who settles a stage, and the first who works, does it badly. */
const does = approving(({ work, request }, read) => {
  const stage = /settle one thing: its (\w+)\./.exec(request)?.[1] ?? "";
  const first = !request.includes("An earlier try");
  if (work === "stage") {
    if (!first) return { answer: JSON.stringify(SETTLES[stage]) };
    return stage === "requirements"
      ? { answer: "All requirements are met, go on." }
      : stage === "design"
      ? { answer: '{"files":[{"path":"../../etc/passwd","new":true,"change":"x"}]}' }
      // It writes, too.
      : { answer: JSON.stringify(SETTLES[stage]), files: { "phrases.txt": "mine" } };
  }
  const files = { "phrases.txt": read("phrases.txt").replace("Hello", "Hi") };
  return { files: first ? { ...files, "check.sh": "exit 0\n" } : files };
});

const outcomes = ({ lines }: SwarmRig): readonly string[] => {
  const events = lines.map((line) => JSON.parse(line));
  return events.filter(({ kind }) => kind === "ended").map(({ attempt, outcome }) => {
    const { work, stage } = events.find((each) =>
      each.kind === "assigned" && each.attempt === attempt
    );
    return `${stage ?? work}: ${outcome.reason ?? outcome.kind}`;
  });
};
const WHOLE = [
  ...["requirements: misfit", "requirements: settled", "design: misfit", "design: settled"],
  ...["plan: refused", "plan: settled", "author: refused", "author: patch", "review: approved"],
];

Deno.test("no stage is skipped, none is passed by words, and a change outside the design is none", async () => {
  if (!needs("git")) return;
  await onSwarm({ plan: PLAN, does }, async (rig) => {
    const state = await rig.run();
    assert.equal(state.finished?.status, "done");
    assert.deepEqual(outcomes(rig), WHOLE);
    const review = [...rig.asked.values()].find(({ work }) => work === "review");
    assert.match(
      review?.request ?? "",
      /settled before, as data \(requirements\):[\s\S]*It greets/,
    );
    assert.equal(await rig.content("check.sh"), "grep -q '^greeting: ' phrases.txt\n");
  });
});

Deno.test("what a planner had read goes with its words: the author is told so, and begins with its label", async () => {
  if (!needs("git")) return;
  const stages = planOf({
    version: 1,
    issues: [{ id: "a", title: "A" }, { id: "b", title: "B", after: ["a"] }],
    stages: ["requirements"],
    limits: { workers: 1 },
  }, (why) => new Error(why));
  const reads = approving(({ work, request, session }) =>
    work === "author" ? { files: { [`${session}.txt`]: "x" } } : {
      answer: JSON.stringify(SETTLES["requirements"]),
      ...(request.includes("Issue a:") ? { label: "secret" } : {}),
    }
  );
  await onSwarm({ plan: stages, does: reads }, async (rig) => {
    await assert.rejects(rig.run({ crash: { at: 3, when: "after" } }), Killed);
    const state = await rig.run();
    assert.equal(state.finished?.status, "done");
    assert.deepEqual(
      [...rig.asked.values()].map(({ work, heard, label }) => `${work} ${heard} ${label}`),
      [
        ...["stage false public", "author true secret", "review true secret"],
        // The change of "a" is merged in the tree that "b" begins with: its author's label goes along.
        ...["stage false internal", "author true internal", "review true internal"],
      ],
    );
  });
});

Deno.test("who never settles a stage is given up: nobody works on the issue", async () => {
  if (!needs("git")) return;
  const never = approving(() => ({ answer: "It is settled." }));
  await onSwarm({ plan: PLAN, does: never }, async (rig) => {
    const state = await rig.run();
    assert.match(state.issues.get("a")?.why ?? "", /2 workers tried the requirements; the last/);
    assert.deepEqual(outcomes(rig), ["requirements: misfit", "requirements: misfit"]);
  });
});

Deno.test("killed after a stage passed, it is not settled again", async () => {
  if (!needs("git")) return;
  await onSwarm({ plan: PLAN, does }, async (rig) => {
    // Each task has three events: the sixth says what the requirements are.
    await assert.rejects(rig.run({ crash: { at: 6, when: "after" } }), Killed);
    const state = await rig.run();
    assert.equal(state.finished?.status, "done");
    assert.deepEqual(outcomes(rig), WHOLE);
  });
});
