import assert from "node:assert/strict";
import { type Lease, LeaseId, Pid, type Scope, TaskId } from "../../../contracts/authority/mod.ts";
import { DEFAULT_LIMITS } from "../../../contracts/task/mod.ts";
import { makeTaskTime, type TaskTime } from "./task_time.ts";

const MINUTE = 60_000;
const SCOPES: readonly Scope[] = [
  { resource: "mount", right: "read", path: "desk" },
  { resource: "mount", right: "write", path: "desk" },
];

/** A task's time over a table of leases in memory, with a clock turned by hand. */
function bench(session: boolean): {
  readonly time: TaskTime;
  readonly leases: Map<LeaseId, Lease>;
  readonly row: { limits: typeof DEFAULT_LIMITS };
  readonly clock: { now: number };
  holds(path: Scope["right"]): boolean;
} {
  const leases = new Map<LeaseId, Lease>();
  const clock = { now: 1_000_000 };
  const row = {
    task: TaskId.parse("t000000000000"),
    pid: Pid.parse(2),
    limits: { ...DEFAULT_LIMITS, wallClockMs: 30 * MINUTE },
  };
  const time = makeTaskTime({
    ...{ row, session, now: () => clock.now },
    leases: {
      get: (id) => leases.get(id),
      grantAll: (grants) => {
        const made = grants.map((grant) => {
          const id = LeaseId.parse(`l${String(leases.size).padStart(12, "0")}`);
          const lease: Lease = { ...grant, id, grantedAt: clock.now };
          leases.set(id, lease);
          return lease;
        });
        return Promise.resolve(made);
      },
      renew: (ids, expiresAt) => {
        for (const id of ids) {
          const lease = leases.get(id);
          assert.ok(
            lease !== undefined && lease.expiresAt > clock.now,
            "only the living are renewed",
          );
          leases.set(id, { ...lease, expiresAt });
        }
        return Promise.resolve();
      },
    },
  });
  const holds = (right: Scope["right"]): boolean =>
    [...leases.values()].some((lease) =>
      lease.scope.right === right && lease.expiresAt > clock.now && lease.revokedAt === undefined
    );
  return { time, leases, row, clock, holds };
}

Deno.test("what a session was granted holds through each of its turns, however long its person thinks", async () => {
  const { time, clock, holds } = bench(true);
  await time.begin(SCOPES);
  for (const minutes of [1, 20, 29, 3, 500, 31, 10_000]) {
    clock.now += minutes * MINUTE;
    await time.turn();
    const began = clock.now;
    clock.now += 30 * MINUTE - 1;
    assert.ok(holds("read") && holds("write"), `a turn after ${minutes} minutes`);
    clock.now = began;
  }
});

Deno.test("what was taken back from a session is not granted anew with its next turn", async () => {
  const { time, leases, clock, holds } = bench(true);
  await time.begin(SCOPES);
  for (const [id, lease] of leases) {
    if (lease.scope.right === "write") leases.set(id, { ...lease, revokedAt: clock.now });
  }
  for (const minutes of [40, 500]) {
    clock.now += minutes * MINUTE;
    await time.turn();
    assert.deepEqual([holds("read"), holds("write")], [true, false]);
  }
});

Deno.test("a task that nobody sits at has its time once, and what a person adds", async () => {
  const { time, row, clock, holds } = bench(false);
  await time.begin(SCOPES);
  clock.now += 20 * MINUTE;
  await time.turn();
  row.limits = { ...row.limits, wallClockMs: 50 * MINUTE };
  await time.extended();
  clock.now += 20 * MINUTE;
  assert.ok(holds("read"));
  clock.now += 10 * MINUTE;
  assert.ok(!holds("read"));
});
