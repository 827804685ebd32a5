/**
 * The tasks of a host's session, and which task makes a call. One task is the session's own: staged
 * changes lie there, so every call goes there, one after another. Plain reads use further tasks
 * while nothing is staged. A task that waits for a person keeps its staged changes, and another
 * task takes its place. docs/decision/0016. Used by session.ts.
 * @module
 */
import type { CallId } from "../../contracts/authority/mod.ts";
import { Fault } from "../../contracts/base/mod.ts";
import type { Lane, LaneEnd } from "./lane.ts";

/** A host's call, until the host no longer asks for it. Its fields change over time. */
export interface Flight {
  /** The id under which the task makes the call. */
  readonly id: CallId;
  /** Tool and canonical arguments; undefined once the host knows the outcome. */
  key: string | undefined;
  /** A plain read: any task of the session can make the call. */
  readonly reads: boolean;
  /** Every id under which the host asked for the call. */
  readonly ids: Set<string>;
  lane: Lane | undefined;
  /** The last state; undefined while the call is in progress. */
  end: LaneEnd | undefined;
  /** The next state. */
  next: Promise<LaneEnd>;
  /** When `end` was last set, milliseconds since 1970. */
  endedAt: number;
  cancelled: boolean;
}

/** How many finished calls are kept for hosts that may ask again, and for how long. */
const MAX_KEPT = 64;
const KEPT_MS = 30 * 60_000;

/** The calls of a session. */
export interface Flights {
  add(flight: Flight): void;
  remove(flight: Flight): void;
  /** The call with this id, else an equal call that waits or waited for a person. */
  find(id: string, key: string): Flight | undefined;
  byId(id: string): Flight | undefined;
  /** The call that occupies a task. */
  of(lane: Lane): Flight | undefined;
  count(which: (flight: Flight) => boolean): number;
}

/** Whether a call occupies its task. */
function occupies({ end }: Flight): boolean {
  return end === undefined || end.kind === "waiting";
}

/** Begins without calls; keeps finished calls for half an hour, 64 at most. */
export function makeFlights(now: () => number): Flights {
  const all = new Set<Flight>();
  const sweep = (): void => {
    const done = [...all].filter((flight) => !occupies(flight));
    const late = done.filter(({ endedAt }) => now() - endedAt > KEPT_MS);
    for (const flight of [...late, ...done.slice(0, Math.max(0, done.length - MAX_KEPT))]) {
      all.delete(flight);
    }
  };
  const byId = (id: string): Flight | undefined => [...all].find(({ ids }) => ids.has(id));
  return Object.freeze<Flights>({
    add(flight): void {
      sweep();
      all.add(flight);
    },
    remove: (flight) => void all.delete(flight),
    find(id, key): Flight | undefined {
      sweep();
      return byId(id) ?? [...all].findLast((each) => each.key === key && each.end !== undefined);
    },
    byId,
    of: (lane) => [...all].find((each) => each.lane === lane && occupies(each)),
    count: (which) => [...all].filter(which).length,
  });
}

/** Maximum tasks of a session that make calls at the same time. */
const MAX_BUSY = 4;
/** Maximum tasks of a session, each with limits of its own. */
const MAX_TASKS = 64;
/** Maximum calls that wait for a free task. */
const MAX_QUEUED = 256;

/** The tasks of a session. */
export interface Lanes {
  /** Gives the call a task: a free one, a new one, or the next that becomes free. */
  provide(flight: Flight): Promise<Lane>;
  /** Gives free tasks to waiting calls. */
  pump(): void;
  /** Takes a call out of the queue. */
  withdraw(flight: Flight): void;
  /** Why the session makes no more calls: one of its tasks has ended, not by the host. */
  spent(): string | undefined;
  /** Ends one task; the session continues. */
  drop(lane: Lane): Promise<void>;
  /** Whether the task that takes the next call may have staged changes. */
  staging(): boolean;
  /** A task with a process, if there is one. */
  awake(): Lane | undefined;
  /** Ends all tasks, after `last` for those that may have staged changes. */
  close(last: (lane: Lane) => Promise<void>): Promise<void>;
}

interface Waiting {
  readonly flight: Flight;
  take(lane: Lane): void;
  fail(why: unknown): void;
}

