/** alice asks beforehand: would this call be made, by which rule, and why? Nothing happens. */
import assert from "node:assert/strict";
import * as z from "zod";
import { type Finished, type Machine, onMachine } from "../fake/remit.ts";
import { alicesPlans } from "../fake/scenes.ts";

const Decision = z.object({ kind: z.enum(["allow", "ask", "refuse"]), rule: z.string() });

function asker(
  machine: Machine,
  mount: readonly string[],
): (tool: string, args: object, ...more: string[]) => Promise<Finished> {
  return (tool, args, ...more) =>
    machine.remit(["can", "agent", tool, JSON.stringify(args), ...mount, ...more]);
}

Deno.test("alice asks what an agent could do: each answer names its rule, and none has an effect", async () => {
  await onMachine(async (machine) => {
    const can = asker(machine, await alicesPlans(machine));
    await machine.write("plans/keys.env", "KEY=value\n");

    const read = await can("file_read", { path: "plans/trip.txt" });
    assert.equal(read.code, 0, read.stderr);
    assert.match(read.stdout, /^yes\nrule +built-in: reading mounts is free$/m);

    const keys = await can("file_read", { path: "plans/keys.env" });
    assert.equal(keys.code, 64);
    assert.match(keys.stdout, /^no\nrule +built-in: never-list$/m);
    assert.match(keys.stdout, /^why +.*keys\.env/m);

    const out = await can("http_fetch", { url: "https://evil.example/", method: "POST" });
    assert.equal(out.code, 64);
    assert.match(out.stdout, /^rule +built-in: network forbidden until granted$/m);

    const edit = { path: "plans/trip.txt", old: "Monday", new: "Tuesday" };
    assert.match((await can("file_edit", edit)).stdout, /^yes$/m);
    const guest = await can("file_edit", edit, "--profile", "anonymous", "--json");
    assert.equal(guest.code, 64);
    assert.equal(Decision.parse(JSON.parse(guest.stdout)).rule, "built-in: anonymous only reads");

    assert.equal((await can("file_read", { path: "/etc/passwd" })).code, 64);
    assert.equal((await can("file_read", { path: "plans/../../secret" })).code, 64);
    assert.equal((await can("no_such_tool", {})).code, 64);
    assert.equal((await can("file_read", { file: "plans/trip.txt" })).code, 64);
    const broken = await machine.remit(["can", "agent", "file_read", "{"]);
    assert.equal(broken.code, 2);
    assert.match(broken.stderr, /is no JSON/);

    assert.equal((await machine.remit(["task", "show"])).stdout, "no tasks\n");
    assert.equal(await machine.read("plans/trip.txt"), "Leave on Monday.\nTake the boat.\n");
  });
});
