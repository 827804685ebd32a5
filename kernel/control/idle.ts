/** A kernel that a run started ends when there was nothing to do for a while. @module */
import type { Powers } from "../../contracts/mod.ts";

/** What {@link makeIdleWatch} is handed. */
export interface IdleParts {
  readonly powers: Pick<Powers, "after" | "now">;
  /** Milliseconds without work or connection. */
  readonly idleMs: number;
  /** Never ends by itself. */
  readonly stay: boolean;
  busy(): boolean;
  /** Nobody can come any more: the login session has ended, or its runtime folder is gone. */
  deserted(): Promise<boolean>;
  end(): void;
}

/** The watch over an idle kernel. */
export interface IdleWatch {
  start(): void;
  /** Ends the kernel as soon as no task is at work. */
  endSoon(): void;
}

/** Milliseconds between two looks, at most: a kernel that waits wakes four times a minute. */
const LOOK_MS = 15_000;

/** Looks whether there is work, and ends the kernel after a while without. */
export function makeIdleWatch(parts: IdleParts): IdleWatch {
  const { powers, idleMs } = parts;
  const gap = Math.min(idleMs, LOOK_MS);
  let quietSince: number | undefined;
  const look = async (): Promise<void> => {
    const now = powers.now();
    if (parts.busy()) quietSince = undefined;
    else quietSince ??= now;
    const over = quietSince !== undefined && (now - quietSince >= idleMs || await parts.deserted());
    // Somebody may have come while that was found out.
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
