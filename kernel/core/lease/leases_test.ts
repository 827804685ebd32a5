import assert from "node:assert/strict";
import fc from "fast-check";
import { type Lease, Pid, type Scope, TaskId } from "../../../contracts/authority/mod.ts";
import type { Fault } from "../../../contracts/base/mod.ts";
import type { EventLog, NewEvent } from "../../../contracts/task/mod.ts";
import { type LeaseGrant, type LeaseTable, makeLeases } from "./leases.ts";
import { covers } from "./scope.ts";

const TASK = TaskId.parse("t000000000000");
const ALICE = Pid.parse(2);
const CHILD = Pid.parse(3);
const read = (path: string): Scope => ({ resource: "mount", right: "read", path });
const grant = (path: string, expiresAt = 1_000): LeaseGrant => ({
  task: TASK,
  pid: ALICE,
  scope: read(path),
  expiresAt,
  reason: "test",
});

interface Bench {
  readonly leases: LeaseTable;
  readonly events: NewEvent[];
  readonly appends: () => number;
  /** Ends the wait of what goes with the next commit: it is written, or not. */
  readonly settle: (written: boolean) => void;
  readonly ends: string[];
  turn(ms: number): void;
  refuseAppends(): void;
}

function bench(): Bench {
  const events: NewEvent[] = [];
  const ends: string[] = [];
  let appends = 0;
  let full = false;
  let now = 0;
  let ids = 0;
  const timers = new Set<{ at: number; f: () => void }>();
  const append: EventLog["append"] = (_task, more) => {
    if (full) return Promise.reject(new Error("disk full"));
    appends++;
    events.push(...more);
    return Promise.resolve(more.map((_, n) => ({ n, hash: "0".repeat(64) as never })));
  };
  let settle = (_written: boolean): void => undefined;
  const log: EventLog = {
    head: () => "0".repeat(64) as never,
    append,
    appendWithNext: (_task, more) =>
      new Promise((resolve, reject) => {
        events.push(...more);
        settle = (written) => written ? resolve([]) : reject(new Error("disk full"));
      }),
  };
  const leases = makeLeases({
    log,
    powers: {
      now: () => now,
      id: (prefix) => prefix + (++ids).toString(36).padStart(12, "0"),
      after(ms, f): () => void {
        const timer = { at: now + ms, f };
        timers.add(timer);
        return () => timers.delete(timer);
      },
    },
  });
  leases.onEnd((lease, why) => ends.push(`${lease.id.slice(-1)} ${why}`));
  return {
    leases,
    events,
    appends: () => appends,
    settle: (written) => settle(written),
    ends,
    turn(ms): void {
      now += ms;
      for (const timer of [...timers]) {
        if (timer.at <= now && timers.delete(timer)) timer.f();
      }
    },
    refuseAppends: () => full = true,
  };
}

const code = (expected: string) => (error: unknown): boolean => (error as Fault).code === expected;

Deno.test("a lease covers its path and what lies beneath, in whole parts", () => {
  assert.ok(covers(read("desk"), read("desk/notes/a.md")));
  assert.ok(covers(read(""), read("desk")));
  assert.ok(!covers(read("desk/no"), read("desk/notes")));
  assert.ok(!covers(read("desk/notes"), read("desk")));
  assert.ok(!covers(read("desk"), { ...read("desk"), right: "write" }));
});

Deno.test("a path with dots is beneath nothing, whatever was granted", () => {
  for (const path of ["desk/../secret", "desk/..", "../..", "desk/./a", "./desk"]) {
    assert.ok(!covers(read("desk"), read(path)), path);
    assert.ok(!covers(read(""), read(path)), path);
  }
  assert.ok(covers(read("desk"), read("desk/..rc")));
});

