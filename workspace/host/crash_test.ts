import { deepEqual, equal, ok } from "node:assert/strict";
import type { Json, JsonObject } from "../../contracts/base/json.ts";
import { sha256Hex } from "../../port/digest.ts";
import { makeRig, NEVER, type Rig } from "../_fixture/rig.ts";
import { changeJson, patchDigest, reverseOf } from "../patch.ts";
import { UNDO } from "../_wire.ts";

const FIXTURE = new URL("./_fixture/crash_child.ts", import.meta.url).pathname;

/** Runs one call in a process of its own. Returns true when it was killed. */
async function runMortal(
  rig: Rig,
  call: {
    readonly tool: string;
    readonly args: JsonObject;
    readonly at: number;
    readonly torn: boolean;
  },
): Promise<boolean> {
  const mount = {
    name: "desk",
    root: rig.desk,
    mode: "stage",
    colour: "YELLOW",
    label: "internal",
    marks: [],
  };
  const setup: Json = {
    mounts: [mount],
    content: `${rig.root}/content`,
    scratch: `${rig.root}/scratch`,
    never: NEVER,
    overlay: [],
    scratchQuota: 0,
  };
  const body = {
    id: "c",
    tool: call.tool,
    args: call.args,
    deadlineMs: 100_000,
    bytes: 1_000,
    key: sha256Hex("k"),
    colour: "BLUE",
    label: "public",
  };
  const text = JSON.stringify({ setup, body, at: call.at, torn: call.torn });
  const { signal, success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", "--quiet", FIXTURE, text],
  }).output();
  ok(success || signal === "SIGKILL", new TextDecoder().decode(stderr));
  return !success;
}

async function stageMuch(rig: Rig): Promise<void> {
  rig.put("a.md", "a");
  rig.put("b/c.md", "c");
  rig.put("gone.md", "gone");
  await rig.call("file_write", { path: "desk/a.md", content: "A".repeat(100) });
  await rig.call("file_write", { path: "desk/b/c.md", content: "C" });
  await rig.call("file_write", { path: "desk/new/deep/d.md", content: "D" });
  await rig.call("file_delete", { path: "desk/gone.md" });
}

const AFTER = {
  "a.md": "A".repeat(100),
  "b/": "",
  "b/c.md": "C",
  "new/": "",
  "new/deep/": "",
  "new/deep/d.md": "D",
};

for (const torn of [false, true]) {
  const how = torn ? ", leaving a torn file," : "";
  Deno.test(`a host killed${how} before any of its changes is finished by a second run`, async () => {
    let kills = 0;
    for (let at = 0; at < 30; at++) {
      using rig = makeRig();
      await stageMuch(rig);
      const before = rig.tree();
      const changes = rig.workspace.overlay();
      const args = { patch: patchDigest(changes), changes: changes.map(changeJson) };
      if (!await runMortal(rig, { tool: "patch_apply", args, at, torn })) {
        deepEqual(rig.tree(), AFTER);
        break;
      }
      kills++;
      await rig.call("patch_apply", {});
      deepEqual(rig.tree(), AFTER, `killed before change ${at}`);
      await rig.undo();
      deepEqual(rig.tree(), before, `undone after a kill before change ${at}`);
    }
    // Two folders, three new contents, four renames, one removal.
    equal(kills, 10);
  });
}

Deno.test("an undo that was killed at any change is finished by a second run", async () => {
  let kills = 0;
  for (let at = 0; at < 30; at++) {
    using rig = makeRig();
    await stageMuch(rig);
    const before = rig.tree();
    await rig.call("patch_apply", {});
    const [applied] = rig.workspace.applied();
    const changes = reverseOf(applied?.changes ?? []);
    const made = applied?.made ?? [];
    const args = { patch: patchDigest(changes), changes: changes.map(changeJson), prune: made };
    if (!await runMortal(rig, { tool: UNDO, args, at, torn: true })) {
      deepEqual(rig.tree(), before);
      break;
    }
    kills++;
    await rig.undo();
    deepEqual(rig.tree(), before, `killed before change ${at}`);
  }
  // Three contents put back, four renames, one removal of what was new, two folders.
  equal(kills, 10);
});
