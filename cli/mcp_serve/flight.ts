/** A call of a host's session, from its proposal to the last time that its host asked for it. @module */
import type { CallId } from "../../contracts/mod.ts";
import type { Lane, LaneEnd } from "./lane.ts";

/** A call that was made. It changes while it flies. */
export interface Flight {
  /** The id under which the task makes it. */
  readonly id: CallId;
  /** Tool and canonical arguments; undefined once its host knows what came of it. */
  key: string | undefined;
  /** It reads and stages nothing: any of the session's tasks can make it. */
  readonly reads: boolean;
  /** Every id under which its host asked for it. */
  readonly ids: Set<string>;
  lane: Lane | undefined;
  /** How it stands; undefined while it is under way. */
  end: LaneEnd | undefined;
  /** How it stands next. */
  next: Promise<LaneEnd>;
  /** Milliseconds since 1970, when it last ended. */
  endedAt: number;
  cancelled: boolean;
}

/** Calls that are kept for hosts that may ask again, and for how long. */
const MOST_KEPT = 64;
const KEPT_MS = 30 * 60_000;

/** The calls of a session. */
export interface Flights {
  add(flight: Flight): void;
  remove(flight: Flight): void;
  /** Under one of its ids, else the same call that waits or waited for a person. */
  find(id: string, key: string): Flight | undefined;
  byId(id: string): Flight | undefined;
  /** The one that a task is occupied with. */
  of(lane: Lane): Flight | undefined;
  count(which: (flight: Flight) => boolean): number;
}

/** Whether a flight occupies its task. */
function occupies({ end }: Flight): boolean {
  return end === undefined || end.kind === "waiting";
}

/** Makes an empty table. */
export function makeFlights(now: () => number): Flights {
  const all = new Set<Flight>();
  const sweep = (): void => {
    const done = [...all].filter((flight) => !occupies(flight));
    const late = done.filter(({ endedAt }) => now() - endedAt > KEPT_MS);
    for (const flight of [...late, ...done.slice(0, Math.max(0, done.length - MOST_KEPT))]) {
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
