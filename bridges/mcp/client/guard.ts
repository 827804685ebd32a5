/**
 * Stands between a server and the SDK: knows what was asked, what was promised, and lets nothing else through. What
 * it stops is reported.
 * @module
 */
import { isObject, type Json, type JsonObject } from "../../../contracts/base/json.ts";
import { asJson } from "../../../port/as_json.ts";
import type { Clock } from "./calls.ts";
import {
  cutText,
  NOTIFICATIONS_A_SECOND,
  quoted,
  type ReportViolation,
  SERVER_REQUESTS,
} from "./limits.ts";
import { type Message, type RpcId } from "./message.ts";

/** How far something has come. */
export interface Progress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

interface GuardParts {
  readonly report: ReportViolation;
  readonly clock: Pick<Clock, "now">;
  /** Whether a call is under way: outside of one the server asks for nothing. */
  readonly calling: () => boolean;
  /** What the server may ask of us, beside a ping. */
  readonly serves: ReadonlySet<string>;
}

/** What becomes of a server's message. */
type Verdict =
  /** To the SDK, in this form. */
  | { readonly kind: "pass"; readonly message: JsonObject }
  /** Back to the server. */
  | { readonly kind: "answer"; readonly message: JsonObject }
  | { readonly kind: "drop" };

/** See {@link makeGuard}. */
export interface Guard {
  /** Looks at a message of ours on its way out; `answers` are those that {@link Guard.take} made. */
  sent(message: JsonObject): void;
  /** Looks at a message of the server. */
  take(message: Message): Verdict;
  /** What the server promised; any other announcement is a violation. Since 2026-07-28 (`modern`) it asks nothing. */
  promised(capabilities: JsonObject, modern: boolean): void;
  /** Listens for progress under a token of ours, until the returned function is called. */
  listen(token: string, hear: (progress: Progress) => void): () => void;
}

const DROP: Verdict = Object.freeze({ kind: "drop" });
/** Answers that are remembered at least, so that a second one can be told from one to nothing. */
const REMEMBERED = 512;
/** JSON-RPC's server errors begin here: refused by policy. */
const REFUSED = -32_000;
const INTERNAL = -32_603;
const UNKNOWN = -32_601;
const ASKS_WITHIN_CALLS: ReadonlySet<string> = new Set([
  "elicitation/create",
  "sampling/createMessage",
]);
/** What a notification needs to have been promised: a path into the capabilities. */
const NEEDS: Readonly<Record<string, readonly string[]>> = Object.freeze({
  "notifications/message": ["logging"],
  "notifications/tools/list_changed": ["tools", "listChanged"],
  "notifications/resources/list_changed": ["resources", "listChanged"],
  "notifications/prompts/list_changed": ["prompts", "listChanged"],
  "notifications/resources/updated": ["resources", "subscribe"],
  "notifications/tasks/status": ["tasks"],
  "notifications/subscriptions/acknowledged": [],
  "notifications/elicitation/complete": [],
});

