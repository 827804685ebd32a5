/**
 * A kernel's part in a fleet: renews its lease, takes over tasks of dead kernels, takes queued work, and drops tasks
 * that it has lost. Reading the table decides; a notification only makes the kernel look sooner. Wired in
 * kernel/main_fleet.ts.
 * @module
 */
import { Fault } from "../../../contracts/base/fault.ts";
import { isObject, type Json } from "../../../contracts/base/json.ts";
import { TaskId } from "../../../contracts/authority/ids.ts";
import type { AdoptingLog, StoredEvent } from "../../../contracts/task/store.ts";
import type { Powers } from "../../../contracts/task/process.ts";
import type { FleetAbout, FleetAsk } from "../../../contracts/wire/wire_store.ts";
import type { GrantedCall } from "../../../contracts/task/power.ts";

/** Tasks taken over in one look. */
const MAX_CLAIMS = 8;
/** Looks in one lease, and the bounds of the time between two looks, milliseconds. */
const LOOKS = 5, SOONEST_MS = 200, LATEST_MS = 2_000;
/** The channel that announces queued work, and the part of a lease that must be left to look without renewing. */
const WORK = "remit_work", FRESH = 0.7;

/** The parts of a fleet member: the shared store, this kernel's log, and callbacks into the kernel. */
export interface FleetMemberParts {
  readonly store: {
    fleet(ask: FleetAsk): Promise<Json>;
    chain(task: string, fromN: number): Promise<readonly StoredEvent[]>;
    head(task: string): Promise<{ readonly n: number } | undefined>;
    learn(task: string): Promise<void>;
  };
  readonly log: Pick<AdoptingLog, "adopt">;
  readonly powers: Pick<Powers, "after">;
  readonly leaseMs: number;
  steady(): number;
  about(): FleetAbout;
  note(line: string): void;
  /** Unfinished tasks of this kernel. */
  tasks(): readonly TaskId[];
  /** Number of further tasks that fit. */
  room(): number;
  /** Resumes a task that was taken over; its events are in this log already. */
  adopt(task: TaskId): Promise<void>;
  /** Starts queued work. */
  begin(task: TaskId, request: Json): Promise<void>;
  /** Drops a task that another kernel has now. */
  lose(task: TaskId): Promise<void>;
  /** Handles a message for this kernel. */
  hear(message: string): Promise<void>;
  /** True while this kernel has nothing to do. */
  idle(): boolean;
  /** Ends this kernel, which the fleet has drained or removed, with the reason. */
  end(why: string): void;
}

/** A kernel as a member of a fleet. */
export interface FleetMember {
  readonly lease: FleetLease;
  /** Starts to look at the table, now and then periodically. */
  start(): void;
  /** Looks soon: for queued work where `channel` names it, else for messages and the kernel's state too. */
  wake(channel: string): void;
  /** Frees this kernel's tasks for others. */
  leave(): Promise<void>;
}

