import assert from "node:assert/strict";
import type { WikiOps } from "../../_fixture/wikis.ts";
import { body, PAGE, PATCH, rig } from "../_fixture/rig.ts";

Deno.test("review lists, shows and decides patches, and says that a page was read", async () => {
  const ops: WikiOps = {
    patches: () => [PATCH],
    patch: () => ({ patch: PATCH, diff: "--- a\n+++ b\n+new\n" }),
    decide: (given) => ({
      ...PATCH,
      state: body(given)["apply"] === true ? "applied" : "rejected",
    }),
    page: () => ({ page: PAGE, history: [], backlinks: [] }),
    review: () => PAGE,
  };
  const at = await rig({ ops });
  assert.equal(await at.run("review"), 0);
  assert.match(at.out(), /w000000000001 .*task:t1: new words/);
  assert.equal(await at.run("review", PATCH.id), 0);
  assert.match(at.out(), /\+new/);
  assert.equal(await at.run("review", PATCH.id, "--reject"), 0);
  assert.equal(await at.run("review", "--page", "lease"), 0);
  assert.deepEqual(at.asked("review"), [{ name: "lease", version: 3, by: "alice" }]);
  assert.equal(await at.run("review", "nonsense"), 2);
  assert.equal(await at.run("review", PATCH.id, "--apply", "--reject"), 2);
  const typed = await rig({ ops, types: ["no"] });
  assert.equal(await typed.run("review", PATCH.id), 0);
  assert.deepEqual(typed.asked("decide"), [{ id: PATCH.id, apply: false, by: "alice" }]);
});

Deno.test("many patches are asked about at once, and --all decides without asking", async () => {
  const many = Array.from({ length: 5 }, (_, n) => ({ ...PATCH, id: `w00000000000${n}` }));
  const ops: WikiOps = {
    patches: () => many,
    decide: (given) => ({ ...PATCH, id: body(given)["id"], state: "applied" }),
  };
  const at = await rig({ ops, types: ["yes"] });
  assert.equal(await at.run("review", "--all"), 0);
  assert.equal(at.asked("decide").length, 5);
  assert.match(at.said(), /5 patches of 5 applied/);
  const left = await rig({ ops, types: [""] });
  assert.equal(await left.run("review", "--all"), 0);
  assert.equal(left.asked("decide").length, 0);
  const nobody = await rig({ ops });
  assert.equal(await nobody.run("review", "--all"), 64);
  assert.equal(await nobody.run("review", "--all", "--apply"), 0);
  assert.equal(nobody.asked("decide").length, 5);
});
