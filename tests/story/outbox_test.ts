/** alice's agent makes something for her: it lies in quarantine until she lets it out. */
import assert from "node:assert/strict";
import * as z from "zod";
import { onMachine } from "../fake/remit.ts";
import { alicesPlans, playing } from "../fake/scenes.ts";

const Artifacts = z.array(
  z.object({ id: z.string(), name: z.string(), state: z.string(), colour: z.string() }),
);

const PUBLISHES = `
scenario: publishes
turns:
  - calls: [{ tool: file_read, args: { path: plans/trip.txt } }]
  - calls:
      - tool: scratch_write
        args: { path: scratch/summary.md, content: "# Trip\\n\\n{{ tool.file_read | line 1 }}\\n\\e[2J" }
  - calls:
      - tool: outbox_publish
        args: { path: scratch/summary.md, name: summary.md }
  - say: It is in the outbox.
`;

Deno.test("alice lists, shows and releases what her agent published; a second release is refused", async () => {
  await onMachine(async (machine) => {
    const words = [...await alicesPlans(machine), ...await playing(machine, PUBLISHES)];
    const run = await machine.remit(["run", "-p", "Summarize the trip", ...words]);
    assert.equal(run.code, 0, run.stderr);
    const [made, ...more] = Artifacts.parse(await machine.json(["outbox", "list"]));
    assert(made !== undefined && more.length === 0, run.stderr);
    assert.equal(made.state, "quarantined");
    assert.equal(made.colour, "YELLOW", "no better than what it was made of");

    const listed = await machine.remit(["outbox", "list"]);
    assert.match(listed.stdout, /summary\.md/);
    const shown = await machine.remit(["outbox", "show", made.id]);
    assert.equal(shown.code, 0, shown.stderr);
    assert.match(shown.stdout, /│ # Trip/);
    assert.match(shown.stdout, /│ Leave on Monday\./);
    assert(!shown.stdout.includes("\x1b") && shown.stdout.includes("\\u{1b}"), "shown, not obeyed");

    const released = await machine.remit(["outbox", "release", made.id]);
    assert.equal(released.code, 0, released.stderr);
    const [after] = Artifacts.parse(await machine.json(["outbox", "list"]));
    assert.equal(after?.state, "released");
    const twice = await machine.remit(["outbox", "release", made.id]);
    assert.equal(twice.code, 1);
    assert.match(twice.stderr, /it is released/);
    assert.equal((await machine.remit(["outbox", "show", "a00000000000x"])).code, 2);
  });
});
