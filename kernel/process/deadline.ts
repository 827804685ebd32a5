/** A deadline that stands still while its process is stopped. @module */
import type { Powers } from "../../contracts/mod.ts";

/** A running deadline. */
export interface Deadline {
  /** Stops the clock. Idempotent. */
  freeze(): void;
  /** Lets it run on with what was left. Idempotent. */
  thaw(): void;
  /** It will not come any more. Idempotent. */
  cancel(): void;
}

/** Calls `due` once, after `ms` milliseconds in which it was not frozen. */
export function makeDeadline(
  powers: Pick<Powers, "now" | "after">,
  ms: number,
  due: () => void,
): Deadline {
  let left = ms;
  let since = powers.now();
  let cancel: (() => void) | undefined;
  let over = false;

  const run = (): void => {
    since = powers.now();
    cancel = powers.after(left, () => {
      over = true;
      cancel = undefined;
      due();
    });
  };
  const halt = (): void => {
    if (cancel === undefined) return;
    cancel();
    cancel = undefined;
    left = Math.max(0, left - (powers.now() - since));
  };

  run();
  return Object.freeze({
    freeze: halt,
    thaw(): void {
      if (!over && cancel === undefined) run();
    },
    cancel(): void {
      over = true;
      halt();
    },
  });
}
