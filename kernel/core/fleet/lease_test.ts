import assert from "node:assert/strict";
import { Fault } from "../../../contracts/base/fault.ts";
import { ToolName } from "../../../contracts/authority/ids.ts";
import { makeFleetLease } from "./member.ts";

const tool = ToolName.parse("post");

/** A lease of 1,000 ms on a hand-turned clock; `asked` are the leases that the database was asked for. */
function world() {
  const at = { ms: 0, silent: false };
  const asked: number[] = [];
  const lease = makeFleetLease({
    leaseMs: 1_000,
    steady: () => at.ms,
    beat(ms): Promise<void> {
      if (at.silent) return Promise.reject(new Fault("unavailable", "Cannot beat: silent"));
      asked.push(ms);
      // The answer takes a while, and the lease is counted from before it was asked for.
      at.ms += 100;
      return Promise.resolve();
    },
  });
  return { at, asked, lease };
}

const refused = (work: () => void): void =>
  assert.throws(work, (error: unknown) => error instanceof Fault && error.code === "leaseExpired");

Deno.test("a lease is counted from before it was asked for", async () => {
  const { at, lease } = world();
  assert.equal(lease.left(), 1_000);
  at.ms = 400;
  await lease.extend();
  assert.equal(lease.left(), 900);
});

Deno.test("an effect starts only where the lease covers its deadline", async () => {
  const { at, asked, lease } = world();
  const call = { token: "a", deadlineMs: 5_000, tool };
  await lease.cover(call);
  assert.equal(asked.length, 1);
  assert.ok((asked[0] ?? 0) >= 5_000);
  lease.check(call);
  const late = { token: "b", deadlineMs: 5_000, tool };
  await lease.cover(late);
  // The kernel is paused between the intent and its effect.
  at.ms += 3_000;
  refused(() => lease.check(late));
});

Deno.test("once the lease has run out not even a read starts, and a kernel that is cut off has none", async () => {
  const { at, lease } = world();
  const read = { token: "r", deadlineMs: 10, tool };
  lease.check(read);
  at.silent = true;
  at.ms = 990;
  await assert.rejects(lease.extend());
  lease.check(read);
  at.ms = 1_001;
  refused(() => lease.check(read));
  await assert.rejects(lease.cover({ token: "c", deadlineMs: 100 }));
  at.silent = false;
  await lease.extend();
  lease.check(read);
});

Deno.test("a lease does not become shorter under a call that needs it", async () => {
  const { at, asked, lease } = world();
  await lease.cover({ token: "a", deadlineMs: 9_000 });
  at.ms += 2_000;
  await lease.extend();
  assert.ok((asked[1] ?? 0) >= 9_000 - 2_100 + 2_000);
  at.ms += 20_000;
  await lease.extend();
  assert.equal(asked[2], 1_000);
});
