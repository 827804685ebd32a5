/** alice's model says nothing: she is told so, and a script that waits for an answer does not take it for one. */
import assert from "node:assert/strict";
import { onMachine } from "../fake/remit.ts";
import { readRun } from "../fake/run_document.ts";
import { alicesPlans, playing } from "../fake/scenes.ts";
import { openTerminal } from "../fake/terminal.ts";
import { needs } from "../needs.ts";

const SILENT = `
scenario: silent
turns:
  - say: ""
  - say: Here I am.
`;
const WORKS_IN_SILENCE = `
scenario: works in silence
turns:
  - calls: [{ tool: file_read, args: { path: plans/trip.txt } }]
  - say: ""
`;
const PROMPT = /› (?:.\[[\d;?>]*[A-Za-z])*$/u;
const SAYS_SO = /the model answered with neither words nor calls; ask again, or take another model/;

Deno.test("a run whose model answers with nothing at all fails with 67, and says why", async () => {
  await onMachine(async (machine) => {
    const words = [...await alicesPlans(machine), ...await playing(machine, SILENT)];
    const run = await machine.remit(["run", "-p", "When do I leave?", ...words]);
    assert.equal(run.code, 67, run.stderr);
    assert.equal(run.stdout, "");
    assert.match(run.stderr, SAYS_SO);
    const told = await machine.remit(["run", "-p", "When do I leave?", ...words, "--json"]);
    assert.equal(told.code, 67, told.stderr);
    const document = readRun(told.stdout);
    assert.deepEqual([document.status, document.exit], ["failed", 67]);
    assert.match(String(JSON.parse(told.stdout).reason), SAYS_SO);
  });
});

Deno.test("a run whose model did its work and closes without a word is done, and says that no word came", async () => {
  await onMachine(async (machine) => {
    const words = [...await alicesPlans(machine), ...await playing(machine, WORKS_IN_SILENCE)];
    const run = await machine.remit(["run", "-p", "Look", ...words]);
    assert.equal(run.code, 0, run.stderr);
    assert.equal(run.stdout, "");
    assert.match(run.stderr, /done: it ended without a word/);
    const told = await machine.remit(["run", "-p", "Look", ...words, "--json"]);
    const { status, reason, answer } = JSON.parse(told.stdout);
    assert.deepEqual([status, reason, answer], ["done", "it ended without a word", ""]);
  });
});

Deno.test("in a session the model's silence is said, and the next words are answered", async () => {
  if (!needs("script")) return;
  await onMachine(async (machine) => {
    const words = [...await alicesPlans(machine), ...await playing(machine, SILENT)];
    const terminal = openTerminal(machine.command(words), { env: machine.env, cwd: machine.dir });
    try {
      await terminal.shows(PROMPT);
      await terminal.type("Are you there?\r");
      await terminal.shows("neither words nor calls");
      await terminal.shows("your next words try again");
      await terminal.shows(PROMPT);
      await terminal.type("Hello?\r");
      await terminal.shows("Here I am.");
      await terminal.shows(PROMPT);
      await terminal.type("/exit\r");
      assert.equal(await terminal.ended(), 0, terminal.screen());
    } finally {
      await terminal.close();
    }
  });
});
