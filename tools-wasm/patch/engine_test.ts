import assert from "node:assert/strict";
import { makeInstance } from "../exec/_fixture/instance.ts";
import { bundleScript } from "../sdk/ts/bundle.ts";

const source = bundleScript(new URL(".", import.meta.url).pathname);

async function open(text: string) {
  const instance = await makeInstance((fn) =>
    fn === "fs.read" ? { text, bytes: text.length, next: text.length } : null
  );
  assert.equal((await instance.call("@load", { source: await source })).ok, true);
  return instance;
}

Deno.test("in the engine, alice parses, stages and merges", async () => {
  const instance = await open("1\n2\n3\n");
  const diff = '--- "a/desk/\\303\\251"\n+++ "b/desk/\\303\\251"\n@@ -1,2 +1,2 @@\n 1\n-2\n+two\n';
  const parsed = await instance.call("patch_parse", { diff });
  assert.match(JSON.stringify(parsed.value), /"paths":\["desk\/é"\]/);
  const staged = await instance.call("patch_stage", { diff, paths: ["desk/é"] });
  assert.deepEqual(staged.value, { applied: true, files: [{ path: "desk/é", kind: "change" }] });
  const write = instance.asked.find(({ fn }) => fn === "fs.write");
  assert.deepEqual(write?.args, { path: "desk/é", text: "1\ntwo\n3\n" });
  const merged = await instance.call("patch_merge", {
    base: "a\nb\nc\n",
    ours: "A\nb\nc\n",
    theirs: "a\nb\nC\n",
  });
  assert.deepEqual(merged.value, { clean: true, text: "A\nb\nC\n", conflicts: [] });
  const refused = await instance.call("patch_stage", { diff, paths: ["desk/x"] });
  assert.equal(refused.error?.code, "invalidArguments");
  await instance.close();
});

Deno.test("in the engine, files of 100,000 lines fit on the stack (long)", async () => {
  const many = Array.from({ length: 100_000 }, (_, at) => `line ${at}\n`).join("");
  const instance = await open(many);
  const diff = "--- desk/x\n+++ desk/x\n@@ -99998,2 +99998,2 @@\n line 99998\n-line 99999\n+end\n";
  const staged = await instance.call("patch_stage", { diff, paths: ["desk/x"] });
  assert.match(JSON.stringify(staged.value), /"applied":true/);
  const merged = await instance.call("patch_merge", {
    base: many,
    ours: many.replace("line 500\n", "ours\n"),
    theirs: many.replace("line 900\n", "theirs\n"),
  });
  assert.match(JSON.stringify(merged.value), /"clean":true/);
  await instance.close();
});
