import assert from "node:assert/strict";
import { Fault, type FaultCode } from "../../contracts/base/fault.ts";
import type { Json } from "../../contracts/base/json.ts";
import { type FleetEnd, openEnd, plainEvent } from "../_fixture/fleet.ts";
import { startPostgres, type TestServer } from "../_fixture/postgres_powers.ts";
import { type Engine, openEngine } from "./engine_powers.ts";
import { POSTGRES_MIGRATIONS } from "./schema.ts";
import { migrate, openPostgresStore } from "./store.ts";

const TASK = "t000000000001";

interface World {
  readonly server: TestServer;
  readonly url: string;
  readonly owner: Engine;
  open(name: string, how?: Parameters<typeof openEnd>[2]): Promise<FleetEnd>;
}

async function inWorld(f: (world: World) => Promise<void>, migrated = true): Promise<void> {
  await using server = await startPostgres();
  const url = await server.database("fleet");
  const owner = openEngine(url);
  const ends: FleetEnd[] = [];
  if (migrated) await migrate(owner);
  try {
    await f({
      ...{ server, url, owner },
      async open(name, how): Promise<FleetEnd> {
        const end = await openEnd(url, name, how);
        ends.push(end);
        return end;
      },
    });
  } finally {
    for (const end of ends) await end.close();
    await owner.close();
  }
}

async function fails(code: FaultCode, work: Promise<unknown>): Promise<void> {
  await assert.rejects(work, (error: unknown) => {
    assert.ok(error instanceof Fault, String(error));
    assert.equal(error.code, code, error.message);
    return true;
  });
}

const commit = ({ store }: FleetEnd, n: number, kind?: string): Promise<void> =>
  store.commit({ events: [plainEvent(TASK, n, kind)], blobs: [], documents: [] });
const lapse = (owner: Engine, name: string): Promise<unknown> =>
  owner.write("UPDATE remit.kernels SET lease_until = now() - interval '1 ms' WHERE name = $1", [
    name,
  ]);
const tasksIn = (answer: Json): readonly unknown[] =>
  Array.isArray(answer) ? answer.map((row) => (row as { readonly task?: unknown }).task) : [];

Deno.test("a task is claimed once its owner's lease has run out, and then the owner's append fails", async () => {
  await inWorld(async ({ owner, open }) => {
    const [alice, bob] = [await open("alice"), await open("bob")];
    await commit(alice, 0);
    assert.deepEqual(await bob.ask({ kind: "claim", max: 10 }), [], "its owner lives");
    await lapse(owner, "alice");
    assert.deepEqual(await bob.ask({ kind: "claim", max: 10 }), [
      { task: TASK, epoch: 2, former: "alice" },
    ]);
    assert.deepEqual(await bob.ask({ kind: "claim", max: 10 }), [], "it is bob's");
    await alice.beat();
    await fails("leaseRevoked", commit(alice, 1));
    await commit(bob, 1);
    assert.deepEqual(await alice.ask({ kind: "mine" }), []);

    // Back again: what alice remembers of her first time does not count.
    const stale = await open("alice2");
    stale.store.holds(TASK, 1);
    await lapse(owner, "bob");
    assert.deepEqual(tasksIn(await alice.ask({ kind: "claim", max: 10 })), [TASK]);
    await commit(alice, 2);
    await fails("leaseRevoked", commit(bob, 3));
    await fails("leaseRevoked", commit(stale, 3));
    const chain = await owner.read(
      "SELECT kernel, n, seq FROM remit.events WHERE task = $1 ORDER BY n",
      [TASK],
    );
    assert.deepEqual(chain.map(({ n, seq }) => [Number(n), Number(seq)]), [[0, 1], [1, 1], [2, 2]]);
  });
});

Deno.test("a task whose mounts are elsewhere stays where they are; one without mounts goes anywhere", async () => {
  await inWorld(async ({ owner, open }) => {
    const alice = await open("alice", { machine: "here" });
    const far = await open("far", { machine: "there" });
    const near = await open("near", { machine: "here" });
    const document = (task: string, mounts: readonly string[]) => ({
      ...{ kind: "task", id: task, task, expect: 0 },
      body: { status: "open", mounts: mounts.map((dir) => ({ dir })) },
    });
    for (const [task, mounts] of [[TASK, ["/desk"]], ["t000000000002", []]] as const) {
      await alice.store.commit({
        events: [plainEvent(task, 0)],
        blobs: [],
        documents: [document(task, mounts)],
      });
    }
    await lapse(owner, "alice");
    assert.deepEqual(tasksIn(await far.ask({ kind: "claim", max: 10 })), ["t000000000002"]);
    assert.deepEqual(tasksIn(await near.ask({ kind: "claim", max: 10 })), [TASK]);
    assert.equal(
      (await near.store.document("task", TASK))?.version,
      1,
      "its documents move with it",
    );
    assert.equal(await alice.store.document("task", TASK), undefined);
  });
});

Deno.test("a cordoned kernel, and one whose own lease has run out, take nothing", async () => {
  await inWorld(async ({ owner, open }) => {
    const [alice, bob] = [await open("alice"), await open("bob")];
    await commit(alice, 0);
    await alice.ask({ kind: "put", task: "t000000000003", request: "{}", mounts: [] });
    await lapse(owner, "alice");
    await alice.ask({ kind: "state", name: "bob", state: "cordoned" });
    for (const kind of ["claim", "take"] as const) {
      assert.deepEqual(await bob.ask({ kind, max: 10 }), []);
      assert.deepEqual(await alice.ask({ kind, max: 10 }), []);
    }
    await alice.ask({ kind: "state", name: "bob", state: "up" });
    assert.deepEqual(tasksIn(await bob.ask({ kind: "claim", max: 10 })), [TASK]);
    await fails("notFound", alice.ask({ kind: "state", name: "nobody", state: "up" }));
  });
});

