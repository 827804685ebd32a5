/** A task's events as they lie in the log: in order, their public bodies, and their private parts. @module */
import { isObject } from "../../contracts/json.ts";
import {
  Fault,
  type Json,
  type JsonObject,
  type Store,
  type StoredEvent,
  type TaskId,
  TaskRequest,
} from "../../contracts/mod.ts";
import { parsed } from "./replay_records.ts";

/** Reads an event's private part; undefined when it has none or it was purged. */
export type ReadPrivate = (event: StoredEvent) => Promise<JsonObject | undefined>;

/** Every event of a task, in order. */
export async function* eventsOf(
  store: Pick<Store, "events">,
  task: string,
  fromN = 0,
): AsyncGenerator<StoredEvent> {
  for (let n = fromN;;) {
    const page = await store.events({ task, fromN: n, limit: 1_000 });
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < 1_000) return;
    n = last.n + 1;
  }
}

/** An event's public body. */
export function bodyOf(event: Pick<StoredEvent, "body">): JsonObject {
  const body = JSON.parse(event.body) as Json;
  if (!isObject(body)) {
    throw new Fault("storeCorrupt", "Cannot read an event: its body is no object");
  }
  return body;
}

/** The request that made a task. @throws Fault `storeCorrupt` when it is gone or does not parse. */
export async function requestOfTask(
  store: Pick<Store, "events">,
  readPrivate: ReadPrivate,
  task: TaskId,
): Promise<TaskRequest> {
  const [first] = await store.events({ task, fromN: 0, limit: 1 });
  const secret = first === undefined ? undefined : await readPrivate(first);
  return parsed(TaskRequest, secret?.["request"], task, "its request");
}