/** Makes a member, which reads nothing before `start`. */
export function makeFleetMember(parts: FleetMemberParts): FleetMember {
  const { store, steady, leaseMs, note } = parts;
  let state = "up";
  let waiting = 0;
  const lease = makeFleetLease({
    ...{ leaseMs, steady },
    async beat(ms): Promise<void> {
      const ranOut = lease.left() < 0;
      const answer = await store.fleet({ kind: "beat", leaseMs: ms, about: parts.about() });
      if (isObject(answer)) {
        state = String(answer["state"]);
        waiting = Number(answer["waiting"]);
      }
      if (ranOut) await reconcile();
    },
  });
  let stopped = false;
  let looking: Promise<void> | undefined;
  let again = false;
  /** A notification concerned more than queued work. */
  let told = false;
  let trouble = "";
  /** Tasks that the table gives to this kernel and that do not run here yet, with their former kernel. */
  const claimed = new Map<TaskId, string>();
  let first = true;
  const pause = Math.min(LATEST_MS, Math.max(SOONEST_MS, leaseMs / LOOKS));

  /** After an expired lease: drops the tasks that other kernels took meanwhile. */
  const reconcile = async (): Promise<void> => {
    const mine = new Set(textsOf(await store.fleet({ kind: "mine" })));
    for (const task of parts.tasks()) {
      if (mine.has(task)) continue;
      note(`Task ${task} is another kernel's: this one was not heard of for too long`);
      await parts.lose(task);
    }
  };

  const begin = async (task: TaskId, text: string): Promise<void> => {
    try {
      await parts.begin(task, JSON.parse(text));
    } catch (error) {
      note(`Cannot begin task ${task}: ${String(error)}`);
    }
  };

  const takeOver = async (task: TaskId, former: string): Promise<void> => {
    let from = ((await store.head(task))?.n ?? -1) + 1;
    const before = from;
    for (;;) {
      const events = await store.chain(task, from);
      if (events.length === 0) break;
      await parts.log.adopt(events.map(({ seq: _seq, ...event }) => event));
      from += events.length;
    }
    note(`Took task ${task} over from kernel "${former}", with ${from - before} events`);
    if (from > 0) {
      await store.learn(task);
      return await parts.adopt(task);
    }
    // A kernel took the task from the queue and ended before its first event.
    const request = await store.fleet({ kind: "request", task });
    if (typeof request === "string") await begin(task, request);
  };

  const look = async (): Promise<void> => {
    // Renewing is a commit, so a look for work alone skips it while most of the lease is left.
    const fresh = !told && !first && lease.left() > leaseMs * FRESH;
    told = false;
    if (!fresh) await lease.extend();
    if (first) {
      first = false;
      const here = new Set<string>(parts.tasks());
      for (const name of textsOf(await store.fleet({ kind: "mine" }))) {
        const task = TaskId.safeParse(name);
        // Claimed by an earlier process of this kernel, which ended.
        if (task.success && !here.has(name)) {
          claimed.set(task.data, "an earlier process of this one");
        }
      }
    }
    if (waiting > 0) {
      for (const message of textsOf(await store.fleet({ kind: "receive" }))) {
        await parts.hear(message);
      }
    }
    if (state === "draining" && parts.idle()) return parts.end("it was drained");
    if (state !== "up" || stopped) return;
    const there = await store.fleet({ kind: "toBeHad" });
    const [tasks, waits] = isObject(there) ? [there["tasks"], there["work"]] : [true, true];
    const free = tasks === true ? await store.fleet({ kind: "claim", max: MAX_CLAIMS }) : [];
    for (const row of rowsOf(free)) {
      const task = TaskId.safeParse(row["task"]);
      if (task.success) claimed.set(task.data, String(row["former"]));
    }
    for (const [task, former] of [...claimed]) {
      try {
        await takeOver(task, former);
        claimed.delete(task);
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
        if (error.code === "leaseRevoked") claimed.delete(task);
        note(`Cannot take task ${task} over: ${error.message}`);
      }
    }
    const room = parts.room();
    if (room <= 0 || stopped || waits !== true) return;
    const work = rowsOf(await store.fleet({ kind: "take", max: room }));
    await Promise.all(work.map(async (row) => {
      const task = TaskId.safeParse(row["task"]);
      if (task.success) await begin(task.data, String(row["request"]));
    }));
    again ||= work.length === room;
  };

  const round = (): void => {
    if (stopped) return;
    if (looking !== undefined) {
      again = true;
      return;
    }
    looking = look().then(() => trouble = "", (error: unknown) => {
      if (error instanceof Fault && error.code === "gone") return parts.end(error.message);
      // Noted once, although each later look may fail the same way.
      if (trouble !== String(error)) note(`Cannot look at the fleet: ${String(error)}`);
      trouble = String(error);
    }).then(() => {
      looking = undefined;
      if (!again) return;
      again = false;
      round();
    });
  };

  const tick = (): void => {
    told = true;
    round();
    if (!stopped) parts.powers.after(pause, tick);
  };

  return Object.freeze<FleetMember>({
    lease,
    start: tick,
    wake(channel): void {
      told ||= channel !== WORK;
      round();
    },
    async leave(): Promise<void> {
      stopped = true;
      await looking;
      await store.fleet({ kind: "leave" });
    },
  });
}

function rowsOf(answer: Json): readonly Readonly<Record<string, Json>>[] {
  return Array.isArray(answer) ? answer.filter(isObject) : [];
}

function textsOf(answer: Json): readonly string[] {
  return Array.isArray(answer) ? answer.map(String) : [];
}

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
