/**
 * Schedules: the operator's own text at given times, each firing once, missed firings by an
 * explicit rule. Used by triggers.ts and cli/service/trigger_commands.ts.
 * @module
 */
import { Cron } from "croner";
import type { TaskId } from "../../contracts/authority/mod.ts";
import { Fault } from "../../contracts/base/mod.ts";
import type { ScheduleConfig } from "../../contracts/policy/mod.ts";
import {
  type Firing,
  type FiringBook,
  type FiringPowers,
  firingSession,
  mayPass,
  scheduleIngress,
  type SettledFirings,
} from "./firing.ts";

/** Times at which a schedule fires, milliseconds since 1970. */
export interface CronTimes {
  /** The first time after `after`; undefined where there is none. */
  next(after: number): number | undefined;
  /** The newest `max` times after `from`, up to and including `to`, ascending. */
  between(from: number, to: number, max: number): readonly number[];
}

/**
 * Reads a schedule's times: five fields, or six with seconds first. Where clocks go forward, a
 * skipped time fires when the hour has passed; where clocks go back, a repeated time fires once.
 *
 * @throws Fault `invalidInput`
 */
export function readCron(
  { cron, timezone = "UTC" }: Pick<ScheduleConfig, "cron" | "timezone">,
  where: string,
): CronTimes {
  let times: Cron;
  try {
    times = new Cron(cron, { timezone, mode: "5-or-6-parts" });
    times.nextRun(new Date(0));
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    const why = message.startsWith("CronDate:")
      ? `there is no time zone "${timezone}"; write one such as Europe/Paris`
      : `"${cron}" is no time: ${message.replace(/^CronPattern: /, "").slice(0, 200)}`;
    throw new Fault("invalidInput", `Cannot use ${where}: ${why}`, { cause });
  }
  return Object.freeze<CronTimes>({
    next: (after) => times.nextRun(new Date(after))?.getTime(),
    between: (from, to, max) =>
      // Counted from the end: years of missed firings cost no more than the newest ones.
      times.previousRuns(max, new Date(to + 1)).map((each) => each.getTime())
        .filter((each) => each > from && each <= to).reverse(),
  });
}

/** The powers of {@link makeSchedules}, and its schedules. */
export interface ScheduleParts extends FiringPowers {
  readonly schedules: Readonly<Record<string, ScheduleConfig>>;
  /** Whether a task of this service has not ended. */
  running(task: TaskId): Promise<boolean>;
  readonly book: Pick<FiringBook, "schedule" | "settle">;
  /** Calls `then` after `ms` milliseconds; the returned function cancels it. */
  after(ms: number, then: () => void): () => void;
}

/** The schedules of one service. */
export interface Schedules {
  /** Fires what was missed, by each schedule's rule, and continues from there. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Milliseconds after which a late firing counts as missed. */
const ON_TIME_MS = 60_000;
/** Maximum missed firings that `all` makes up for. */
const MAX_MISSED = 100;
/** Milliseconds between checks of the clock: it may have been set, or the machine slept. */
const LOOK_MS = 60_000;
/** A clock that went back by more was wrong before: firings continue from now. */
const BACK_MS = 3_600_000;

/** The firing at one time, which is its key. */
function scheduleFiring(name: string, config: ScheduleConfig, key: string): Firing {
  const ingress = scheduleIngress(name);
  return {
    kind: "schedule",
    name,
    request: config.request,
    session: firingSession(ingress.principal, key),
    ingress,
  };
}

/** The firings in `(from, now]` that run by the schedule's rule; ascending. */
function dueFirings(
  times: CronTimes,
  span: { readonly from: number; readonly now: number },
  missed: ScheduleConfig["missed"],
): readonly number[] {
  const due = times.between(span.from, span.now, missed === "all" ? MAX_MISSED : 1);
  if (missed === "all" || missed === "once") return due;
  return due.filter((each) => span.now - each <= ON_TIME_MS);
}

/** Makes the schedules. Throws Fault `invalidInput` for a time that does not parse. */
export function makeSchedules(parts: ScheduleParts): Schedules {
  const { book, note } = parts;
  const entries = Object.entries(parts.schedules).map(([name, config]) => ({
    name,
    config,
    times: readCron(config, `schedule "${name}" (${parts.at(`schedules.${name}`)})`),
  }));
  type Entry = typeof entries[number];
  let cancel: (() => void) | undefined;
  let lastRound: Promise<void> = Promise.resolve();
  let stopped = false;

  const since = (name: string): SettledFirings => {
    const now = parts.now(), have = book.schedule(name);
    if (have !== undefined && have.upTo <= now + BACK_MS) return have;
    if (have !== undefined) note(`schedule ${name}: the clock went back; it goes on from now`);
    const fresh = { skipped: 0, ...have, upTo: now };
    book.settle(name, fresh);
    return fresh;
  };

  /** Runs one firing; tells whether the next may follow. */
  const fire = async ({ name, config }: Entry, at: number): Promise<boolean> => {
    const have = since(name);
    const when = new Date(at).toISOString();
    if (have.task !== undefined && await parts.running(have.task)) {
      note(`schedule ${name}: ${when} is left out: its task ${have.task} still runs`);
      book.settle(name, { ...have, upTo: at, skipped: have.skipped + 1 });
      return true;
    }
    try {
      const { task, already } = await parts.fire(scheduleFiring(name, config, String(at)));
      // Noted after the task exists: the kernel knows the session of a repeated firing.
      book.settle(name, { ...have, upTo: at, fired: at, task });
      if (!already) note(`schedule ${name}: ${when}: task ${task}`);
      return true;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      note(`schedule ${name}: ${when} made no task: ${why}`);
      if (mayPass(error)) return false;
      book.settle(name, { ...have, upTo: at, skipped: have.skipped + 1 });
      return true;
    }
  };

  const look = async (entry: Entry): Promise<void> => {
    const { name, config, times } = entry;
    const { upTo: from } = since(name), now = parts.now();
    const newest = times.between(from, now, 1)[0];
    if (newest === undefined) return;
    for (const at of dueFirings(times, { from, now }, config.missed)) {
      if (stopped || !await fire(entry, at)) return;
    }
    const have = since(name);
    if (have.upTo >= newest) return;
    note(`schedule ${name}: firings up to ${new Date(newest).toISOString()} were missed`);
    book.settle(name, { ...have, upTo: newest, skipped: have.skipped + 1 });
  };

  /** Never rejects: what fails now, as on a full disk, is due again at the next check. */
  const round = async (): Promise<void> => {
    try {
      for (const entry of entries) if (!stopped) await look(entry);
    } catch (error) {
      note(`schedules: ${error instanceof Error ? error.message : String(error)}`);
    }
  };

  const wait = (): void => {
    if (stopped || entries.length === 0) return;
    const now = parts.now();
    const next = entries.flatMap(({ times }) => times.next(now) ?? []);
    const ms = Math.max(1, Math.min(LOOK_MS, ...next.map((each) => each - now)));
    cancel = parts.after(ms, () => {
      lastRound = round().then(wait);
    });
  };

  return Object.freeze<Schedules>({
    async start(): Promise<void> {
      lastRound = round();
      await lastRound;
      wait();
    },
    async stop(): Promise<void> {
      stopped = true;
      cancel?.();
      await lastRound;
    },
  });
}
