/**
 * A kernel's part in a fleet: it says that it lives, takes over tasks of kernels that do not, takes work that waits, and
 * lets go of what it has lost. Reading the table decides; whatever wakes it only makes it look sooner.
 * @module
 */
import { Fault } from "../../../contracts/base/fault.ts";
import { isObject, type Json } from "../../../contracts/base/json.ts";
import { TaskId } from "../../../contracts/authority/ids.ts";
import type { AdoptingLog, StoredEvent } from "../../../contracts/task/store.ts";
import type { Powers } from "../../../contracts/task/process.ts";
import type { FleetAbout, FleetAsk } from "../../../contracts/wire/wire_store.ts";
import { type FleetLease, makeFleetLease } from "./lease.ts";

/** Tasks that are taken over in one look. */
const MAX_CLAIMS = 8;
/** Looks in one lease, and the bounds of the time between two, milliseconds. */
const LOOKS = 5, SOONEST_MS = 200, LATEST_MS = 2_000;
/** The notice of work that waits, and the part of a lease that is to be left for a look that makes it no longer. */
const WORK = "remit_work", FRESH = 0.7;

/** What {@link makeFleetMember} is handed. */
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
  /** Tasks that this kernel has and that are not over. */
  tasks(): readonly TaskId[];
  /** How many more tasks it has room for. */
  room(): number;
  /** A task was taken over whose events are in this log now. */
  adopt(task: TaskId): Promise<void>;
  /** Work was taken that nobody has begun. */
  begin(task: TaskId, request: Json): Promise<void>;
  /** Another kernel has the task now. */
  lose(task: TaskId): Promise<void>;
  /** Words for this kernel. */
  hear(words: string): Promise<void>;
  /** Nothing is under way. */
  idle(): boolean;
  /** This kernel is not the fleet's any more: it ends, with why. */
  end(why: string): void;
}

/** A member. */
export interface FleetMember {
  readonly lease: FleetLease;
  /** Looks now, and then again and again. */
  start(): void;
  /** Something may be there: work where `channel` says so, and else words, or how it stands. */
  wake(channel: string): void;
  /** Its tasks are free for others. */
  leave(): Promise<void>;
}

/** Makes it. Nothing is looked at before `start`. */
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
  /** Somebody said more than that there is work. */
  let told = false;
  let trouble = "";
  /** Tasks that are this kernel's by the table and not at work here yet, and who had them. */
  const claimed = new Map<TaskId, string>();
  let first = true;
  const pause = Math.min(LATEST_MS, Math.max(SOONEST_MS, leaseMs / LOOKS));

  /** The lease had run out: what others took meanwhile is theirs. */
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
    // Taken from the queue by a kernel that ended before it had written a word of it.
    const request = await store.fleet({ kind: "request", task });
    if (typeof request === "string") await begin(task, request);
  };

  const look = async (): Promise<void> => {
    // A beat is a commit: for work alone none is made while most of the lease is left.
    const fresh = !told && !first && lease.left() > leaseMs * FRESH;
    told = false;
    if (!fresh) await lease.extend();
    if (first) {
      first = false;
      const here = new Set<string>(parts.tasks());
      for (const name of textsOf(await store.fleet({ kind: "mine" }))) {
        const task = TaskId.safeParse(name);
        // Claimed by an earlier process of this kernel, which ended under it.
        if (task.success && !here.has(name)) {
          claimed.set(task.data, "an earlier process of this one");
        }
      }
    }
    if (waiting > 0) {
      for (const words of textsOf(await store.fleet({ kind: "receive" }))) await parts.hear(words);
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
      // Once: it looks again soon.
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
