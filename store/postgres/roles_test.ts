/** What the role of a kernel cannot do, tried with a role of its own: as whoever stole its password would. */
import assert from "node:assert/strict";
import { Fault, type FaultCode } from "../../contracts/base/fault.ts";
import { Digest } from "../../contracts/authority/ids.ts";
import type { EventRow } from "../../contracts/task/store.ts";
import { startPostgres } from "../_fixture/postgres_powers.ts";
import { type Engine, openEngine } from "./engine_powers.ts";
import { enroll, migrate, openPostgresStore, type PostgresStore } from "./store.ts";

const TASK = "t000000000001", OTHER = "t000000000002";

function event(task: string, n: number, kind = "message"): EventRow {
  return { task, n, kind, at: 1, body: `{"n":${n}}`, hash: Digest.parse("ab".repeat(32)) };
}

/** Two kernels with roles of their own, a task of each with content; `f` is handed alice's session. */
async function asThief(
  f: (thief: {
    readonly alice: Engine;
    readonly store: PostgresStore;
    readonly bob: PostgresStore;
    readonly owner: Engine;
  }) => Promise<void>,
): Promise<void> {
  await using server = await startPostgres();
  const url = await server.database("roles");
  const owner = openEngine(url);
  await migrate(owner);
  const open = async (name: string): Promise<{ engine: Engine; store: PostgresStore }> => {
    const engine = openEngine(server.as(url, `remit_${name}`, await enroll(owner, name)));
    const store = await openPostgresStore({ engine, kernel: name, leaseMs: 60_000, machine: "m" });
    return { engine, store };
  };
  const alice = await open("alice");
  const bob = await open("bob");
  for (const [store, task] of [[alice.store, TASK], [bob.store, OTHER]] as const) {
    const bytes = new TextEncoder().encode("secret");
    const blob = { task, digest: Digest.parse("cd".repeat(32)), salt: new Uint8Array(16), bytes };
    const document = { kind: "lease", id: `l${task}`, task, expect: 0, body: {} };
    await store.commit({ events: [event(task, 0)], blobs: [blob], documents: [document] });
  }
  try {
    await f({ alice: alice.engine, store: alice.store, bob: bob.store, owner });
  } finally {
    for (const each of [alice.engine, bob.engine, owner]) await each.close();
  }
}

async function fails(code: FaultCode, work: Promise<unknown>, what: string): Promise<void> {
  await assert.rejects(work, (error: unknown) => {
    assert.ok(error instanceof Fault, `${what}: ${String(error)}`);
    assert.equal(error.code, code, `${what}: ${error.message}`);
    return true;
  }, what);
}

Deno.test("a kernel's role changes and removes nothing by itself", async () => {
  await asThief(async ({ alice }) => {
    const tables = [
      "events",
      "adopted",
      "tasks",
      "documents",
      "blobs",
      "kernels",
      "late",
      "work",
      "post",
    ];
    for (const table of tables) {
      for (
        const sql of [
          `DELETE FROM remit.${table}`,
          `TRUNCATE remit.${table}`,
          `DROP TABLE remit.${table}`,
          `ALTER TABLE remit.${table} DISABLE TRIGGER ALL`,
        ]
      ) await fails("refused", alice.write(sql, []), sql);
    }
    // PostgreSQL only warns of a grant that grants nothing.
    await alice.write("GRANT ALL ON remit.events TO remit_alice", []);
    for (
      const sql of [
        "DELETE FROM remit.events",
        "UPDATE remit.events SET body = '{}'",
        "UPDATE remit.tasks SET owner = 1, epoch = 99",
        "UPDATE remit.kernels SET lease_until = 'infinity'",
        "INSERT INTO remit.events SELECT * FROM remit.events",
        "CREATE OR REPLACE FUNCTION remit.is_task(name text) RETURNS boolean LANGUAGE sql AS 'SELECT false'",
        "CREATE TABLE remit.mine(x int)",
        "SET ROLE remit_admin",
        "SELECT * FROM remit.own_kernel(1, 1)",
        "SELECT * FROM remit.work",
        "SELECT pg_read_file('/etc/passwd')",
        "COPY remit.tasks TO PROGRAM 'id'",
      ]
    ) await fails("refused", alice.write(sql, []), sql);
  });
});

