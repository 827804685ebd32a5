import assert from "node:assert/strict";
import { makeIdleWatch } from "./idle.ts";

/** A kernel whose clock is turned by hand. */
function idle(idleMs: number): {
  readonly busy: { now: boolean };
  readonly deserted: { now: boolean };
  readonly ended: number[];
  turn(ms: number): Promise<void>;
  wakes: number;
} {
  let clock = 0;
  let timers: { at: number; f: () => void }[] = [];
  const made = {
    busy: { now: false },
    deserted: { now: false },
    ended: [] as number[],
    wakes: 0,
    async turn(ms: number): Promise<void> {
      for (const end = clock + ms; clock < end;) {
        clock += 500;
        const due = timers.filter(({ at }) => at <= clock);
        timers = timers.filter(({ at }) => at > clock);
        for (const { f } of due) f();
        made.wakes += due.length;
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
  };
  makeIdleWatch({
    powers: {
      now: () => clock,
      after(ms, f) {
        timers.push({ at: clock + ms, f });
        return () => undefined;
      },
    },
    idleMs,
    stay: false,
    busy: () => made.busy.now,
    deserted: () => Promise.resolve(made.deserted.now),
    end: () => void made.ended.push(clock),
  }).start();
  return made;
}

Deno.test("a kernel stays as long as it was told after its last work, and sleeps meanwhile", async () => {
  const kernel = idle(600_000);
  kernel.busy.now = true;
  await kernel.turn(100_000);
  kernel.busy.now = false;
  await kernel.turn(590_000);
  assert.deepEqual(kernel.ended, []);
  kernel.busy.now = true;
  await kernel.turn(20_000);
  kernel.busy.now = false;
  await kernel.turn(600_000);
  assert.deepEqual(kernel.ended, []);
  await kernel.turn(40_000);
  assert.equal(kernel.ended.length, 1);
  assert.ok(kernel.wakes <= 1_350_000 / 15_000 + 1);
});

Deno.test("where nobody can come any more it ends at once, but not under its work", async () => {
  const kernel = idle(600_000);
  kernel.busy.now = true;
  kernel.deserted.now = true;
  await kernel.turn(60_000);
  assert.deepEqual(kernel.ended, []);
  kernel.busy.now = false;
  await kernel.turn(16_000);
  assert.equal(kernel.ended.length, 1);
});

Deno.test("a kernel that is to leave soon does", async () => {
  const kernel = idle(2_000);
  await kernel.turn(5_000);
  assert.equal(kernel.ended.length, 1);
});
