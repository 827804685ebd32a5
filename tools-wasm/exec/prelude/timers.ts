/**
 * `setTimeout` and related functions over a clock that advances only when nothing else is left to
 * do. @module
 */
import {
  apply,
  MakeMap,
  MakeTypeError,
  mapDelete,
  mapForEach,
  mapSet,
  max,
  min,
  put,
} from "./primordials.ts";

/** The clock at the start of every call: 1 January 2026, in milliseconds since 1970. */
const START = 1_767_225_600_000;

interface Timer {
  readonly id: number;
  readonly due: number;
  readonly every: number | undefined;
  readonly run: () => unknown;
}

/** Timers of a program. */
export interface Timers {
  /** Advances the clock to the next timer and runs it; false for none. Throws its errors. */
  readonly next: () => boolean;
  /** Clears all timers and resets the clock. */
  readonly begin: () => void;
}

/** Puts timers on `target`; `setClock` sets the time of `Date`. */
export function makeTimers(target: object, setClock: (ms: number) => void): Timers {
  const timers = new MakeMap<number, Timer>();
  let now = START;
  let last = 0;
  const add = (fn: unknown, ms: unknown, every: boolean, args: readonly unknown[]): number => {
    if (typeof fn !== "function") throw new MakeTypeError("A timer needs a function");
    const wait = min(max(typeof ms === "number" && ms === ms ? ms : 0, every ? 1 : 0), 2 ** 31);
    last += 1;
    const run = (): unknown => apply(fn, undefined, args);
    mapSet(timers, last, { id: last, due: now + wait, every: every ? wait : undefined, run });
    return last;
  };
  const remove = (id: unknown): void => {
    if (typeof id === "number") mapDelete(timers, id);
  };
  put(
    target,
    "setTimeout",
    (fn: unknown, ms: unknown, ...args: unknown[]) => add(fn, ms, false, args),
  );
  put(
    target,
    "setInterval",
    (fn: unknown, ms: unknown, ...args: unknown[]) => add(fn, ms, true, args),
  );
  put(target, "setImmediate", (fn: unknown, ...args: unknown[]) => add(fn, 0, false, args));
  put(target, "clearTimeout", remove);
  put(target, "clearInterval", remove);
  put(target, "clearImmediate", remove);
  return {
    next: () => {
      let first: Timer | undefined;
      mapForEach(timers, (timer) => {
        if (first === undefined || timer.due < first.due) first = timer;
      });
      const timer = first as Timer | undefined;
      if (timer === undefined) return false;
      now = max(now, timer.due);
      setClock(now);
      if (timer.every === undefined) mapDelete(timers, timer.id);
      else mapSet(timers, timer.id, { ...timer, due: now + timer.every });
      timer.run();
      return true;
    },
    begin: () => {
      mapForEach(timers, (_timer, id) => mapDelete(timers, id));
      now = START;
      setClock(now);
    },
  };
}