Deno.test("alice's first leases hold at once, make no commit, and name no path in the open part of the log", async () => {
  const { leases, events, appends, settle } = bench();
  const made = await leases.grantAll([grant("desk"), grant("docs/secret-plan")]);
  assert.equal(made.length, 2);
  assert.deepEqual([events.length, appends()], [1, 0]);
  assert.equal(JSON.stringify(events.map(({ body }) => body)).includes("secret-plan"), false);
  assert.equal(leases.covering(ALICE, read("desk/a"))?.id, made[0]?.id);
  assert.equal(leases.covering(CHILD, read("desk/a")), undefined);
  settle(true);
  await Promise.resolve();
  assert.ok(made[0] !== undefined && leases.alive(made[0].id));
});

Deno.test("alice's first leases are dead when the commit that they went with fails", async () => {
  const { leases, settle } = bench();
  const [made] = await leases.grantAll([grant("desk")]);
  assert.ok(made !== undefined && leases.alive(made.id));
  settle(false);
  await Promise.resolve().then(() => undefined);
  assert.equal(leases.alive(made.id), false);
  assert.equal(leases.dead(ALICE, read("desk/a")), "revoked");
});

Deno.test("a derived lease is a subset or is refused", async () => {
  const { leases } = bench();
  const parent = await leases.grant(grant("desk/notes", 500));
  const derive = (scope: Scope, expiresAt = 500): Promise<Lease> =>
    leases.derive(parent.id, { pid: CHILD, scope, expiresAt, reason: "child" });
  assert.equal((await derive(read("desk/notes/a"))).parent, parent.id);
  await assert.rejects(derive(read("desk")), code("refused"));
  await assert.rejects(derive({ ...read("desk/notes"), right: "write" }), code("refused"));
  await assert.rejects(derive(read("desk/notes"), 501), code("refused"));
});

Deno.test("a child inherits what is alive in one commit; what is taken back takes the child's with it", async () => {
  const { leases, events } = bench();
  const [one, two] = [await leases.grant(grant("desk", 500)), await leases.grant(grant("shed"))];
  await leases.revoke(two.id, "taken back");
  const before = events.length;
  const [child, ...none] = leases.inherit([one.id, two.id], { pid: CHILD, reason: "child" });
  await Promise.resolve();
  assert.deepEqual([child?.parent, child?.scope, child?.expiresAt], [one.id, one.scope, 500]);
  assert.deepEqual([none, events.length], [[], before + 1]);
  assert.equal(leases.covering(CHILD, read("desk/a"))?.id, child?.id);
  await leases.revoke(one.id, "taken back");
  assert.equal(leases.dead(CHILD, read("desk/a")), "revoked");
});

Deno.test("revoking takes the subtree before it resolves, once, and deriving from the dead fails", async () => {
  const { leases, ends, events } = bench();
  const root = await leases.grant(grant("desk"));
  const to = { pid: CHILD, scope: read("desk/a"), expiresAt: 900, reason: "child" };
  const child = await leases.derive(root.id, to);
  const pending = leases.revoke(root.id, "taken back");
  // Dead at once, before anything is durable.
  assert.equal(leases.alive(child.id), false);
  assert.deepEqual(ends, ["1 revoked", "2 revoked"]);
  assert.deepEqual(await pending, [root.id, child.id]);
  assert.equal(leases.dead(CHILD, read("desk/a/b")), "revoked");
  assert.deepEqual(await leases.revoke(root.id, "again"), []);
  assert.equal(events.filter(({ kind }) => kind === "leaseRevoked").length, 2);
  await assert.rejects(leases.derive(root.id, to), code("refused"));
});

Deno.test("a revocation that cannot be written down holds all the same", async () => {
  const { leases, refuseAppends } = bench();
  const lease = await leases.grant(grant("desk"));
  refuseAppends();
  await assert.rejects(leases.revoke(lease.id, "taken back"), /disk full/);
  assert.equal(leases.alive(lease.id), false);
});

Deno.test("a lease expires by the clock, and its children with it", async () => {
  const { leases, ends, turn } = bench();
  const root = await leases.grant(grant("desk", 100));
  await leases.grant(grant("docs", 300));
  await leases.derive(root.id, { pid: CHILD, scope: read("desk"), expiresAt: 100, reason: "c" });
  turn(99);
  assert.ok(leases.alive(root.id));
  assert.equal(leases.dead(ALICE, read("desk")), undefined);
  turn(1);
  assert.equal(leases.alive(root.id), false);
  assert.deepEqual(ends.sort(), ["1 expired", "3 expired"]);
  assert.equal(leases.dead(CHILD, read("desk")), "expired");
  assert.ok(leases.covering(ALICE, read("docs")));
  turn(200);
  assert.equal(leases.covering(ALICE, read("docs")), undefined);
});

