import assert from "node:assert/strict";
import { MountName } from "../../contracts/authority/mod.ts";
import { AgentSpec } from "../../contracts/policy/mod.ts";
import type { Mount } from "../../contracts/tool/mod.ts";
import { chooseAgent, instructionsIn, limitsOf, mountsOf } from "./agent_choice.ts";

const scribe = AgentSpec.parse({
  name: "scribe",
  labels: {},
  persona: "You tidy notes.",
  mounts: ["desk"],
  limits: { money: 0.2, toolCalls: 900 },
  env: {},
});
const mount = (name: string): Mount => ({
  name: MountName.parse(name),
  dir: `/home/alice/${name}`,
  mode: "stage",
  colour: "YELLOW",
  label: "internal",
  marks: [],
});

Deno.test("an agent that remit.yaml does not describe is refused with those that it does", () => {
  assert.equal(chooseAgent({ scribe }, undefined), undefined);
  assert.equal(chooseAgent({ scribe }, "scribe"), scribe);
  assert.throws(() => chooseAgent({ scribe }, "constructor"), /remit.yaml names "scribe"/);
  assert.throws(() => chooseAgent({}, "scribe"), /names no agents/);
});

Deno.test("an agent sees its own mounts, and its limits never pass the policy's", () => {
  assert.deepEqual(mountsOf(scribe, [mount("desk"), mount("photos")]).map(({ name }) => name), [
    "desk",
  ]);
  assert.equal(mountsOf(undefined, [mount("desk"), mount("photos")]).length, 2);
  assert.deepEqual(limitsOf(scribe, { toolCalls: 100 }), { toolCalls: 100, money: 0.2 });
});

Deno.test("instruction files are found by name, one for each mount, and only named, not read", () => {
  const there = new Set(["/home/alice/desk/CLAUDE.md", "/home/alice/desk/AGENTS.md"]);
  const looked: string[] = [];
  const found = instructionsIn([mount("desk"), mount("photos")], (path) => {
    looked.push(path);
    return there.has(path);
  });
  assert.deepEqual(found, ["desk/AGENTS.md"]);
  assert.equal(looked.includes("/home/alice/photos/AGENTS.md"), true);
});
