import assert from "node:assert/strict";
import { atMoment } from "./moment.ts";

/** A clock and timers that are turned apart: a machine that sleeps has the one go on without the other. */
function clocks(): {
  readonly powers: Parameters<typeof atMoment>[0];
  wake(ms: number): void;
  suspend(ms: number): void;
  armed(): number;
} {
  let [wall, steady] = [1_000_000, 0];
  const timers = new Set<{ at: number; f: () => void }>();
  return {
    powers: {
      now: () => wall,
      after(ms, f) {
        const timer = { at: steady + ms, f };
        timers.add(timer);
        return () => void timers.delete(timer);
      },
    },
    wake(ms) {
      for (let left = ms; left > 0; left -= Math.min(left, 1_000)) {
        const step = Math.min(left, 1_000);
        wall += step;
        steady += step;
        for (const timer of [...timers]) if (timer.at <= steady && timers.delete(timer)) timer.f();
      }
    },
    suspend: (ms) => void (wall += ms),
    armed: () => timers.size,
  };
}

Deno.test("a moment is waited for, and comes once", () => {
  const { powers, wake, armed } = clocks();
  let due = 0;
  atMoment(powers, powers.now() + 100_000, () => due++);
  wake(99_000);
  assert.equal(due, 0);
  wake(1_000);
  assert.equal(due, 1);
  wake(200_000);
  assert.deepEqual([due, armed()], [1, 0]);
});

Deno.test("a machine that slept over a moment comes to it soon after, not a night later", () => {
  const { powers, wake, suspend } = clocks();
  let due = 0;
  atMoment(powers, powers.now() + 86_400_000, () => due++);
  wake(5_000);
  suspend(90_000_000);
  wake(30_000);
  assert.equal(due, 1);
});

Deno.test("who stops waiting is not called, and leaves no timer", () => {
  const { powers, wake, armed } = clocks();
  const stop = atMoment(powers, powers.now() + 100_000, () => assert.fail("called"));
  wake(50_000);
  stop();
  wake(100_000);
  assert.equal(armed(), 0);
});
