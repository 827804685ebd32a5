/**
 * What imported servers did and tried, as events of kind `mcp`: counts and enums in the body, content in the private
 * part. Accesses and requests are counted and written together: a server that asks a million times writes no million
 * events, and a call over HTTP does not wait behind an event of its own.
 * @module
 */
import type {
  EventLog,
  ImportedServer,
  Json,
  JsonObject,
  McpLogEntry,
  NewEvent,
  Powers,
  Store,
  StoredEvent,
  TaskId,
} from "../../contracts/mod.ts";
import { displayText } from "../../text/mod.ts";
import { mcpLogWords } from "./log_words.ts";
import { bodyOf, type ReadPrivate } from "../log/read_events.ts";

/** Milliseconds for which accesses are counted before they are written. */
const BATCH_MS = 2_000;
/** Different accesses of one batch that are told apart, and events of one server in a task. */
const APART = 64;
const EVENTS = 5_000;
/** Most characters of a text that is kept. */
const TEXT = 4_096;
/** Keys of a body that hold content. */
const CONTENT: ReadonlySet<string> = new Set(["value", "tool", "host", "uri", "text"]);

/** Whose doing it is. */
export interface McpAt {
  readonly task: TaskId;
  readonly server: Pick<ImportedServer, "name">;
}

/** The log of imported servers. */
export interface McpLog {
  /** Notes one thing; `text` is untrusted. Never throws: what cannot be written is said in the kernel's own log. */
  note(at: McpAt, what: McpLogEntry["what"], body?: JsonObject, text?: string): void;
  /** Writes what is counted. */
  flush(task: TaskId): Promise<void>;
  /** The task has ended. */
  close(task: TaskId): Promise<void>;
}

interface Counted {
  readonly what: McpLogEntry["what"];
  readonly body: JsonObject;
  times: number;
}

interface Kept {
  readonly at: McpAt;
  readonly counted: Map<string, Counted>;
  readonly seen: Set<string>;
  events: number;
  dropped: number;
  cancel: (() => void) | undefined;
}

/** Makes the log. */
export function makeMcpLog(
  { log, powers, note }: {
    readonly log: Pick<EventLog, "append">;
    readonly powers: Pick<Powers, "after">;
    /** Writes a line to the kernel's own log. */
    note(line: string): void;
  },
): McpLog {
  const tasks = new Map<TaskId, Map<string, Kept>>();
  const writing = new Map<TaskId, Promise<void>>();

  const keptOf = (at: McpAt): Kept => {
    const servers = tasks.get(at.task) ?? new Map<string, Kept>();
    tasks.set(at.task, servers);
    const kept = servers.get(at.server.name) ??
      {
        at,
        counted: new Map<string, Counted>(),
        seen: new Set<string>(),
        ...{ events: 0, dropped: 0, cancel: undefined },
      };
    servers.set(at.server.name, kept);
    return kept;
  };

  const write = (kept: Kept, events: readonly NewEvent[]): void => {
    const room = Math.max(0, EVENTS - kept.events);
    kept.events += events.length;
    kept.dropped += Math.max(0, events.length - room);
    if (room > 0 && events.length > 0) append(kept.at.task, events.slice(0, room));
  };

  const append = (task: TaskId, events: readonly NewEvent[]): void => {
    const before = writing.get(task) ?? Promise.resolve();
    const now = Promise.all([before, log.append(task, events)]).then(
      () => undefined,
      (error: unknown) => note(`An mcp event of ${task} was not written: ${String(error)}`),
    );
    writing.set(task, now);
    void now.then(() => writing.get(task) === now && writing.delete(task));
  };

  const settle = (kept: Kept): void => {
    kept.cancel?.();
    kept.cancel = undefined;
    const events = [...kept.counted.values()].map(({ what, body, times }) =>
      eventOf(kept.at, what, { ...body, times })
    );
    kept.counted.clear();
    write(kept, events);
  };

  const count = (kept: Kept, what: McpLogEntry["what"], given: JsonObject): void => {
    const { times = 1, ...body } = given;
    // What stands in the private part is content; the rest makes the kind.
    const plain = Object.fromEntries(Object.entries(body).filter(([key]) => !CONTENT.has(key)));
    const kind = `${what} ${JSON.stringify(plain)}`;
    if (!kept.seen.has(kind) && kept.seen.size < APART) {
      kept.seen.add(kind);
      write(kept, [eventOf(kept.at, what, { ...body, times })]);
      return;
    }
    const named = `${what} ${JSON.stringify(body)}`;
    const known = kept.counted.has(named) || kept.counted.size < APART;
    const key = known ? named : kind;
    const counted = kept.counted.get(key) ?? { what, body: known ? body : plain, times: 0 };
    counted.times += typeof times === "number" ? times : 1;
    kept.counted.set(key, counted);
    kept.cancel ??= powers.after(BATCH_MS, () => settle(kept));
  };

  const flush = async (task: TaskId): Promise<void> => {
    for (const kept of tasks.get(task)?.values() ?? []) settle(kept);
    await writing.get(task);
  };

  return Object.freeze<McpLog>({
    note(at, what, body = {}, text): void {
      const kept = keptOf(at);
      // Untrusted words of their own are told one by one.
      const counts = what === "access" || (what === "proxied" && text === undefined);
      if (counts) return count(kept, what, body);
      // What it did before its end stands before it.
      if (what === "ended") settle(kept);
      write(kept, [eventOf(at, what, text === undefined ? body : { ...body, text })]);
    },
    flush,
    async close(task): Promise<void> {
      const ending = [...tasks.get(task)?.values() ?? []];
      await flush(task);
      tasks.delete(task);
      for (const { at, dropped } of ending) {
        if (dropped > 0) append(task, [eventOf(at, "odd", { dropped })]);
      }
      await writing.get(task);
    },
  });
}

function eventOf(at: McpAt, what: McpLogEntry["what"], given: JsonObject): NewEvent {
  const body: Record<string, Json> = { server: at.server.name, what };
  const secret: Record<string, Json> = {};
  for (const [key, value] of Object.entries(given)) {
    if (!CONTENT.has(key)) body[key] = value;
    else secret[key] = typeof value === "string" ? value.slice(0, TEXT).toWellFormed() : value;
  }
  return {
    kind: "mcp",
    body,
    ...(Object.keys(secret).length === 0 ? {} : { private: secret }),
  };
}

/** The newest `limit` entries of one server over all tasks, newest last. */
export async function readMcpLog(
  store: Pick<Store, "events">,
  readPrivate: ReadPrivate,
  { server, limit }: { readonly server: string; readonly limit: number },
): Promise<readonly McpLogEntry[]> {
  const newest: StoredEvent[] = [];
  let untilSeq: number | undefined;
  while (newest.length < limit) {
    const page = await store.events({
      ...(untilSeq === undefined ? {} : { untilSeq }),
      ...{ kinds: ["mcp"], newest: true, limit: 1_000 },
    });
    newest.push(...page.filter((event) => bodyOf(event)["server"] === server));
    const last = page.at(-1);
    if (last === undefined || page.length < 1_000) break;
    untilSeq = last.seq - 1;
  }
  const shown = newest.slice(0, limit).reverse();
  return await Promise.all(shown.map(async (event): Promise<McpLogEntry> => {
    const { what, ...body } = bodyOf(event);
    const words = mcpLogWords(String(what), body, await readPrivate(event));
    return {
      at: event.at,
      task: event.task,
      what: String(what),
      text: displayText(words, { max: TEXT }),
    };
  }));
}
