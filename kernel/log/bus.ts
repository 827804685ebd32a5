/** Publishes each event once it is durable, in order, to whoever watches its task. @module */
import type { EventLog, NewEvent } from "../../contracts/mod.ts";

/** An event that was committed, with its private part as the writer gave it. */
export interface Published extends NewEvent {
  readonly task: string;
  readonly n: number;
  readonly at: number;
}

/** A log whose appends are published. */
export interface Bus {
  readonly log: EventLog;
  /** `task` undefined: every task's. Returns the unsubscriber. */
  listen(task: string | undefined, listener: (event: Published) => void): () => void;
}

/** Wraps a log. */
export function makeBus(log: EventLog, now: () => number): Bus {
  const all = new Set<(event: Published) => void>();
  const byTask = new Map<string, Set<(event: Published) => void>>();
  /** An append that is published once it is durable. */
  const publishing =
    (append: EventLog["append"]): EventLog["append"] =>
    async (task, events, documents = [], at = now()) => {
      const placed = await append(task, events, documents, at);
      const listeners = byTask.get(task);
      if (all.size === 0 && listeners === undefined) return placed;
      events.forEach((event, i) => {
        const published = { ...event, task, at, n: placed[i]?.n ?? -1 };
        for (const listener of all) listener(published);
        for (const listener of listeners ?? []) listener(published);
      });
      return placed;
    };
  return Object.freeze({
    log: Object.freeze({
      head: () => log.head(),
      append: publishing(log.append),
      ...(log.appendWithNext === undefined
        ? {}
        : { appendWithNext: publishing(log.appendWithNext) }),
    }),
    listen(task: string | undefined, listener: (event: Published) => void): () => void {
      if (task === undefined) {
        all.add(listener);
        return () => all.delete(listener);
      }
      const set = byTask.get(task) ?? new Set();
      byTask.set(task, set);
      set.add(listener);
      return () => {
        set.delete(listener);
        if (set.size === 0) byTask.delete(task);
      };
    },
  });
}
