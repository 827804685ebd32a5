/** An A2A server over exchanges in memory, in this process, asked in both bindings as a peer asks. */
import { type A2aServer, makeA2aServer } from "../../bridges/a2a/serve/mod.ts";
import type { A2aBounds } from "../../bridges/a2a/serve/mod.ts";
import { PeerHolder } from "../../contracts/wire/wire_a2a.ts";
import { kitCard } from "./_a2a_card.ts";
import { type FakePeer, type FakeStarter, fakeStarter, type Scenarios } from "./_a2a_exchanges.ts";
import { KIT_SCENARIOS } from "./_a2a_scenarios.ts";

/** A binding of the protocol. */
export type Binding = "JSONRPC" | "HTTP+JSON";
/** Both that are served. */
export const BINDINGS: readonly Binding[] = ["JSONRPC", "HTTP+JSON"];
/** Where the server thinks that it is. */
export const BASE = "http://remit.test";

/** A JSON value, looked at without its type. */
// deno-lint-ignore no-explicit-any -- a test reads answers that it knows nothing of
export type Loose = any;

/** An answer, in either binding. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** What was answered, without its envelope. */
  readonly value?: Loose;
  /** What was refused: code of JSON-RPC, reason of ErrorInfo, words. */
  readonly error?: { readonly code: number; readonly reason: string; readonly message: string };
  /** All that came. */
  readonly body: Loose;
}

/** A stream that is read event by event. */
export interface Streamed {
  readonly headers: Headers;
  /** The next event without its envelope; undefined at the end. */
  next(): Promise<Loose>;
  /** All that there is to the end. */
  rest(): Promise<Loose[]>;
  close(): Promise<void>;
}

/** The world. */
export interface World {
  readonly server: A2aServer;
  readonly starter: FakeStarter;
  readonly notes: string[];
  ask(binding: Binding, method: string, params?: Loose, by?: By): Promise<Answer>;
  stream(binding: Binding, method: string, params: Loose, by?: By): Promise<Streamed>;
  /** A request as it stands. */
  raw(path: string, init?: RequestInit & { readonly token?: string | null }): Promise<Response>;
  /** Lets `ms` pass. */
  pass(ms: number): void;
  /** Timers that wait. */
  readonly timers: number;
}