Deno.test("a kernel's role does not speak for another kernel, nor write to its task", async () => {
  await asThief(async ({ alice, store, bob, owner }) => {
    const { id, incarnation } = bob.identity;
    for (
      const call of [
        "beat($1, $2, 60000, '{}')",
        "leave($1, $2)",
        "claim($1, $2, 10)",
        "erase($1, $2, 'x')",
        "receive($1, $2)",
        "take_work($1, $2, 1)",
        "set_state($1, $2, 'alice', 'cordoned')",
      ]
    ) await fails("refused", alice.write(`SELECT remit.${call}`, [id, incarnation]), call);
    await fails(
      "refused",
      alice.write("SELECT * FROM remit.register($1, 1000)", ["bob"]),
      "register",
    );
    await fails(
      "leaseRevoked",
      store.commit({ events: [event(OTHER, 1)], blobs: [], documents: [] }),
      "an event of bob's task",
    );
    assert.equal(await store.eraseBlobs(OTHER), 0, "content of bob's task stays");
    assert.equal(
      (await owner.read("SELECT 1 FROM remit.events WHERE task = $1", [OTHER])).length,
      1,
    );
  });
});

Deno.test("a kernel's role reads no content and no document of another's but tasks and questions", async () => {
  await asThief(async ({ alice }) => {
    const blobs = await alice.read("SELECT task FROM remit.blobs", []);
    assert.deepEqual(blobs.map(({ task }) => task), [TASK]);
    const documents = await alice.read("SELECT task FROM remit.documents", []);
    assert.deepEqual(documents.map(({ task }) => task), [TASK]);
    const events = await alice.read("SELECT task FROM remit.events ORDER BY task", []);
    assert.deepEqual(events.map(({ task }) => task), [TASK, OTHER], "public parts are everybody's");
  });
});

Deno.test("whoever registers later as the same kernel fences the process before", async () => {
  await asThief(async ({ alice, store }) => {
    await openPostgresStore({ engine: alice, kernel: "alice", leaseMs: 1_000, machine: "m" });
    await fails(
      "gone",
      store.commit({ events: [event(TASK, 1)], blobs: [], documents: [] }),
      "an append of the process before",
    );
  });
});

Deno.test("the owner's own session cannot change an event either", async () => {
  await asThief(async ({ owner }) => {
    for (
      const sql of [
        "UPDATE remit.events SET body = '{}'",
        "DELETE FROM remit.events",
        "TRUNCATE remit.events",
        "DELETE FROM remit.adopted WHERE false; TRUNCATE remit.adopted",
      ]
    ) await fails("refused", owner.script(sql), sql);
  });
});

Deno.test("a commit that was sent twice is one: the connection broke under its answer", async () => {
  await asThief(async ({ alice, store }) => {
    const { id, incarnation } = store.identity;
    const last = async (): Promise<number> =>
      Number(
        (await alice.read("SELECT last_seq FROM remit.kernels WHERE id = $1", [id]))[0]
          ?.["last_seq"],
      );
    const before = await last();
    const again =
      "SELECT remit.append($1, $2, $3, '{}', '{}', '{}', '{kernel}', '{0}', '{message}', '{1}', $4, '{\"{}\"}', " +
      "'{0}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}')";
    for (let i = 0; i < 3; i++) {
      await alice.write(again, [id, incarnation, 2, `{${"ab".repeat(32)}}`]);
    }
    assert.equal(await last(), before + 1);
    await fails("gone", alice.write(again, [id, incarnation, 9, `{${"ab".repeat(32)}}`]), "a gap");
  });
});

Deno.test("no intent is written once the lease has run out, whatever the kernel's clock says", async () => {
  await asThief(async ({ store, owner }) => {
    await owner.write(
      "UPDATE remit.kernels SET lease_until = now() - interval '1 second' WHERE name = $1",
      ["alice"],
    );
    await fails(
      "leaseExpired",
      store.commit({ events: [event(TASK, 1, "intent")], blobs: [], documents: [] }),
      "an intent",
    );
    await store.commit({ events: [event(TASK, 1, "outcome")], blobs: [], documents: [] });
  });
});
