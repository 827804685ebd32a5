/** The logs of tasks, as agents/ reads them back after a crash. @module */
import {
  EVENT_KINDS,
  type EventKind,
  type JsonObject,
  type Store,
  TaskId,
} from "../../contracts/mod.ts";
import { bodyOf, eventsOf, type ReadPrivate } from "./read_events.ts";

/** One event with its private part, unless that was erased. */
export interface PastEvent {
  readonly kind: EventKind;
  readonly at: number;
  readonly body: JsonObject;
  readonly private?: JsonObject | undefined;
}

/** Every task's log. */
export interface PastTasks {
  tasks(): Promise<readonly TaskId[]>;
  events(task: TaskId): AsyncGenerator<PastEvent>;
}

/** Makes the reader of past tasks. Rejects `storeCorrupt` where a log does not make sense. */
export function makePastTasks(
  store: Pick<Store, "events">,
  readPrivate: ReadPrivate,
): PastTasks {
  return Object.freeze({
    async tasks(): Promise<readonly TaskId[]> {
      const found: TaskId[] = [];
      for (let afterSeq = 0;;) {
        const page = await store.events({ afterSeq, kinds: ["taskCreated"], limit: 1_000 });
        found.push(...page.flatMap(({ task }) => TaskId.safeParse(task).data ?? []));
        const last = page.at(-1);
        if (last === undefined || page.length < 1_000) return found;
        afterSeq = last.seq;
      }
    },
    async *events(task: TaskId): AsyncGenerator<PastEvent> {
      for await (const event of eventsOf(store, task)) {
        const kind = EVENT_KINDS.find((each) => each === event.kind);
        if (kind === undefined) continue;
        yield { kind, at: event.at, body: bodyOf(event), private: await readPrivate(event) };
      }
    },
  });
}