/** Opens the first task of a session. */
export async function openLanes(
  parts: { readonly flights: Flights; openLane(of: () => Flight | undefined): Promise<Lane> },
): Promise<Lanes> {
  const { flights } = parts;
  const lanes: Lane[] = [];
  /** Tasks that may have staged changes. */
  const used = new Set<Lane>();
  const queue: Waiting[] = [];
  let opened = 0;
  let opening = 0;

  const open = async (): Promise<Lane> => {
    if (opened >= MAX_TASKS) {
      throw new Fault(
        "budgetExhausted",
        "Cannot call: the session has had all the tasks that one may have; start a new session",
      );
    }
    opened += 1;
    const made: { lane?: Lane } = {};
    const lane = await parts.openLane(() =>
      made.lane === undefined ? undefined : flights.of(made.lane)
    );
    made.lane = lane;
    return lane;
  };
  let main: Lane | undefined = await open();
  lanes.push(main);

  const idle = (lane: Lane): boolean => lane.over() === undefined && flights.of(lane) === undefined;
  const waits = (lane: Lane): boolean => flights.of(lane)?.end?.kind === "waiting";
  const own = (): Lane | undefined => {
    if (main !== undefined && (!lanes.includes(main) || waits(main))) {
      main = lanes.find((lane) => idle(lane) && !used.has(lane));
    }
    return main;
  };
  const fit = ({ reads }: Flight): Lane | undefined => {
    const first = own();
    if (first !== undefined && idle(first)) return first;
    const beside = reads && (first === undefined || !used.has(first));
    return beside ? lanes.find((lane) => idle(lane) && !used.has(lane)) : undefined;
  };
  /** Whether one more task would take the call. */
  const mayOpen = ({ reads }: Flight): boolean => {
    const first = own();
    if (first === undefined) return true;
    const busy = lanes.filter((lane) => !idle(lane) && !waits(lane)).length + opening;
    return reads && !used.has(first) && busy < MAX_BUSY;
  };
  const board = (flight: Flight, lane: Lane): Lane => {
    flight.lane = lane;
    if (!flight.reads) used.add(lane);
    return lane;
  };

  const openFor = async ({ flight, take, fail }: Waiting): Promise<void> => {
    opening += 1;
    const first = main === undefined || own() === undefined;
    try {
      const lane = await open();
      if (first) main = lane;
      board(flight, lane);
      lanes.push(lane);
      take(lane);
    } catch (error) {
      fail(error);
    } finally {
      opening -= 1;
      pump();
    }
  };
  const pump = (): void => {
    for (const each of [...queue]) {
      const lane = fit(each.flight);
      const more = lane === undefined && mayOpen(each.flight);
      // Open one replacement of the session's own task at a time: the other calls may fit in it.
      if (lane === undefined && (!more || (own() === undefined && opening > 0))) continue;
      queue.splice(queue.indexOf(each), 1);
      if (lane === undefined) void openFor(each);
      else each.take(board(each.flight, lane));
    }
  };

  return Object.freeze<Lanes>({
    provide(flight): Promise<Lane> {
      if (queue.length >= MAX_QUEUED) {
        throw new Fault("rateLimited", "Cannot call: too many calls of this session wait");
      }
      return new Promise((take, fail) => {
        queue.push({ flight, take, fail });
        pump();
      });
    },
    pump,
    withdraw(flight): void {
      const at = queue.findIndex((each) => each.flight === flight);
      if (at < 0) return;
      const [waiting] = queue.splice(at, 1);
      waiting?.fail(new Fault("cancelled", "Cannot call: it was cancelled"));
    },
    spent: () => lanes.map((lane) => lane.over()).find((why) => why !== undefined),
    async drop(lane): Promise<void> {
      lanes.splice(lanes.indexOf(lane), 1);
      await lane.close({ drop: true });
      pump();
    },
    staging(): boolean {
      const lane = own();
      return lane !== undefined && used.has(lane);
    },
    awake: () => lanes.find((lane) => lane.over() === undefined && !waits(lane)),
    async close(last): Promise<void> {
      const over = new Fault("gone", "Cannot call: the session is over");
      for (const { fail } of queue.splice(0)) fail(over);
      await Promise.allSettled(
        lanes.splice(0).map(async (lane) => {
          try {
            if (used.has(lane) && idle(lane)) await last(lane);
          } finally {
            await lane.close();
          }
        }),
      );
    },
  });
}
