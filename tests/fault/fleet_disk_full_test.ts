/** The disk of the database is full: nothing is acknowledged that is not there, it is said, and room mends it. */
import assert from "node:assert/strict";
import { Fault } from "../../contracts/base/mod.ts";
import { startPostgres } from "../../store/_fixture/postgres_powers.ts";
import { fleetVerifies, inFleet, until } from "../fake/fleet.ts";
import { needs } from "../needs.ts";
import { EDITS, isAfter, isBefore, makeDesk } from "./desk.ts";

Deno.test("a full disk of the database: nothing is done that is not on record, and room mends it", async () => {
  if (!needs("unshare") || !needs("nsenter")) return;
  await using server = await startPostgres({ diskMib: 96 });
  await inFleet(1, async ({ homes: [one], query }) => {
    assert.ok(one);
    await makeDesk(one.desk);
    let kernel = await one.start();
    const task = await kernel.run({ scenario: EDITS });
    const [question] = await until("its question", async () => {
      const asked = await kernel.questions(task);
      return asked.length > 0 ? asked : undefined;
    });
    assert.ok(question);
    await server.fill();
    const events = async (): Promise<number> =>
      Number((await query("SELECT count(*) AS n FROM remit.events"))[0]?.["n"]);
    // What pages have room for is still written: it fails once a page more is needed.
    const refused = await until("a refusal", async () => {
      try {
        await kernel.run({ scenario: EDITS, request: "x".repeat(50_000) });
        return undefined;
      } catch (error) {
        return error;
      }
    });
    assert.ok(refused instanceof Fault, String(refused));
    assert.ok(["storeFull", "unavailable", "gone"].includes(refused.code), refused.message);
    await isBefore(one.desk);

    await server.makeRoom();
    // The server may have ended over it, and its kernel with it: both come back.
    await until("the database", async () => {
      try {
        await events();
        return true;
      } catch (_error) {
        await server.crash().catch(() => undefined);
        return undefined;
      }
    });
    const alive = await kernel.ask("head", null).then(() => true, () => false);
    if (!alive) {
      await kernel.dies();
      kernel = await one.start();
    }
    await until("its question again", async () => {
      const asked = await kernel.questions(task);
      return asked.length > 0 ? true : undefined;
    });
    const following = await kernel.follow(task, { answer: "allow" });
    assert.deepEqual(await following.end, { status: "done", exit: 0 });
    await isAfter(one.desk);
    assert.equal(following.told[0]?.n, 0, "nothing that was told is lost");
    await fleetVerifies(kernel);
  }, { server });
});
