/** Reading a task's events from the log: in order, with public bodies and private parts. @module */
import { Colour, Label, mixColour, mixLabel } from "../../../contracts/authority/colour.ts";
import { Fault } from "../../../contracts/base/fault.ts";
import { TaskRequest } from "../../../contracts/task/task.ts";
import type { ChatMessage } from "../../../contracts/model/chat.ts";
import { Digest, type TaskId } from "../../../contracts/authority/ids.ts";
import { isObject, type Json, type JsonObject } from "../../../contracts/base/json.ts";
import type { Taint } from "../../../contracts/task/process.ts";
import type { Source } from "../../../contracts/authority/question.ts";
import type { Store, StoredEvent } from "../../../contracts/task/store.ts";

/** Reads an event's private part; undefined when it has none or it was purged. */
export type ReadPrivate = (event: StoredEvent) => Promise<JsonObject | undefined>;

/** A clock, and a callback after everything that is ready now has run. */
interface LogTurns {
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

/** The request that made a task. @throws Fault `storeCorrupt` when it was erased or does not parse. */
export async function requestOfTask(
  store: Pick<Store, "events">,
  readPrivate: ReadPrivate,
  task: TaskId,
): Promise<TaskRequest> {
  const [first] = await store.events({ task, fromN: 0, limit: 1 });
  const secret = first === undefined ? undefined : await readPrivate(first);
  return parsed(TaskRequest, secret?.["request"], task, "its request");
}

/** Milliseconds of reading before other work gets its turn. */
const SLICE_MS = 5;
/** Events that one query for kinds looks through. */
const WINDOW = 2_000;

/**
 * Wraps a store for a long reader: between reads, other ready work gets its turn, so that no signal
 * waits for a long history. `heads` and `documents` must be read in pages.
 */
export function inSlices(store: Store, powers: LogTurns): Store {
  let begun = powers.now();
  const breathe = async (): Promise<void> => {
    if (powers.now() - begun < SLICE_MS) return;
    await new Promise<void>((resolve) => powers.soon(resolve));
    begun = powers.now();
  };
  /** Kinds have no index, so the log is searched window by window. */
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

/** Parses a colour; anything unreadable counts as the worst. */
export const COLOUR_OR_RED = Colour.catch("RED");

/** Parses a label; anything unreadable counts as the worst. */
export const LABEL_OR_SECRET = Label.catch("secret");

/** A patch that a kernel was applying when it ended: the folder may hold none, some or all of it. */
export interface TornPatch {
  /** Key of the call. */
  readonly key: string;
  readonly patch: Digest;
  /** Changed files, `MOUNT/relative`. */
  readonly paths: readonly string[];
}

/** The patch that an intent names; undefined where the intent applies none. */
export function patchOf(key: string, secret: JsonObject | undefined): TornPatch | undefined {
  const digests = secret?.["digests"];
  const patch = Digest.safeParse(isObject(digests) ? digests["patch"] : undefined);
  const scopes = secret?.["scope"];
  if (!patch.success || !Array.isArray(scopes)) return undefined;
  const written = "mount:write:";
  const paths = scopes.filter((each) => typeof each === "string" && each.startsWith(written));
  return { key, patch: patch.data, paths: paths.map((path) => String(path).slice(written.length)) };
}

/** Bytes that a committed outcome staged, wrote to scratch or applied. */
export function writtenBy(record: JsonObject): number {
  const applied = record["applied"];
  const lists = [
    record["staged"],
    record["scratch"],
    isObject(applied) ? applied["changes"] : undefined,
  ];
  let bytes = 0;
  for (const change of lists.flatMap((list) => Array.isArray(list) ? list : [])) {
    if (isObject(change)) bytes += Number(change["bytes"] ?? 0);
  }
  return bytes;
}

/** A message's source, for later decisions; empty for a person's own message. */
export function sourcesOf({ provenance }: ChatMessage): readonly Source[] {
  const { source, colour, label } = provenance;
  return source === undefined ? [] : [{ source, colour, label }];
}

/** A process's taint after reading a message. */
export function afterReading(
  message: ChatMessage,
  before: Taint,
): { -readonly [K in keyof Taint]: K extends "sources" ? Source[] : Taint[K] } {
  const { colour, label } = message.provenance;
  return {
    colour: mixColour(before.colour, colour),
    label: mixLabel(before.label, label),
    sources: [...before.sources, ...sourcesOf(message)].slice(-100),
  };
}

interface Parser<T> {
  safeParse(value: unknown): { success: true; data: T } | { success: false };
}

/** Parses a value from a task's log; `what` names the value in the message. @throws Fault `storeCorrupt` */
export function parsed<T>(schema: Parser<T>, value: unknown, task: TaskId, what: string): T {
  const result = schema.safeParse(value);
  if (!result.success) {
    throw new Fault("storeCorrupt", `Cannot read task ${task}: ${what} does not parse`);
  }
  return result.data;
}