Deno.test("a renewed lease holds longer with what was derived to hold as long, and nothing else does", async () => {
  const { leases, events, ends, turn } = bench();
  const lease = await leases.grant(grant("desk"));
  const until = (expiresAt: number): Parameters<typeof leases.derive>[1] => ({
    ...{ pid: CHILD, scope: read("desk"), expiresAt, reason: "a child" },
  });
  const [same, shorter] = [
    await leases.derive(lease.id, until(1_000)),
    await leases.derive(lease.id, until(500)),
  ];
  const taken = await leases.grant(grant("other"));
  await leases.revoke(taken.id, "no longer");
  await leases.renew([lease.id, taken.id], 5_000);
  turn(600);
  assert.deepEqual([lease, same, shorter, taken].map(({ id }) => leases.alive(id)), [
    ...[true, true, false, false],
  ]);
  turn(3_000);
  assert.ok(leases.alive(lease.id) && leases.alive(same.id));
  assert.deepEqual(ends, [`${taken.id.slice(-1)} revoked`, `${shorter.id.slice(-1)} expired`]);
  assert.deepEqual(
    events.slice(-2).map(({ kind, body }) => [kind, body["lease"], body["expiresAt"]]),
    [["leaseGranted", lease.id, 5_000], ["leaseGranted", same.id, 5_000]],
  );
  turn(2_000);
  assert.ok(!leases.alive(lease.id) && !leases.alive(same.id));
});

Deno.test("a lease that is taken back while it is renewed stays taken back", async () => {
  const { leases } = bench();
  const lease = await leases.grant(grant("desk"));
  await Promise.all([leases.renew([lease.id], 5_000), leases.revoke(lease.id, "no longer")]);
  assert.equal(leases.alive(lease.id), false);
  assert.notEqual(leases.get(lease.id)?.revokedAt, undefined);
  await leases.renew([lease.id], 9_000);
  assert.equal(leases.alive(lease.id), false);
});

Deno.test("no sequence of derivations and revocations gives a process what was not granted to it", async () => {
  const path = fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 4 }).map((p) => p.join("/"));
  const step = fc.oneof(
    fc.record({ kind: fc.constant("derive" as const), from: fc.nat(9), to: path, pid: fc.nat(3) }),
    fc.record({ kind: fc.constant("revoke" as const), from: fc.nat(9) }),
  );
  await fc.assert(
    fc.asyncProperty(path, fc.array(step, { maxLength: 20 }), path, async (root, steps, asked) => {
      const { leases } = bench();
      const made = [await leases.grant(grant(root))];
      const revoked = new Set<string>();
      for (const each of steps) {
        const from = made[each.from % made.length];
        if (from === undefined) continue;
        if (each.kind === "revoke") {
          for (const id of await leases.revoke(from.id, "x")) revoked.add(id);
        } else {
          const to = {
            pid: Pid.parse(each.pid + 2),
            scope: read(each.to),
            reason: "d",
            expiresAt: 900,
          };
          await leases.derive(from.id, to).then(
            (l) => made.push(l),
            (e) => assert.equal(e.code, "refused"),
          );
        }
      }
      for (const lease of made) {
        assert.equal(leases.alive(lease.id), !revoked.has(lease.id));
        for (let at = lease.parent; at !== undefined; at = leases.get(at)?.parent) {
          if (revoked.has(at)) assert.equal(leases.alive(lease.id), false);
        }
      }
      for (let pid = 2; pid < 7; pid++) {
        const found = leases.covering(Pid.parse(pid), read(asked));
        if (found !== undefined) assert.ok(covers(read(root), read(asked)));
      }
    }),
    { numRuns: 150 },
  );
});
