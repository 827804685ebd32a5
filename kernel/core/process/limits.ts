/** Limits of processes: checking a charge against them, narrowing them, and deadlines. @module */
import type { Pid, TaskId } from "../../../contracts/authority/ids.ts";
import type { ChargeableUsage, Limits, Powers, Usage } from "../../../contracts/task/mod.ts";

/** One charge against a process. */
export type Charge = Partial<ChargeableUsage>;

type Counted = Exclude<keyof Usage, "callsByEffect" | "toolCalls">;

/** Every plain counter and the limit that bounds it. */
const COUNTERS = {
  inputTokens: "inputTokens",
  outputTokens: "outputTokens",
  money: "money",
  resultBytes: "resultBytes",
  writtenBytes: "writtenBytes",
  children: "children",
  questions: "questions",
  iterations: "iterations",
} as const satisfies Record<Counted, keyof Limits>;

const NAMES = Object.keys(COUNTERS) as readonly Counted[];

/** The name of the first limit that `usage` with `charge` would pass; undefined when all of it fits. */
export function passes(usage: Usage, limits: Limits, charge: Charge): string | undefined {
  for (const name of NAMES) {
    const more = charge[name];
    if (more !== undefined && more > 0 && usage[name] + more > limits[COUNTERS[name]]) return name;
  }
  const tokens = (charge.inputTokens ?? 0) + (charge.outputTokens ?? 0);
  if (tokens > 0 && usage.inputTokens + usage.outputTokens + tokens > limits.totalTokens) {
    return "totalTokens";
  }
  if (charge.call !== undefined) {
    if (usage.toolCalls + 1 > limits.toolCalls) return "toolCalls";
    const max = limits.callsByEffect[charge.call];
    if (max !== undefined && (usage.callsByEffect[charge.call] ?? 0) + 1 > max) {
      return `callsByEffect.${charge.call}`;
    }
  }
  return undefined;
}

/** Adds a charge to the usage. */
export function count(usage: Usage, charge: Charge): void {
  for (const name of NAMES) usage[name] += charge[name] ?? 0;
  if (charge.call === undefined) return;
  usage.toolCalls += 1;
  usage.callsByEffect[charge.call] = (usage.callsByEffect[charge.call] ?? 0) + 1;
}

/** The part of a child's charge that its ancestors bear, too: model turns count only for the process itself. */
export function inherited(charge: Charge): Charge {
  const { iterations: _own, ...rest } = charge;
  return rest;
}

/** The parent's limits, lowered to the child's request where that is less. */
export function narrowed(parent: Limits, asked: Partial<Limits>): Limits {
  const { callsByEffect: effects, ...plain } = parent;
  const limits: Record<string, number> = {};
  for (const [name, max] of Object.entries(plain)) {
    const wanted = (asked as Readonly<Record<string, unknown>>)[name];
    limits[name] = typeof wanted === "number" ? Math.min(max, wanted) : max;
  }
  const callsByEffect: Record<string, number> = { ...effects };
  for (const [effect, wanted] of Object.entries(asked.callsByEffect ?? {})) {
    callsByEffect[effect] = Math.min(wanted, callsByEffect[effect] ?? parent.toolCalls);
  }
  return { ...parent, ...limits, callsByEffect };
}

/** The name of the first limit in which `asked` exceeds `held`; undefined when none does. */
export function above(held: Limits, asked: Partial<Limits>): string | undefined {
  const { callsByEffect, ...plain } = asked;
  for (const [name, wanted] of Object.entries(plain)) {
    const max = (held as Readonly<Record<string, unknown>>)[name];
    if (typeof wanted === "number" && typeof max === "number" && wanted > max) return name;
  }
  for (const [effect, wanted] of Object.entries(callsByEffect ?? {})) {
    if (wanted > (held.callsByEffect[effect] ?? held.toolCalls)) return `callsByEffect.${effect}`;
  }
  return undefined;
}

/** A running deadline. */
export interface Deadline {
  /** Stops the clock until the returned function is called. Stops of the same clock may overlap. */
  pause(): () => void;
  /** Replaces the remaining time; no effect while the clock is stopped. */
  restart(ms: number): void;
  /** Ends the deadline without calling `due`. Idempotent. */
  cancel(): void;
}

/** Stops and resumes the clocks of processes. */
export interface Freezer {
  /** SIGSTOP. Idempotent, like {@link Freezer.thaw}. */
  freeze(pid: Pid): void;
  /** SIGCONT. */
  thaw(pid: Pid): void;
}

/** Programs that run for tasks. */
export interface TaskPrograms extends Freezer {
  /** Operating-system processes of a task, for `ps`. */
  osPids(task: TaskId): readonly number[];
  /** Ends a task's programs; resolves once they are reaped. */
  close(task: TaskId): Promise<void>;
}

/** Running deadlines of processes. */
export interface Deadlines extends Freezer {
  /** Calls `due` once, after `ms` milliseconds in which neither the process nor the deadline was stopped. */
  start(pid: Pid, ms: number, due: () => void): Deadline;
}

/** Makes an empty set of deadlines. */
export function makeDeadlines(powers: Pick<Powers, "now" | "after">): Deadlines {
  const clocks = new Set<{ readonly pid: Pid; stop(): void; go(): void }>();
  const frozen = new Set<Pid>();
  const of = (pid: Pid) => [...clocks].filter((clock) => clock.pid === pid);

  return Object.freeze<Deadlines>({
    start(pid, ms, due): Deadline {
      let left = ms, since = 0, stops = 0;
      let cancel: (() => void) | undefined;
      const run = (): void => {
        since = powers.now();
        cancel = powers.after(left, () => {
          cancel = undefined;
          clocks.delete(clock);
          due();
        });
      };
      const halt = (): void => {
        if (cancel === undefined) return;
        cancel();
        cancel = undefined;
        left = Math.max(0, left - (powers.now() - since));
      };
      const clock = {
        pid,
        stop: () => void (stops++ === 0 && halt()),
        go: () => void (--stops === 0 && clocks.has(clock) && run()),
      };
      clocks.add(clock);
      run();
      if (frozen.has(pid)) clock.stop();
      return Object.freeze<Deadline>({
        pause(): () => void {
          clock.stop();
          return clock.go;
        },
        restart(ms): void {
          if (cancel === undefined) return;
          halt();
          left = ms;
          run();
        },
        cancel(): void {
          clocks.delete(clock);
          halt();
        },
      });
    },
    freeze(pid): void {
      if (frozen.has(pid)) return;
      frozen.add(pid);
      for (const clock of of(pid)) clock.stop();
    },
    thaw(pid): void {
      if (frozen.delete(pid)) { for (const clock of of(pid)) clock.go(); }
    },
  });
}

/**
 * Makes a clock of milliseconds since 1970 that never goes back: a lease for a minute ends after a
 * minute. The clock follows `wall` where that goes forward (also over a sleep of the machine), and
 * `steady`, which nobody can set, where `wall` stands still or goes back.
 */
export function makeForwardClock(
  { wall, steady }: { wall(): number; steady(): number },
): () => number {
  let last = wall();
  let at = steady();
  return () => {
    const now = steady();
    last = Math.max(wall(), last + Math.max(0, now - at));
    at = now;
    return Math.floor(last);
  };
}
