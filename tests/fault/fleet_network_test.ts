/**
 * The network between a kernel and the database: slow, and cut for longer than a lease. A wire of the test's own stands
 * for it, so that nothing but bytes and time are missing, as with a cable.
 */
import assert from "node:assert/strict";
import { startPostgres } from "../../store/_fixture/postgres_powers.ts";
import { fleetOf, fleetVerifies, hasTask, inFleet, until } from "../fake/fleet.ts";
import { layWire } from "../fake/wire.ts";
import { EDITS, isAfter, isBefore, makeDesk } from "./desk.ts";

/** The same database over a wire. */
function over(url: string, folder: string): string {
  const address = new URL(url);
  address.searchParams.set("host", folder);
  return address.href;
}

Deno.test("over a slow network a task takes longer, and nothing else is different", async () => {
  await using server = await startPostgres();
  await using wire = await layWire(server.folder);
  await inFleet(1, async ({ homes: [one] }) => {
    assert.ok(one);
    await makeDesk(one.desk);
    wire.slow(60);
    const kernel = await one.start();
    const task = await kernel.run({ scenario: EDITS });
    const following = await kernel.follow(task, { answer: "allow" });
    assert.deepEqual(await following.end, { status: "done", exit: 0 });
    await isAfter(one.desk);
    await fleetVerifies(kernel);
    assert.ok(wire.bytes() > 10_000, "it went over the wire");
    // Nobody waits for its end.
  }, { server, leaseMs: 120_000, home: (_n, url) => ({ url: over(url, wire.folder) }) });
});

Deno.test("a kernel that is cut off loses its task to another, applies nothing, and finds that out when it is mended", async () => {
  await using server = await startPostgres();
  await using wire = await layWire(server.folder);
  await inFleet(2, async ({ homes: [one, two] }) => {
    assert.ok(one && two);
    await makeDesk(one.desk);
    const [lonely, other] = [await one.start(), await two.start()];
    const task = await lonely.run({ scenario: EDITS });
    const [question] = await until("its question", async () => {
      const asked = await lonely.questions(task);
      return asked.length > 0 ? asked : undefined;
    });
    assert.ok(question);
    wire.cut();
    // The person answers there, too: nothing may come of it before the database has it.
    const answered = lonely.answer(question, "allow").then(() => "taken", () => "refused");
    await hasTask(other, task);
    await isBefore(one.desk);
    const following = await other.follow(task, { answer: "allow" });
    assert.deepEqual(await following.end, { status: "done", exit: 0 });
    await isAfter(one.desk);
    wire.mend();
    assert.equal(await answered, "refused", "the task is another's");
    await until("that it has let go of it", async () => {
      const own = await lonely.ask("tasks", { archived: true });
      return Array.isArray(own) && own.length === 0 ? true : undefined;
    });
    const applied = following.told.filter(({ event, body }) =>
      event === "outcome" && body["tool"] === "patch_apply"
    );
    assert.equal(applied.length, 1);
    const rows = await until("its word", async () => {
      const all = await fleetOf(other);
      return all.every(({ alive }) => alive) ? all : undefined;
    });
    assert.deepEqual(rows.map(({ late }) => late), [0, 0]);
    await fleetVerifies(lonely);
  }, {
    server,
    sockets: [],
    home: (n, url) => n === 0 ? { url: over(url, wire.folder) } : {},
  });
});
