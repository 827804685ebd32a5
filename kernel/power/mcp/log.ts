/**
 * The log of imported servers: their actions and attempts, as events of kind `mcp` with counts and
 * enums in the body and content in the private part. Accesses and requests are counted and written
 * together, so that a server with a million requests does not write a million events, and a call
 * over HTTP does not wait for an event of its own.
 * @module
 */
import type { NewEvent } from "../../../contracts/task/event.ts";
import type { TaskId } from "../../../contracts/authority/ids.ts";
import type { Json, JsonObject } from "../../../contracts/base/json.ts";
import type { ImportedServer } from "../../../contracts/exchange/mcp.ts";
import type { McpLogEntry } from "../../../contracts/exchange/mcp_loan.ts";
import type { Powers } from "../../../contracts/task/process.ts";
import type { EventLog, Store, StoredEvent } from "../../../contracts/task/store.ts";
import { displayText } from "../../../text/mod.ts";
import { bodyOf, type ReadPrivate } from "../../core/log/read_events.ts";

/** Milliseconds between writes of counted accesses. */
const BATCH_MS = 2_000;
/** Different accesses in one batch, and events of one server in a task. */
const MAX_DISTINCT = 64;
const MAX_EVENTS = 5_000;
/** Characters of one logged text. */
const MAX_TEXT = 4_096;
/** Keys of a body that hold content. */
const CONTENT: ReadonlySet<string> = new Set(["value", "tool", "host", "uri", "text"]);

/** The server, and its task. */
export interface McpAt {
  readonly task: TaskId;
  readonly server: Pick<ImportedServer, "name">;
}

/** The log of imported servers. */
export interface McpLog {
  /** Logs one event; `text` is untrusted. Never throws: a failed write is reported in the kernel's own log. */
  note(at: McpAt, what: McpLogEntry["what"], body?: JsonObject, text?: string): void;
  /** Writes the counted events. */
  flush(task: TaskId): Promise<void>;
  /** Writes the rest of an ended task. */
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

/** Makes the log of imported servers. */
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
    const room = Math.max(0, MAX_EVENTS - kept.events);
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
    // Content goes to the private part; the other keys make the kind.
    const plain = Object.fromEntries(Object.entries(body).filter(([key]) => !CONTENT.has(key)));
    const kind = `${what} ${JSON.stringify(plain)}`;
    if (!kept.seen.has(kind) && kept.seen.size < MAX_DISTINCT) {
      kept.seen.add(kind);
      write(kept, [eventOf(kept.at, what, { ...body, times })]);
      return;
    }
    const named = `${what} ${JSON.stringify(body)}`;
    const known = kept.counted.has(named) || kept.counted.size < MAX_DISTINCT;
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
      // Events with untrusted text of their own are logged one by one.
      const counts = what === "access" || (what === "proxied" && text === undefined);
      if (counts) return count(kept, what, body);
      // Counted events must precede the server's end.
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
    else secret[key] = typeof value === "string" ? value.slice(0, MAX_TEXT).toWellFormed() : value;
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
      text: displayText(words, { max: MAX_TEXT }),
    };
  }));
}

/** Each permission as a verb: done, and tried. */
const DEEDS: Readonly<Record<string, readonly [did: string, tried: string]>> = {
  read: ["read", "read"],
  write: ["wrote", "write"],
  net: ["reached", "reach"],
  env: ["looked at the variable", "look at the variable"],
  run: ["started a program", "start a program"],
  ffi: ["loaded native code", "load native code"],
  sys: ["asked the machine for", "ask the machine for"],
  import: ["fetched code from", "fetch code from"],
};

/**
 * Puts an entry into words. `content` is the event's private part, undefined once erased. The server's text stays in the
 * sentence unchanged: it is untrusted, and must be made safe before it is shown.
 */
export function mcpLogWords(what: string, body: JsonObject, content: JsonObject = {}): string {
  const text = said(content["text"]), tool = said(content["tool"]) || "a tool";
  switch (what) {
    case "access":
      return access(body, said(content["value"]));
    case "proxied":
      return proxied(body, said(content["host"]) || "a host", text);
    case "started":
      return after(`ready in ${said(body["ms"])} ms`, text);
    case "suspended":
      return said(body["why"]) === "missing"
        ? `${tool} is no longer offered: suspended`
        : `${tool} changed since it was reviewed: suspended`;
    case "changed": {
      const added = Number(body["added"] ?? 0);
      if (added === 0) return `says that its ${text || "words"} changed`;
      return `offers ${added} ${added === 1 ? "tool" : "tools"} that nobody approved`;
    }
    case "elicit":
      return after(`asked the person${outcome(body, "action")}`, text);
    case "sample":
      return after(
        body["ok"] === true
          ? `used ${said(body["tokens"])} tokens of the model`
          : `asked for the model${outcome(body, "failed")}`,
        text,
      );
    case "odd":
      return text === ""
        ? `${said(body["dropped"])} more events were left out`
        : after("broke the protocol", text);
    case "errors":
      return after("printed", text);
    case "call":
      if (body["failed"] === "refused") {
        return `failed where its walls refused it, in a call of ${text}`;
      }
      return body["failed"] === "timedOut"
        ? `did not answer a call of ${text} in time`
        : `a call of ${text} failed (${said(body["failed"])})`;
    case "ended":
      // The reason was logged as a fault's message.
      return text.replace(/^Cannot [^:]*: /, "");
    default:
      return text;
  }
}

function access(body: JsonObject, value: string): string {
  const [did, tried] = DEEDS[said(body["permission"])] ?? ["used", "use"];
  const often = timesOf(body);
  const named = value === "" ? "" : ` ${value}`;
  return body["allowed"] === true
    ? `${did}${named}${often}`
    : `tried to ${tried}${named}${often}: refused`;
}

function timesOf(body: JsonObject): string {
  const times = Number(body["times"] ?? 1);
  return times > 1 ? `, ${times} times` : "";
}

function proxied(body: JsonObject, host: string, why: string): string {
  const method = body["method"] === undefined ? "reach" : said(body["method"]);
  if (body["allowed"] === false) return `tried to reach ${host}${timesOf(body)}: refused`;
  if (body["ok"] === false) return after(`tried to reach ${host}`, why || "refused");
  if (body["failed"] !== undefined) return `${method} ${host}: ${said(body["failed"])}`;
  const status = Number(body["status"] ?? 0);
  if (status >= 300 && status < 400 && status !== 304) {
    return `${method} ${host}: it redirects elsewhere (${status}), which was not followed`;
  }
  const often = timesOf(body);
  return body["status"] === undefined
    ? `reached ${host}${often}`
    : `${method} ${host}${often}: ${said(body["status"])}`;
}

function outcome(body: JsonObject, key: string): string {
  const words = [said(body[key]), said(body["why"])].filter((each) => each !== "");
  return words.length === 0 ? "" : ` (${words.join(", ")})`;
}

function after(words: string, text: string): string {
  return text === "" ? words : `${words}: ${text}`;
}

/** A scalar of an event, as text. */
function said(value: unknown): string {
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return typeof value === "string" ? value.replaceAll(/\s+/g, " ").trim() : "";
}
