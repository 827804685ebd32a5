import assert from "node:assert/strict";
import { planOf } from "./plan.ts";
import { type Passed, passStage, type Stage, strayOf } from "./stages.ts";

const FILES = ["src/a.ts", "docs/a.md"];
const gate = (stage: Stage, value: unknown, passed: Passed = {}, paths: string[] = []): string => {
  const answer = typeof value === "string" ? value : JSON.stringify(value);
  const came = passStage(stage, answer, { issue: { paths }, files: FILES, passed });
  return "misfit" in came ? came.misfit : "passes";
};
const required = (...ids: string[]): object => ({
  requirements: ids.map((id) => ({ id, must: "It greets", acceptance: "check.sh is good" })),
});
const designed = (path: string, added = false): object => ({
  files: [{ path, new: added, change: "It greets" }],
});
const step = (more: object = {}): object => ({
  steps: [{
    ...{ id: "s1", does: "Greet", files: ["src/a.ts"], meets: ["r1"], gate: "g", rollback: "r" },
    ...more,
  }],
});
const PASSED: Passed = {
  requirements: JSON.stringify(required("r1")),
  design: JSON.stringify(designed("src/a.ts")),
};

Deno.test("each stage passes by its form and by what is there, and says what is wrong", () => {
  assert.equal(gate("requirements", required("r1", "r2")), "passes");
  assert.equal(
    gate("requirements", "```json\n" + JSON.stringify(required("r1")) + "\n```"),
    "passes",
  );
  assert.match(gate("requirements", "All requirements are met."), /no JSON object/);
  assert.match(gate("requirements", required()), /requirements/);
  assert.match(gate("requirements", required("r1", "r1")), /"r1" stands twice/);
  assert.match(gate("requirements", { ...required("r1"), approved: true }), /approved/);
  assert.equal(gate("design", designed("src/a.ts")), "passes");
  assert.equal(gate("design", designed("src/b.ts", true), {}, ["src/"]), "passes");
  assert.match(gate("design", designed("src/b.ts")), /not there, and is not new/);
  assert.match(gate("design", designed("src/a.ts", true)), /there already/);
  assert.match(gate("design", designed("docs/a.md"), {}, ["src/"]), /outside of what the issue/);
  for (const path of ["../x", ".git/config", "src//a.ts"]) {
    assert.notEqual(gate("design", designed(path, true)), "passes", path);
  }
  assert.equal(gate("plan", step(), PASSED), "passes");
  assert.match(gate("plan", step({ meets: [] }), PASSED), /no step meets requirement "r1"/);
  assert.match(gate("plan", step({ meets: ["r1", "r9"] }), PASSED), /no requirement "r9"/);
  assert.match(gate("plan", step({ files: ["docs/a.md"] }), PASSED), /no file of the design/);
  assert.equal(gate("plan", step({ files: ["docs/a.md"], meets: [] })), "passes");
});

Deno.test("a change keeps to the files of its design; without one it is free", () => {
  assert.equal(strayOf(PASSED, ["src/a.ts"]), undefined);
  assert.match(strayOf(PASSED, ["src/a.ts", "docs/a.md"]) ?? "", /"docs\/a.md"/);
  assert.equal(strayOf({}, ["docs/a.md"]), undefined);
});

Deno.test("stages stand once each, in their order, and their planner has a use", () => {
  const plan = (more: object): unknown =>
    planOf({ version: 1, issues: [{ id: "a", title: "A" }], ...more }, (why) => new Error(why));
  plan({ stages: ["requirements", "plan"], roles: { researcher: {} } });
  assert.throws(() => plan({ stages: ["plan", "design"] }), /in this order/);
  assert.throws(() => plan({ stages: ["plan", "plan"] }), /in this order/);
  assert.throws(() => plan({ roles: { researcher: {} } }), /no issue has this role/);
});
