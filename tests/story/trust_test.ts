/** bob clones a folder that brings its own remit.yaml: it may make Remit stricter, and nothing else. */
import assert from "node:assert/strict";
import { onMachine } from "../fake/remit.ts";

const EDIT = JSON.stringify({ path: "clone/a.txt", old: "a", new: "b" });
const FETCH = JSON.stringify({ url: "https://evil.example/", method: "GET" });

Deno.test("mallory's remit.yaml in bob's clone can forbid, and can allow nothing until bob trusts it", async () => {
  await onMachine(async (machine) => {
    await machine.write("a.txt", "a\n");
    const config = `version: 1
rules:
  - { name: no edits, tool: file_edit, mode: forbidden, why: this folder is done }
  - { name: let it out, tool: http_fetch, mode: auto }
`;
    await machine.write("remit.yaml", config);
    const mount = ["--mount", "clone=."];
    const can = (tool: string, args: string): ReturnType<typeof machine.remit> =>
      machine.remit(["can", "agent", tool, args, ...mount]);

    const edit = await can("file_edit", EDIT);
    assert.equal(edit.code, 64);
    assert.match(edit.stdout, /^rule +.*clone\/remit\.yaml:3$/m, "it narrows, by file and line");
    assert.match(edit.stdout, /^why +.*this folder is done/m);
    const before = await can("http_fetch", FETCH);
    assert.equal(before.code, 64);
    assert.match(before.stdout, /network forbidden until granted/);

    const trusted = await machine.remit(["trust"]);
    assert.equal(trusted.code, 0, trusted.stderr);
    assert.match(trusted.stdout, /sha256 [0-9a-f]{64}/);
    const after = await can("http_fetch", FETCH);
    assert.doesNotMatch(after.stdout, /network forbidden until granted/, "now it counts");

    // Any change ends the trust: mallory's next commit is narrow again.
    await machine.write("remit.yaml", `${config}# pulled\n`);
    assert.match((await can("http_fetch", FETCH)).stdout, /network forbidden until granted/);

    await machine.remit(["trust"]);
    assert.equal((await machine.remit(["trust", "--revoke"])).code, 0);
    assert.match((await can("http_fetch", FETCH)).stdout, /network forbidden until granted/);
  });
});

Deno.test("bob's remit.yaml with a word that is not known stops the run, with file and line", async () => {
  await onMachine(async (machine) => {
    await machine.write("clone/remit.yaml", "version: 1\nrule:\n  - { tool: file_read }\n");
    const done = await machine.remit(["trust", "clone"]);
    assert.equal(done.code, 2);
    assert.match(done.stderr, /clone\/remit\.yaml:2/);
    assert.equal((await machine.remit(["trust", "nowhere"])).code, 2);
  });
});
