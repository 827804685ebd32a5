/**
 * The network between a kernel and the database: slow, and cut for longer than a lease. A wire of the test's own stands
 * for it, so that nothing but bytes and time are missing, as with a cable.
 */
import assert from "node:assert/strict";
import { startPostgres, type TestServer } from "../../store/_fixture/postgres_powers.ts";
import {
  fleetOf,
  type FleetOptions,
  fleetVerifies,
  hasTask,
  inFleet,
  until,
} from "../fake/fleet.ts";
import { layCable } from "../fake/cable.ts";
import { layWire } from "../fake/wire.ts";
import { needs } from "../needs.ts";
import { EDITS, isAfter, isBefore, makeDesk } from "./desk.ts";

/** The same database over a wire. */
function over(url: string, folder: string): string {
  const address = new URL(url);
  address.searchParams.set("host", folder);
  return address.href;
}

/** The same database at an address. */
function at(url: string, host: string): string {
  const address = new URL(url);
  address.searchParams.delete("host");
  address.hostname = host;
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

/** What happens to a kernel whose way to the database is cut for longer than its lease. */
async function isCutOff(
  { server, cut, mend, home }: {
    readonly server: TestServer;
    cut(): Promise<void>;
    mend(): Promise<void>;
    /** The home of the kernel that is cut off. */
    home(url: string): ReturnType<NonNullable<FleetOptions["home"]>>;
  },
): Promise<void> {
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
    await cut();
    // The person answers there, too: nothing may come of it before the database has it.
    const answered = lonely.answer(question, "allow").then(() => "taken", () => "refused");
    await hasTask(other, task);
    await isBefore(one.desk);
    const following = await other.follow(task, { answer: "allow" });
    assert.deepEqual(await following.end, { status: "done", exit: 0 });
    await isAfter(one.desk);
    await mend();
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
    home: (n, url) => n === 0 ? home(url) : {},
  });
}

const CLAIM = "loses its task to another, applies nothing, and finds that out when it is mended";

Deno.test(`a kernel that is cut off ${CLAIM}`, async () => {
  await using server = await startPostgres();
  await using wire = await layWire(server.folder);
  await isCutOff({
    server,
    cut: () => Promise.resolve(wire.cut()),
    mend: () => Promise.resolve(wire.mend()),
    home: (url) => ({ url: over(url, wire.folder) }),
  });
});

Deno.test(`a kernel on a machine whose cable is pulled ${CLAIM}`, async () => {
  if (!needs("ip")) return;
  await using cable = await layCable();
  await using server = await startPostgres({ within: cable.near });
  await isCutOff({
    ...{ server, cut: cable.cut, mend: cable.mend },
    // The server's socket is of another machine: only its address is reached from here.
    home: (url) => ({ url: at(url, cable.near.address), wrap: () => cable.far }),
  });
});
