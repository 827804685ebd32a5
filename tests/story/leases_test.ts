/** alice takes back what she lent while an agent holds it: the next thing it does is refused. */
import assert from "node:assert/strict";
import * as z from "zod";
import { onMachine } from "../fake/remit.ts";
import { alicesPlans, playing } from "../fake/scenes.ts";
import { openTerminal } from "../fake/terminal.ts";
import { needs } from "../needs.ts";

const Leases = z.array(
  z.object({
    id: z.string(),
    scope: z.object({ resource: z.string(), right: z.string(), path: z.string() }),
    revokedAt: z.number().optional(),
  }),
);

const READS_AGAIN = `
scenario: reads again
turns:
  - calls: [{ tool: file_read, args: { path: plans/trip.txt } }]
  - calls:
      - tool: file_edit
        args: { path: plans/trip.txt, old: Monday, new: Tuesday }
  - calls: [{ tool: patch_apply }]
  - calls: [{ tool: file_read, args: { path: plans/trip.txt } }]
  - say: "I was told: {{ tool.patch_apply }} And then: {{ tool.file_read }}"
`;

Deno.test("alice revokes the leases on a folder while a question waits: her own yes comes too late", async () => {
  if (!needs("script")) return;
  await onMachine(async (machine) => {
    const words = [...await alicesPlans(machine), ...await playing(machine, READS_AGAIN)];
    const run = openTerminal(machine.command(["run", "-p", "Move the trip", ...words]), {
      env: machine.env,
      cwd: machine.dir,
    });
    try {
      await run.shows("your answer");
      const leases = Leases.parse(await machine.json(["lease", "list"]));
      const onPlans = leases.filter(({ scope }) => scope.path === "plans");
      assert.deepEqual(onPlans.map(({ scope }) => scope.right).sort(), ["read", "write"]);
      for (const { id } of onPlans) {
        const revoked = await machine.remit(["lease", "revoke", id]);
        assert.equal(revoked.code, 0, revoked.stderr);
        assert.equal(revoked.stdout, `revoked  ${id}\n`);
      }
      await run.type("y\r");
      await run.ended();
      const screen = run.screen();
      assert.match(screen, /I was told: .*revoked/s);
      assert.match(screen, /And then: .*revoked/s);
      assert.equal(await machine.read("plans/trip.txt"), "Leave on Monday.\nTake the boat.\n");
      const [first] = onPlans;
      const again = await machine.remit(["lease", "revoke", first?.id ?? ""]);
      assert.deepEqual([again.code, again.stdout], [0, "it had ended already\n"]);
      // A slip of an id must not read as if the lease were gone.
      const slip = await machine.remit(["lease", "revoke", `${first?.id.slice(0, -1)}_`]);
      assert.notEqual(slip.code, 0);
      const other = await machine.remit(["lease", "revoke", "l000000000000"]);
      assert.deepEqual([other.code, other.stdout], [2, ""]);
      assert.match(other.stderr, /Cannot revoke lease l000000000000: there is none/);
    } finally {
      await run.close();
    }
  });
});