/** Makes the guard of one connection. */
export function makeGuard({ report, clock, calling, serves }: GuardParts): Guard {
  /** Requests of ours that wait, by id; the value is the method. */
  const waiting = new Map<RpcId, string>();
  /** Requests of ours that are over, and why. */
  let over = new Map<RpcId, "answered" | "cancelled">(), older = over;
  /** Requests of the server that wait for us. */
  const asked = new Set<RpcId>();
  const listeners = new Map<string, (progress: Progress) => void>();
  let capabilities: JsonObject = {};
  let modern = false;
  let second = -Infinity, seen = 0;

  function end(id: RpcId, how: "answered" | "cancelled"): void {
    waiting.delete(id);
    // Two generations: to take the oldest out of one map again and again is slow.
    if (over.size >= REMEMBERED) [older, over] = [over, new Map()];
    over.set(id, how);
  }

  function drop(what: string): Verdict {
    report(what);
    return DROP;
  }

  function unexpected(id: RpcId): string {
    const how = over.get(id) ?? older.get(id);
    if (how === "answered") return "It answered a request twice";
    // Answer and cancellation may cross: that alone is no violation, and told all the same.
    if (how === "cancelled") return "It answered a request that was cancelled";
    const twin = typeof id === "string" ? Number(id) : String(id);
    if (waiting.has(twin) && String(twin) === String(id)) {
      return `It answered ${JSON.stringify(twin)} as ${JSON.stringify(id)}`;
    }
    return `It answered a request that nobody made (${quoted(String(id))})`;
  }

  function fail(id: RpcId, why: string): Verdict {
    end(id, "answered");
    return {
      kind: "pass",
      message: { jsonrpc: "2.0", id, error: { code: INTERNAL, message: `The answer is ${why}` } },
    };
  }

  function request(id: RpcId, method: string, params: JsonObject | undefined): Verdict {
    const refuse = (why: string): Verdict => {
      report(`It asked ${quoted(method)}: ${why}`);
      return {
        kind: "answer",
        message: {
          jsonrpc: "2.0",
          id,
          error: { code: serves.has(method) ? REFUSED : UNKNOWN, message: `Refused: ${why}` },
        },
      };
    };
    if (modern) return drop(`It asked ${quoted(method)}, which its revision no longer has`);
    if (asked.has(id)) return drop(`It used the id ${quoted(String(id))} twice at once`);
    if (asked.size >= SERVER_REQUESTS) return refuse("too many requests wait");
    if (method !== "ping" && !serves.has(method)) {
      return refuse(ASKS_WITHIN_CALLS.has(method) ? "that was not allowed" : "nobody serves that");
    }
    if (ASKS_WITHIN_CALLS.has(method) && !calling()) return refuse("no call is under way");
    asked.add(id);
    return { kind: "pass", message: written({ id, method, params }) };
  }

  function notification(method: string, params: JsonObject | undefined): Verdict {
    const now = clock.now();
    if (now - second >= 1_000) [second, seen] = [now, 0];
    if (++seen > NOTIFICATIONS_A_SECOND) {
      return seen === NOTIFICATIONS_A_SECOND + 1 ? drop("It floods us with notifications") : DROP;
    }
    if (method === "notifications/progress") return progress(params);
    if (method === "notifications/cancelled") return cancelled(params);
    const needs = Object.hasOwn(NEEDS, method) ? NEEDS[method] : undefined;
    if (needs === undefined) return drop(`It sent ${quoted(method)}, which nobody knows`);
    if (!holds(capabilities, needs)) return drop(`It sent ${method}, which it never promised`);
    return { kind: "pass", message: written({ method, params }) };
  }

  function progress(params: JsonObject | undefined): Verdict {
    const { progressToken, progress, total, message } = params ?? {};
    const hear = typeof progressToken === "string" ? listeners.get(progressToken) : undefined;
    if (hear === undefined) return drop("It reported progress of nothing that is under way");
    if (typeof progress !== "number") return drop("It reported progress without a number");
    hear({
      progress,
      ...(typeof total === "number" ? { total } : {}),
      ...(typeof message === "string" ? { message: cutText(message, 512) } : {}),
    });
    return DROP;
  }

  function cancelled(params: JsonObject | undefined): Verdict {
    const id = params?.["requestId"];
    const known = typeof id === "string" || typeof id === "number";
    // A subscription of ours is ended so, too: its id is a string.
    if (known && (asked.has(id) || waiting.has(id))) {
      asked.delete(id);
      return { kind: "pass", message: written({ method: "notifications/cancelled", params }) };
    }
    return drop("It cancelled a request that it did not make");
  }

  return Object.freeze<Guard>({
    sent(message) {
      const { id, method, params } = message;
      if (method === "notifications/cancelled" && isObject(params)) {
        const target = params["requestId"];
        if (typeof target === "string" || typeof target === "number") end(target, "cancelled");
      }
      if (typeof id !== "string" && typeof id !== "number") return;
      if (typeof method === "string") waiting.set(id, method);
      else asked.delete(id);
    },

    take(message) {
      switch (message.kind) {
        case "request":
          return request(message.id, message.method, message.params);
        case "notification":
          return notification(message.method, message.params);
        case "result":
        case "error": {
          const { id } = message;
          if (id === null) {
            const { error } = message as Message & { kind: "error" };
            return drop(`It says that it could not read us: ${quoted(error.message)}`);
          }
          if (!waiting.has(id)) return drop(unexpected(id));
          // A subscription's answer ends it; its id is never used again either.
          end(id, "answered");
          return { kind: "pass", message: written(message) };
        }
        case "bad": {
          report(`It sent what is no message: ${message.why}`);
          const { answers } = message;
          return answers !== undefined && waiting.has(answers) ? fail(answers, message.why) : DROP;
        }
      }
    },

    promised(all, isModern) {
      capabilities = all;
      modern = isModern;
    },

    listen(token, hear) {
      listeners.set(token, hear);
      return () => listeners.delete(token);
    },
  });
}

/** The message as the SDK takes it: members that have no value are absent. */
function written({ kind: _, ...message }: Partial<Message> & Record<string, unknown>): JsonObject {
  const members = Object.entries(message).filter(([, value]) => value !== undefined);
  return asJson({ jsonrpc: "2.0", ...Object.fromEntries(members) }) as JsonObject;
}

function holds(capabilities: Json, path: readonly string[]): boolean {
  let at: Json | undefined = capabilities;
  for (const name of path) at = isObject(at) ? at[name] : undefined;
  return at !== undefined && at !== false && at !== null;
}
