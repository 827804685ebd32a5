/**
 * A kernel's lease of its tasks, counted twice: by the database's clock, which decides who may take the tasks over, and
 * here by a steady clock, from a moment before the database was asked. An effect starts only while the local count
 * covers the call's deadline. docs/decision/0103.
 * @module
 */
import { Fault } from "../../../contracts/base/fault.ts";
import type { GrantedCall } from "../../../contracts/task/power.ts";

/** Milliseconds that a lease must last beyond a call's deadline: the time from the gate to the power. */
const MARGIN_MS = 2_000;

/** The parts of a kernel's lease. */
export interface FleetLeaseParts {
  /** Milliseconds of a lease while no call needs more. */
  readonly leaseMs: number;
  /** Milliseconds of a monotonic clock that runs on while this process is stopped. */
  steady(): number;
  /** Sets the lease's length in the database, in milliseconds from now by the database's clock. */
  beat(leaseMs: number): Promise<void>;
}

/** A kernel's lease of all its tasks. */
export interface FleetLease {
  /** Remaining milliseconds; negative after the end. */
  left(): number;
  /** Renews the lease; rejects with the database's fault. */
  extend(): Promise<void>;
  /** Renews the lease where it is too short for a call with an effect. When this rejects, the call must not start. */
  cover(call: Pick<GrantedCall, "token" | "deadlineMs">): Promise<void>;
  /**
   * Called by a power right before its effect.
   * @throws Fault `leaseExpired` where the lease ends before the call's deadline
   */
  check(call: Pick<GrantedCall, "token" | "deadlineMs" | "tool">): void;
}

/** Counts a lease that the database granted just now. */
export function makeFleetLease(parts: FleetLeaseParts): FleetLease {
  const { leaseMs, steady } = parts;
  let until = steady() + leaseMs;
  /** The latest end that running calls need. */
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
