/** Ends a kernel that has had no work for a time, or that nobody can reach any more. Used by kernel/main.ts. @module */
import type { Powers } from "../../contracts/task/mod.ts";

interface IdleParts {
  readonly powers: Pick<Powers, "after" | "now">;
  /** Milliseconds without work or connections before the end. */
  readonly idleMs: number;
  /** The kernel never ends by itself. */
  readonly stay: boolean;
  busy(): boolean;
  /** Tells whether no one can connect any more: the login session has ended, or its runtime folder is gone. */
  deserted(): Promise<boolean>;
  end(): void;
}

/** Ends an idle kernel. */
export interface IdleWatch {
  start(): void;
  /** Ends the kernel as soon as no task is at work. */
  endSoon(): void;
}

/** Milliseconds between two checks: an idle kernel wakes four times a minute. */
const CHECK_MS = 15_000;

/** Makes the watch, which ends the kernel after a time without work. */
export function makeIdleWatch(parts: IdleParts): IdleWatch {
  const { powers, idleMs } = parts;
  const gap = Math.min(idleMs, CHECK_MS);
  let quietSince: number | undefined;
  const look = async (): Promise<void> => {
    const now = powers.now();
    if (parts.busy()) quietSince = undefined;
    else quietSince ??= now;
    const over = quietSince !== undefined && (now - quietSince >= idleMs || await parts.deserted());
    // A connection may have come during the check.
    if (over && !parts.busy()) parts.end();
    else powers.after(gap, () => void look());
  };
  const drain = (): void => {
    if (!parts.busy()) parts.end();
    else parts.powers.after(50, drain);
  };
  return Object.freeze({
    start(): void {
      if (!parts.stay) powers.after(gap, () => void look());
    },
    endSoon: () => void parts.powers.after(0, drain),
  });
}
