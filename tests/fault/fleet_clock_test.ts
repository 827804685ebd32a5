/** Kernels whose machines' dates are an hour off, and one of an older version: leases and epochs do not notice the date. */
import assert from "node:assert/strict";
import { openEngine } from "../../store/postgres/engine_powers.ts";
import { fleetOf, fleetVerifies, hasTask, inFleet, LEASE_MS, until } from "../fake/fleet.ts";
import { cache, testBundles } from "../fake/kernel.ts";
import { EDITS, isAfter, makeDesk } from "./desk.ts";

const HOUR = 3_600_000;

/** The kernel's program on a machine whose date is off by so many milliseconds. */
async function kernelOff(ms: number): Promise<string> {
  const { kernel, digest } = await testBundles();
  const shifted = `${cache()}/clock-${digest.slice(0, 32)}-${ms}`;
  await Deno.mkdir(shifted, { recursive: true, mode: 0o700 });
  const path = `${shifted}/kernel.js`;
  const date =
    `{ const now = Date.now.bind(Date), Real = Date; globalThis.Date = class extends Real {
    constructor(...given) { given.length === 0 ? super(now() + ${ms}) : super(...given); }
    static now() { return now() + ${ms}; } }; }\n`;
  await Deno.writeTextFile(path, date + await Deno.readTextFile(kernel));
  return path;
}

for (const [what, ms] of [["ahead", HOUR], ["behind", -HOUR]] as const) {
  Deno.test(`a kernel whose date is an hour ${what} takes nothing from one that lives, and all from one that does not`, async () => {
    const bundle = await kernelOff(ms);
    await inFleet(2, async ({ homes: [one, two] }) => {
      assert.ok(one && two);
      await makeDesk(one.desk);
      const [right, off] = [await one.start(), await two.start()];
      const task = await right.run({ scenario: EDITS });
      await until("its question", async () => (await right.questions(task))[0]);
      const at = Number(
        (await off.ask("view", {
          ...{ op: "task", body: { task }, by: "carol", profile: "guest" },
        }) as { readonly createdAt: number }).createdAt,
      );
      assert.ok(Math.abs(at - Date.now()) < HOUR / 2, "its times are those of its own kernel");
      // TIMER: the absence of a takeover over two leases is no event.
      await new Promise((resolve) => setTimeout(resolve, 2 * LEASE_MS));
      const owners = (await fleetOf(off)).map(({ name, tasks }) => [name, tasks]);
      assert.deepEqual(owners, [["k0", 1], ["k1", 0]]);
      await right.kill();
      await hasTask(off, task);
      const following = await off.follow(task, { answer: "allow" });
      const end = await following.end;
      if (end.status !== "done") {
        // Ahead, the question has lasted its day's hour less; it is asked again, never skipped.
        assert.fail(`${what}: ${JSON.stringify(end)}\n${off.said()}`);
      }
      await isAfter(one.desk);
      await fleetVerifies(off);
    }, { home: (n) => n === 1 ? { bundle } : {} });
  });
}

Deno.test("a kernel of an older version does not start on a newer schema, and changes nothing of it", async () => {
  await inFleet(1, async ({ homes: [one], url, query }) => {
    assert.ok(one);
    const first = await one.start();
    await first.stop();
    const owner = openEngine(url);
    await owner.write(
      "INSERT INTO remit.schema_version(version, name) VALUES (99, 'of a later version')",
      [],
    );
    await owner.close();
    const before = await query("SELECT incarnation, last_seq FROM remit.kernels");
    const older = one.launch();
    await assert.rejects(older.live);
    await older.dies();
    assert.match(older.said(), /newer|version/);
    assert.deepEqual(await query("SELECT incarnation, last_seq FROM remit.kernels"), before);
  });
});
