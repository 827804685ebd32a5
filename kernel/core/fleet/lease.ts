/**
 * A kernel's lease of its tasks, counted twice: by the database's clock, which decides who may take them over, and here by
 * a clock that nobody sets, from before the database was asked. An effect starts only where this count covers its
 * deadline. docs/decision/0103.
 * @module
 */
import { Fault } from "../../../contracts/base/fault.ts";
import type { GrantedCall } from "../../../contracts/task/power.ts";

/** Milliseconds beyond a call's deadline that its cover lasts: for the way from the gate to the power. */
const MARGIN_MS = 2_000;

/** What {@link makeFleetLease} is handed. */
export interface FleetLeaseParts {
  /** How long the lease is without a call that needs more. */
  readonly leaseMs: number;
  /** Milliseconds of a clock that nobody sets, and that goes on while this process is stopped. */
  steady(): number;
  /** Makes the lease so long, by the database's clock. */
  beat(leaseMs: number): Promise<void>;
}

/** A lease. */
export interface FleetLease {
  /** Milliseconds that it lasts yet; negative once it has run out. */
  left(): number;
  /** Makes it longer. */
  extend(): Promise<void>;
  /** Makes it cover a call that has an effect. Rejects as the database says: then the call does not start. */
  cover(call: Pick<GrantedCall, "token" | "deadlineMs">): Promise<void>;
  /**
   * What a power calls before its effect.
   * @throws Fault `leaseExpired` where the lease does not last for the call
   */
  check(call: Pick<GrantedCall, "token" | "deadlineMs" | "tool">): void;
}

/** Makes the count; the lease was just given. */
export function makeFleetLease(parts: FleetLeaseParts): FleetLease {
  const { leaseMs, steady } = parts;
  let until = steady() + leaseMs;
  /** Until when the calls under way need it. */
  let needed = 0;
  const covered = new Set<string>();
  let beating: Promise<void> = Promise.resolve();

  const left = (): number => until - steady();
  const beat = async (): Promise<void> => {
    const before = steady();
    const ms = Math.ceil(Math.max(leaseMs, needed - before));
    await parts.beat(ms);
    until = before + ms;
  };
  const extend = (): Promise<void> => {
    beating = beating.then(beat, beat);
    return beating;
  };

  return Object.freeze<FleetLease>({
    left,
    extend,
    async cover({ token, deadlineMs }): Promise<void> {
      const wanted = steady() + deadlineMs + MARGIN_MS;
      needed = Math.max(needed, wanted);
      if (until < wanted) await extend();
      covered.add(token);
    },
    check({ token, deadlineMs, tool }): void {
      const needs = covered.delete(token) ? deadlineMs : 0;
      if (left() >= needs && left() > 0) return;
      throw new Fault(
        "leaseExpired",
        `Cannot start "${tool}": this kernel's lease of its tasks does not last for it, and another may take them over`,
      );
    },
  });
}