Deno.test("of kernels that ask at once each piece of work has one, and one that was not begun is begun by another", async () => {
  await inWorld(async ({ owner, open }) => {
    const ends = await Promise.all(["a", "b", "c", "d"].map((name) => open(name)));
    const [first] = ends;
    assert.ok(first);
    const names = Array.from({ length: 60 }, (_, i) => `t${String(i).padStart(12, "0")}`);
    for (const task of names) {
      await first.ask({ kind: "put", task, request: `{"of":"${task}"}`, mounts: [] });
    }
    const taken = await Promise.all(ends.map(async (end) => {
      const mine: unknown[] = [];
      for (;;) {
        const more = tasksIn(await end.ask({ kind: "take", max: 3 }));
        if (more.length === 0) return mine;
        mine.push(...more);
      }
    }));
    assert.deepEqual(taken.flat().toSorted(), names);
    await lapse(owner, "a");
    const [, second] = ends;
    const claimed = tasksIn(await second?.ask({ kind: "claim", max: 100 }) ?? null);
    assert.deepEqual(claimed.toSorted(), taken[0]?.toSorted());
    const [one] = claimed;
    if (typeof one === "string") {
      assert.equal(await second?.ask({ kind: "request", task: one }), `{"of":"${one}"}`);
    }
  });
});

Deno.test("work that nobody has begun is withdrawn once, whoever put it; what a kernel has is not", async () => {
  await inWorld(async ({ open }) => {
    const [alice, bob] = [await open("alice"), await open("bob")];
    const put = (task: string) => alice.ask({ kind: "put", task, request: "{}", mounts: [] });
    await put(TASK);
    await fails("conflict", put(TASK));
    assert.equal(await bob.ask({ kind: "withdraw", task: TASK }), true);
    assert.equal(await bob.ask({ kind: "withdraw", task: TASK }), false);
    assert.deepEqual(await bob.ask({ kind: "take", max: 3 }), []);
    await fails("conflict", put(TASK));
    const other = "t000000000002";
    await put(other);
    assert.deepEqual(tasksIn(await bob.ask({ kind: "take", max: 3 })), [other]);
    assert.equal(await alice.ask({ kind: "withdraw", task: other }), false);
  });
});

Deno.test("an answer is carried to whoever has the task, once", async () => {
  await inWorld(async ({ open }) => {
    const [alice, bob] = [await open("alice"), await open("bob")];
    await commit(alice, 0);
    await bob.ask({ kind: "send", task: TASK, words: "signed" });
    assert.equal((await alice.beat() as { waiting: number }).waiting, 1);
    assert.deepEqual(await bob.ask({ kind: "receive" }), []);
    assert.deepEqual(await alice.ask({ kind: "receive" }), ["signed"]);
    assert.deepEqual(await alice.ask({ kind: "receive" }), []);
  });
});

Deno.test("what was acknowledged is there after the database lost its power, and writers go on", async () => {
  await inWorld(async ({ server, open }) => {
    const alice = await open("alice");
    let told = 0;
    const writing = (async (): Promise<void> => {
      for (let n = 0; n < 300; n++) {
        await commit(alice, n);
        told++;
      }
    })();
    while (told < 50) await alice.engine.read("SELECT 1", []);
    await server.crash();
    await writing;
    const found = await alice.store.events({ task: TASK });
    assert.deepEqual(found.map(({ n }) => n), Array.from({ length: 300 }, (_, n) => n));
  });
});

Deno.test("a migration that fails leaves the schema as it was; two at once are one", async () => {
  await inWorld(async ({ url, owner }) => {
    const next = POSTGRES_MIGRATIONS.length + 1;
    const bad = { version: next, name: "bad", sql: "CREATE TABLE remit.half(x int); SELECT 1/0" };
    await Promise.all([owner, openEngine(url)].map(async (engine) => {
      await migrate(engine);
      if (engine !== owner) await engine.close();
    }));
    await assert.rejects(migrate(owner, [...POSTGRES_MIGRATIONS, bad]), /Cannot/);
    const [row] = await owner.read(
      "SELECT max(version)::int AS v, (to_regclass('remit.half') IS NULL)::int AS none FROM remit.schema_version",
      [],
    );
    assert.deepEqual([row?.["v"], row?.["none"]], [next - 1, 1]);
    assert.equal(await migrate(owner), 0);
  }, false);
});

Deno.test("a kernel of an older version leaves a newer schema alone; one without rights says what is needed", async () => {
  await inWorld(async ({ server, url, owner }) => {
    const options = { kernel: "k", leaseMs: 1_000, machine: "m" };
    await owner.script("CREATE ROLE poor LOGIN PASSWORD 'x'");
    const poor = openEngine(server.as(url, "poor", "x"));
    await fails("refused", migrate(poor));
    await fails("unavailable", openPostgresStore({ engine: poor, ...options }));
    await poor.close();
    await migrate(owner);
    await owner.script("INSERT INTO remit.schema_version(version, name) VALUES (99, 'newer')");
    await fails("unavailable", openPostgresStore({ engine: owner, ...options }));
    await fails("unavailable", migrate(owner));
    assert.equal((await owner.read("SELECT 1 FROM remit.kernels", [])).length, 0);
  }, false);
});