/** Who asks, and with which headers. */
export interface By {
  /** null: nobody. */
  readonly token?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

const TOKENS: Readonly<Record<string, FakePeer>> = {
  alice: { peer: "alice", push: true, progress: true },
  bob: { peer: "bob" },
};

/** Makes it: alice may have deliveries and sees progress, bob may not. */
export function makeWorld(
  setting: { readonly scenarios?: Scenarios; readonly most?: Partial<A2aBounds> } = {},
): World {
  let now = Date.UTC(2026, 10, 22, 12, 0, 0);
  const timers = new Map<object, { readonly at: number; readonly then: () => void }>();
  const starter = fakeStarter({
    tokens: TOKENS,
    scenarios: { ...KIT_SCENARIOS, ...setting.scenarios },
    card: () => kitCard(BASE),
    now: () => now++,
  });
  const notes: string[] = [];
  let ids = 0;
  const server = makeA2aServer({
    port: starter,
    after: (ms, then) => {
      const key = {};
      timers.set(key, { at: now + ms, then });
      return () => void timers.delete(key);
    },
    randomId: () => `id${++ids}`,
    note: (text) => void notes.push(text),
    ...(setting.most === undefined ? {} : { bounds: setting.most }),
  });
  starter.hear(server.heard);

  const raw: World["raw"] = async (path, init = {}) => {
    const { token = "alice", ...rest } = init;
    const request = new Request(`${BASE}${path}`, rest);
    const known = token === null ? undefined : TOKENS[token];
    const holder = known === undefined ? undefined : PeerHolder.parse({
      ...{ peer: known.peer, perMinute: 600 },
      ...{ push: known.push ?? false, progress: known.progress ?? false },
    });
    const body = request.body === null
      ? undefined
      : new Uint8Array(await request.clone().arrayBuffer());
    return await server.fetch(request, body, holder === undefined ? { token } : { token, holder });
  };

  const call = (binding: Binding, method: string, params: Loose, by: By): Promise<Response> => {
    const headers = { "a2a-version": "1.0", ...by.headers };
    const token = by.token === undefined ? {} : { token: by.token };
    if (binding === "JSONRPC") {
      return raw("/a2a", {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify({ jsonrpc: "2.0", id: 7, method, params }),
        ...token,
      });
    }
    const { verb, path, body } = restOf(method, params);
    return raw(`/a2a/v1${path}`, {
      method: verb,
      headers: body === undefined ? headers : { "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...token,
    });
  };

  return {
    server,
    starter,
    notes,
    raw,
    async ask(binding, method, params = {}, by = {}) {
      return await answerOf(binding, await call(binding, method, params, by));
    },
    async stream(binding, method, params, by = {}) {
      return streamOf(binding, await call(binding, method, params, by));
    },
    pass(ms): void {
      now += ms;
      for (const [key, { at, then }] of [...timers]) {
        if (at <= now && timers.delete(key)) then();
      }
    },
    get timers(): number {
      return timers.size;
    },
  };
}

/** A method of the protocol as HTTP+JSON has it. */
export function restOf(
  method: string,
  params: Loose,
): { readonly verb: string; readonly path: string; readonly body?: Loose } {
  const query = (names: readonly string[]): string => {
    const search = new URLSearchParams();
    for (const name of names) if (params[name] !== undefined) search.set(name, `${params[name]}`);
    return search.size === 0 ? "" : `?${search}`;
  };
  const id = encodeURIComponent(params.id ?? "");
  const pushes = `/tasks/${encodeURIComponent(params.taskId ?? "")}/pushNotificationConfigs`;
  switch (method) {
    case "SendMessage":
      return { verb: "POST", path: "/message:send", body: params };
    case "SendStreamingMessage":
      return { verb: "POST", path: "/message:stream", body: params };
    case "GetTask":
      return { verb: "GET", path: `/tasks/${id}${query(["historyLength"])}` };
    case "ListTasks":
      return {
        verb: "GET",
        path: `/tasks${
          query([
            ...["contextId", "status", "pageSize", "pageToken", "historyLength"],
            ...["statusTimestampAfter", "includeArtifacts"],
          ])
        }`,
      };
    case "CancelTask":
      return { verb: "POST", path: `/tasks/${id}:cancel` };
    case "SubscribeToTask":
      return { verb: "POST", path: `/tasks/${id}:subscribe` };
    case "CreateTaskPushNotificationConfig":
      return { verb: "POST", path: pushes, body: params };
    case "GetTaskPushNotificationConfig":
      return { verb: "GET", path: `${pushes}/${id}` };
    case "ListTaskPushNotificationConfigs":
      return { verb: "GET", path: pushes };
    case "DeleteTaskPushNotificationConfig":
      return { verb: "DELETE", path: `${pushes}/${id}` };
    case "GetExtendedAgentCard":
      return { verb: "GET", path: "/extendedAgentCard" };
    default:
      return { verb: "POST", path: `/${method}`, body: params };
  }
}

async function answerOf(binding: Binding, response: Response): Promise<Answer> {
  const { status, headers } = response;
  const body: Loose = await response.json();
  const envelope = binding === "JSONRPC" ? body.result : body;
  if (body.error === undefined) return { status, headers, body, value: envelope };
  const { code, message, data, details } = body.error;
  const info = (data ?? details ?? []).find((each: Loose) =>
    `${each["@type"]}`.includes("ErrorInfo")
  );
  return { status, headers, body, error: { code, message, reason: info?.reason ?? "" } };
}

function streamOf(binding: Binding, response: Response): Streamed {
  const type = response.headers.get("content-type") ?? "";
  if (response.body === null || !type.includes("text/event-stream")) {
    throw new Error(`no stream, but ${response.status} ${type}`);
  }
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  const next = async (): Promise<Loose> => {
    for (;;) {
      const end = text.indexOf("\n\n");
      if (end >= 0) {
        const event = text.slice(0, end);
        text = text.slice(end + 2);
        if (!event.startsWith("data: ")) continue;
        const value: Loose = JSON.parse(event.slice("data: ".length));
        return binding === "JSONRPC" ? value.result : value;
      }
      const { done, value } = await reader.read();
      if (done) return undefined;
      text += decoder.decode(value, { stream: true });
    }
  };
  return {
    headers: response.headers,
    next,
    async rest() {
      const all = [];
      for (let event = await next(); event !== undefined; event = await next()) all.push(event);
      return all;
    },
    close: () => reader.cancel(),
  };
}

let messages = 0;

/** A message of a peer. */
export function message(id: string, more: Loose = {}): Loose {
  return {
    message: {
      messageId: `${id}-${++messages}`,
      role: "ROLE_USER",
      parts: [{ text: `words ${messages}` }],
      ...more,
    },
  };
}
