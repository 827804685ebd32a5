/** alice's agent left a note in scratch: she sees when it expires, keeps it, and takes it into her wiki as what it is. */
import assert from "node:assert/strict";
import { onMachine } from "../fake/remit.ts";
import { readRun } from "../fake/run_document.ts";
import { alicesPlans, playing } from "../fake/scenes.ts";

const NOTES = `
scenario: notes
turns:
  - calls:
      - tool: scratch_write
        args: { path: scratch/found.md, content: "# Found\\n\\nThe boat leaves from quay seven.\\n" }
  - say: Noted.
    loop: true
`;

Deno.test("what alice's agent left in scratch is listed with its end, kept by her word alone, and promoted without becoming more trusted", async () => {
  await onMachine(async (machine) => {
    const words = [...await alicesPlans(machine), ...await playing(machine, NOTES)];
    const done = await machine.remit(["run", "-p", "Take notes", ...words, "--json"]);
    assert.equal(done.code, 0, done.stderr);
    const { task } = readRun(done.stdout);
    const list = async () =>
      await machine.json(["workspace", "list"]) as {
        task: string;
        files: number;
        expiresAt?: number;
        promoted: boolean;
      }[];
    const [first] = await list();
    assert.deepEqual([first?.task, first?.files, first?.promoted], [task, 1, false]);
    assert.ok((first?.expiresAt ?? 0) > Date.now());
    assert.equal((await machine.remit(["workspace", "keep", task])).code, 0);
    assert.equal((await list())[0]?.expiresAt, undefined);
    assert.equal((await machine.remit(["wiki", "init", "memory"])).code, 0);
    const promoted = await machine.remit(["workspace", "promote", task, "--json"]);
    assert.equal(promoted.code, 0, promoted.stderr + promoted.stdout);
    assert.equal(JSON.parse(promoted.stdout).added, 1);
    assert.equal((await list())[0]?.promoted, true);
    const found = await machine.remit(["wiki", "query", "quay seven", "--within", "sources"]);
    assert.match(found.stdout, /quay seven/, found.stderr);
    const hits = await machine.json(["wiki", "query", "quay seven", "--within", "sources"]);
    assert.match(JSON.stringify(hits), /"colour":"YELLOW"/);
    const unknown = await machine.remit(["workspace", "keep", "t000000000000"]);
    assert.notEqual(unknown.code, 0);
  });
});
