/** A kernel that a run started ends with it when nothing is left to do. DESIGN section 1. @module */
import type { Powers } from "../../contracts/mod.ts";

/** What {@link makeIdleWatch} is handed. */
export interface IdleParts {
  readonly powers: Pick<Powers, "after">;
  /** Milliseconds without work or connection. */
  readonly idleMs: number;
  /** Never ends by itself. */
  readonly stay: boolean;
  busy(): boolean;
  end(): void;
}

/** The watch over an idle kernel. */
export interface IdleWatch {
  start(): void;
  /** Ends the kernel as soon as no task is at work. */
  endSoon(): void;
}

/** Looks whether there is work, and ends the kernel after a while without. */
export function makeIdleWatch(parts: IdleParts): IdleWatch {
  let quiet = false;
  const look = (): void => {
    if (parts.busy()) quiet = false;
    else if (quiet) {
      parts.end();
      return;
    } else quiet = true;
    parts.powers.after(parts.idleMs, look);
  };
  const drain = (): void => {
    if (!parts.busy()) parts.end();
    else parts.powers.after(50, drain);
  };
  return Object.freeze({
    start(): void {
      if (!parts.stay) parts.powers.after(parts.idleMs, look);
    },
    endSoon: () => void parts.powers.after(0, drain),
  });
}
