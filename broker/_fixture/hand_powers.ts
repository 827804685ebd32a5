/** The powers of tests: a clock turned by hand, sequential ids, recorded failpoints. @module */
import type { Powers } from "../../contracts/task/mod.ts";
import { sha256Hex } from "../../port/digest.ts";

/** A clock turned by hand, sequential ids, and recorded failpoints. */
export interface HandPowers extends Powers {
  turn(ms: number): void;
  /** Moves only the clock: the machine slept, or a person set it. */
  leap(ms: number): void;
  /** Timers that were neither stopped nor fired. */
  armed(): number;
  readonly reached: string[];
}

/** Makes the powers. The clock stands at 1,000,000 ms. */
export function handPowers(): HandPowers {
  let now = 1_000_000, count = 0;
  const timers = new Map<number, { at: number; f: () => void }>();
  const reached: string[] = [];
  return {
    reached,
    now: () => now,
    id: (prefix) => prefix + (++count).toString(36).padStart(12, "0"),
    token: () => sha256Hex(`token ${++count}`).slice(0, 32),
    after: (ms, f) => {
      const id = ++count;
      timers.set(id, { at: now + ms, f });
      return () => void timers.delete(id);
    },
    reach: (point) => void reached.push(point),
    leap: (ms) => void (now += ms),
    armed: () => timers.size,
    turn: (ms) => {
      now += ms;
      for (const [id, timer] of [...timers]) {
        if (timer.at > now) continue;
        timers.delete(id);
        timer.f();
      }
    },
  };
}
