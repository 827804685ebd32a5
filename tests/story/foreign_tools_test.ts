/** alice's foreign agent is served the tools of its task, and no other: each call passes the gate and is on record. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { EXIT } from "../../contracts/base/mod.ts";
import { addForeign, handOver, startProvider } from "../fake/foreign_agent.ts";
import { configured } from "../fake/model_scenes.ts";
import { onMachine } from "../fake/remit.ts";
import { readRun } from "../fake/run_document.ts";
import { alicesPlans } from "../fake/scenes.ts";
import { needs } from "../needs.ts";

const SERVER = new URL("../../examples/mcp/server.mjs", import.meta.url);

for (const way of ["http", "stdio"]) {
  Deno.test(`alice's foreign agent reads notes by an imported server over ${way}; what was not granted is refused, what is no tool of its is not served`, async () => {
    if (!needs("node")) return;
    await using provider = startProvider();
    await onMachine(async (machine) => {
      await alicesPlans(machine);
      const server = await machine.write("servers/server.mjs", await Deno.readTextFile(SERVER));
      const note = await machine.write("notes/a.md", "The boat is called Petrel.\n");
      const notes = join(note, "..");
      const added = await machine.remit([
        ...["mcp", "add", "files", "--read", notes, "--yes", "--", "node", server, "files"],
      ]);
      assert.equal(added.code, 0, added.stderr);
      await addForeign(machine, provider, ["--env", `TOOLS_BY=${way}`]);
      const run = await handOver(machine, [
        "tools",
        `tool mcp_files_read_text_file {"path":"${note}"}`,
        'tool mcp_files_read_text_file {"path":"/etc/shadow"}',
        'tool mcp_files_read_text_file {"path":7}',
        'tool file_write {"path":"plans/trip.txt","content":"mallory"}',
        'tool command {"program":"fake"}',
        "write trip.txt Sail with Petrel.",
      ], { allow: "plans/trip.txt" });
      assert.equal(run.code, 0, run.output);
      assert.match(run.answer, /tools: (mcp_files_\w+ ?){3}/);
      assert.match(run.answer, /tool: ok .*The boat is called Petrel\./, run.answer);
      assert.equal((run.answer.match(/tool: error /g) ?? []).length, 2, run.answer);
      assert.match(run.answer, /tool: refused .*"file_write.*it is not served/);
      assert.match(run.answer, /tool: refused .*"command.*it is not served/);
      assert.match(run.answer, /tools of its task: 5 calls/);
      assert.equal(await machine.read("plans/trip.txt"), "Sail with Petrel.\n");
      // The calls are the process's own in the record, with their receipts, and what came of them taints it.
      const { did, receipts } = readRun(run.document);
      const read = did.find(({ tool }) => tool === "mcp_files_read_text_file");
      assert.deepEqual([read?.calls, read?.failed], [2, 1], run.document);
      const signed = receipts.flatMap(({ events }) => events.map(({ body }) => body)).join("\n");
      assert.match(signed, /"call":"call_1\/1".*"tool":"mcp_files_read_text_file"/);
      const verified = await machine.remit(["audit", "verify"]);
      assert.equal(verified.code, 0, verified.stderr);
    });
  });
}

Deno.test("a call of alice's foreign agent that she must be asked about ends its run, and is made after her yes", async () => {
  if (!needs("node")) return;
  await using provider = startProvider();
  await onMachine(async (machine) => {
    const mount = await alicesPlans(machine);
    const server = await machine.write("servers/server.mjs", await Deno.readTextFile(SERVER));
    const notes = join(await machine.write("notes/a.md", "Petrel.\n"), "..");
    await machine.remit([
      ...["mcp", "add", "files", "--read", notes, "--yes", "--", "node", server, "files"],
    ]);
    await configured(machine, "rules:\n  - { tool: mcp_files_read_text_file, mode: consent }\n");
    await addForeign(machine, provider, ["--env", "TOOLS_BY=http"]);
    const call = JSON.stringify({ path: join(notes, "a.md") });
    const steps = [`tool mcp_files_read_text_file ${call}`, "write trip.txt Sail with Tern."];
    const run = await machine.remit([
      ...["run", "--agent", "fake", "-p", steps.join("\n"), ...mount, "--json"],
    ]);
    const { asked: [asked] } = readRun(run.stdout);
    assert.equal(run.code, EXIT.waiting, run.stderr);
    assert.equal(asked?.tool, "mcp_files_read_text_file", run.stdout);
    assert.equal(await machine.read("plans/trip.txt"), "Leave on Monday.\nTake the boat.\n");
    // The agent works anew, and its call is the one that she answered.
    const again = await machine.remit(["answer", asked?.question ?? "", "allow", "--json"]);
    assert.equal(again.code, EXIT.waiting, again.stderr);
    const review = readRun(again.stdout);
    assert.match(JSON.stringify(review), /mcp_files_read_text_file/);
    const question = review.asked.find(({ tool, decision }) =>
      tool === "patch_apply" && decision === "open"
    );
    const done = await machine.remit(["answer", question?.question ?? "", "allow"]);
    assert.equal(done.code, 0, done.stderr);
    assert.equal(await machine.read("plans/trip.txt"), "Sail with Tern.\n");
  });
});
