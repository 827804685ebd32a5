import assert from "node:assert/strict";
import { parsePlan } from "./plan.ts";

const HEAD = "version: 1\nissues:\n";

Deno.test("a plan that says little gets the usual limits and roles", () => {
  const plan = parsePlan(`${HEAD}  - { id: a, title: Greet }\n`, "swarm.yaml");
  assert.deepEqual([plan.author, plan.reviewer, plan.reviews], ["coder", "reviewer", 1]);
  assert.deepEqual([plan.limits.workers, plan.limits.attempts, plan.limits.money], [2, 3, 10]);
});

Deno.test("a plan that is wrong is refused by the setting that is", () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ["version: 1\n", /issues/],
    [`${HEAD}  - { id: A, title: x }\n`, /issues\.0\.id/],
    [`${HEAD}  - { id: a, title: x }\n  - { id: a, title: y }\n`, /"a" is given twice/],
    [`${HEAD}  - { id: a, title: x, after: [b] }\n`, /no issue is called "b"/],
    [
      `${HEAD}  - { id: a, title: x, after: [b] }\n  - { id: b, title: y, after: [a] }\n`,
      /"a" waits for itself/,
    ],
    [`${HEAD}  - { id: a, title: x, role: reviewer }\n`, /nobody reviews work of their own role/],
    [`${HEAD}  - { id: a, title: x }\nauthor: same\nreviewer: same\n`, /nobody reviews/],
    [`${HEAD}  - { id: a, title: x }\nroles: { cook: {} }\n`, /no issue has this role/],
    [`${HEAD}  - { id: a, title: x, paths: ["../out"] }\n`, /paths\.0/],
    [`${HEAD}  - { id: a, title: x }\nlimits: { workers: 1000 }\n`, /limits\.workers/],
    [`${HEAD}  - { id: a, title: x }\nchecks: [{ name: t, command: [] }]\n`, /checks\.0\.command/],
    [`${HEAD}  - { id: a, title: x }\nextra: 1\n`, /extra/],
    ["[", /Cannot read swarm "swarm\.yaml"/],
    ["x".repeat(1_000_001), /longer than/],
  ];
  for (const [text, why] of cases) {
    assert.throws(() => parsePlan(text, "swarm.yaml"), why, text.slice(0, 200));
  }
});
