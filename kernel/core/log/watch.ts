/** Watching a task: its past events, then its new ones, without a gap. @module */
import { Fault } from "../../../contracts/base/fault.ts";
import type { WatchEvent } from "../../../contracts/task/control_answers.ts";
import type { NewEvent } from "../../../contracts/task/event.ts";
import type { TaskId } from "../../../contracts/authority/ids.ts";
import type { Reading } from "../../../contracts/model/model.ts";
import type { EventLog, Store } from "../../../contracts/task/store.ts";
import type { AgentTask } from "../../../contracts/task/task.ts";
import { bodyOf, eventsOf, type ReadPrivate } from "./read_events.ts";

/** Sends one event to a watcher: `event` with a {@link WatchEvent}, or `end`. */
type Send = (kind: "event" | "end", event: WatchEvent | Ended) => void;

/** The end of a watch: the task is over, or waits for a person. */
interface Ended {
  readonly task: string;
  readonly status: string;
  readonly exit: number | null;
}

/** A running call's report on itself, with the label of what the call has read. */
export type Progress = Omit<Extract<WatchEvent, { readonly kind: "progress" }>, "kind">;

interface WatchingParts {
  readonly bus: Bus;
  readonly store: Pick<Store, "events">;
  readonly readPrivate: ReadPrivate;
  get(task: TaskId): AgentTask;
  /** Called when the last watcher of a task is gone. */
  unwatched(task: TaskId): void;
}

/** Watchers of tasks. */
export interface Watching {
  /** Starts a watch from event `from`; returns the function that ends it. */
  watch(task: TaskId, from: number, send: Send): Promise<() => void>;
  /** Passes a model's text on while it is decoded. */
  text(task: string, text: string): void;
  /** Passes an exchange with a model provider on, for a recording. */
  wire(task: string, exchange: string): void;
  /** Passes on how far a model has read its prompt. */
  reading(task: string, reading: Reading): void;
  /** Passes on how many more characters a model has thought. */
  thinking(task: string, characters: number): void;
  /** Passes on a running call's report: safe to show, and not recorded. */
  progress(task: string, progress: Progress): void;
  /** Passes an end on that is not in the log, because the log cannot be written. */
  strand(ended: Ended): void;
}

/** The watchers of a kernel without tasks. */
export const NOTHING_TO_WATCH: Watching = Object.freeze({
  watch: (task: TaskId) =>
    Promise.reject(new Fault("notFound", `Cannot watch task ${task}: nothing runs here`)),
  text: () => undefined,
  wire: () => undefined,
  reading: () => undefined,
  thinking: () => undefined,
  progress: () => undefined,
  strand: () => undefined,
});

const QUIET = new Set(["done", "failed", "cancelled", "expired", "needsApproval"]);

/** Makes the watchers' table. */
export function makeWatching(parts: WatchingParts): Watching {
  const watchers = new Map<string, Set<Send>>();

  const endOf = (task: string, body: Readonly<Record<string, unknown>>): Ended | undefined => {
    const { status, exit } = body;
    if (typeof status !== "string" || !QUIET.has(status)) return undefined;
    return { task, status, exit: typeof exit === "number" ? exit : null };
  };
  const tell = (task: string, event: WatchEvent): void => {
    for (const send of watchers.get(task) ?? []) send("event", event);
  };

  return Object.freeze<Watching>({
    async watch(task: TaskId, from: number, send: Send): Promise<() => void> {
      if (parts.get(task).purged) {
        throw new Fault("notFound", `Cannot watch task ${task}: it was purged`);
      }
      let seen = from - 1;
      let live = false;
      const early: Published[] = [];
      const pass = (event: Published): void => {
        if (!live) {
          early.push(event);
          return;
        }
        if (event.n <= seen) return;
        seen = event.n;
        send("event", asWatch(event.n, event.at, event.kind, event.body, event.private));
        const end = event.kind === "taskStatus" ? endOf(task, event.body) : undefined;
        if (end !== undefined) send("end", end);
      };
      const stop = parts.bus.listen(task, pass);
      const set = watchers.get(task) ?? new Set();
      watchers.set(task, set);
      set.add(send);
      let last: Ended | undefined;
      for await (const event of eventsOf(parts.store, task, from)) {
        const body = bodyOf(event);
        seen = event.n;
        send("event", asWatch(event.n, event.at, event.kind, body, await parts.readPrivate(event)));
        if (event.kind === "taskStatus") last = endOf(task, body);
      }
      live = true;
      for (const event of early) {
        if (event.n > seen && event.kind === "taskStatus") last = undefined;
        pass(event);
      }
      if (last !== undefined) send("end", last);
      return () => {
        stop();
        set.delete(send);
        if (set.size > 0) return;
        watchers.delete(task);
        parts.unwatched(task);
      };
    },
    text: (task, text) => tell(task, { kind: "chunk", text }),
    wire: (task, exchange) => tell(task, { kind: "wire", exchange }),
    reading: (task, { done, total }) => tell(task, { kind: "reading", done, total }),
    thinking: (task, characters) => tell(task, { kind: "thinking", characters }),
    progress: (task, progress) => tell(task, { kind: "progress", ...progress }),
    strand(ended: Ended): void {
      for (const send of watchers.get(ended.task) ?? []) send("end", ended);
    },
  });
}

function asWatch(n: number, at: number, event: string, body: unknown, secret: unknown): WatchEvent {
  return {
    kind: "event",
    n,
    at,
    event,
    body,
    ...(secret === undefined ? {} : { private: secret }),
  };
}

/** A task's events so far, joined with their private parts, as a watcher would see them. */
export async function* pastEvents(
  store: Pick<Store, "events">,
  readPrivate: ReadPrivate,
  { task, from }: { readonly task: TaskId; readonly from: number },
): AsyncGenerator<WatchEvent> {
  for await (const event of eventsOf(store, task, from)) {
    const { n, at, kind } = event;
    yield asWatch(n, at, kind, bodyOf(event), await readPrivate(event));
  }
}

/** A committed event, with its private part in clear. */
export interface Published extends NewEvent {
  readonly task: string;
  readonly n: number;
  readonly at: number;
}

/** A log whose appends are published. */
export interface Bus {
  readonly log: EventLog;
  /** Listens to one task, or to all where `task` is undefined. Returns the unsubscriber. */
  listen(task: string | undefined, listener: (event: Published) => void): () => void;
}

/** Wraps a log so that its appends are published. */
export function makeBus(log: EventLog, now: () => number): Bus {
  const all = new Set<(event: Published) => void>();
  const byTask = new Map<string, Set<(event: Published) => void>>();
  /** Publishes an append once it is durable. */
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
