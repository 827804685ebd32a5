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

/** Clock, and the next turn of the event loop once what is ready has run. */
export interface LogTurns {
  /** Milliseconds. */
  now(): number;
  soon(f: () => void): void;
}

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

/** Milliseconds of reading after which others are heard. */
const SLICE_MS = 5;
/** Events of the log that are looked through in one go for those of a kind. */
const WINDOW = 2_000;

/**
 * The same store for whoever reads much: between its reads whatever else is ready has its turn, so that no signal waits
 * until a long history is read. Of `heads` and `documents` it asks for pages.
 */
export function inSlices(store: Store, powers: LogTurns): Store {
  let begun = powers.now();
  const breathe = async (): Promise<void> => {
    if (powers.now() - begun < SLICE_MS) return;
    await new Promise<void>((resolve) => powers.soon(resolve));
    begun = powers.now();
  };
  /** Kinds have no index: the log is looked through, window by window. */
  const ofKinds = async (query: Parameters<Store["events"]>[0]): Promise<StoredEvent[]> => {
    const { afterSeq = 0, untilSeq = Infinity, limit = 1_000, newest } = query;
    const [last] = await store.events({ newest: true, limit: 1 });
    const end = Math.min(untilSeq, last?.seq ?? 0);
    const found: StoredEvent[] = [];
    for (let done = 0; afterSeq + done < end && found.length < limit; done += WINDOW) {
      await breathe();
      const window = newest === true
        ? { afterSeq: Math.max(afterSeq, end - done - WINDOW), untilSeq: end - done }
        : { afterSeq: afterSeq + done, untilSeq: Math.min(end, afterSeq + done + WINDOW) };
      found.push(...await store.events({ ...query, ...window, limit: limit - found.length }));
    }
    return found;
  };
  return Object.freeze<Store>({
    ...{ commit: store.commit, eraseBlobs: store.eraseBlobs },
    ...{ peek: store.peek, close: store.close },
    async events(query): Promise<readonly StoredEvent[]> {
      await breathe();
      return await (query.kinds === undefined || query.task !== undefined
        ? store.events(query)
        : ofKinds(query));
    },
    async heads(query) {
      await breathe();
      return await store.heads(query);
    },
    async head(task) {
      await breathe();
      return await store.head(task);
    },
    async blob(task, digest) {
      await breathe();
      return await store.blob(task, digest);
    },
    async document(kind, id) {
      await breathe();
      return await store.document(kind, id);
    },
    async documents(query) {
      await breathe();
      return await store.documents(query);
    },
  });
}
