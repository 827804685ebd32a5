import assert from "node:assert/strict";
import { body, PATCH, rig } from "../_fixture/rig.ts";

Deno.test("lint exits with 1 for errors alone, and --fix decides each patch at a terminal", async () => {
  const finding = {
    ...{ rule: "stalePage", severity: "warning", file: "pages/lease.md", line: 3 },
    ...{ message: "it is old", remedy: "ingest it", fixable: true },
  };
  const warning = await rig({ ops: { lint: () => [finding] } });
  assert.equal(await warning.run("lint"), 0);
  assert.match(warning.out(), /^w\/pages\/lease\.md:3: warning stalePage: it is old\n/);
  let fixed = false;
  const at = await rig({
    types: ["yes"],
    ops: {
      lint: () => fixed ? [] : [{ ...finding, severity: "error" }],
      lintFix: () => [PATCH],
      patch: () => ({ patch: PATCH, diff: "--- a\n+++ b\n-old\n+new\n" }),
      decide(given) {
        fixed = body(given)["apply"] === true;
        return { ...PATCH, state: "applied" };
      },
    },
  });
  assert.equal(await at.run("lint", "--fix"), 0);
  assert.deepEqual(at.asked("decide"), [{ id: PATCH.id, apply: true, by: "alice" }]);
  assert.match(at.said(), /\+new/);
  const alone = await rig({
    ops: { lint: () => [{ ...finding, severity: "error" }], lintFix: () => [PATCH] },
  });
  assert.equal(await alone.run("lint", "--fix", "--json"), 1);
  assert.deepEqual(JSON.parse(alone.out()).patches, [PATCH.id]);
  assert.equal(await alone.run("lint", "--rule", "nonsense"), 2);
});
