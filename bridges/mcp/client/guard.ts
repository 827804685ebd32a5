/**
 * Stands between a server and the SDK: passes only answers to requests that were made, and requests
 * and notifications that were allowed; reports everything else.
 * @module
 */
import { isObject, type Json, type JsonObject } from "../../../contracts/base/json.ts";
import { asJson } from "../../../port/as_json.ts";
import type { Clock } from "./calls.ts";
import {
  cutText,
  MAX_NOTIFICATIONS_A_SECOND,
  MAX_SERVER_REQUESTS,
  quoted,
  type ReportViolation,
} from "./limits.ts";
import { errorAnswer, type Message, type RpcId } from "./message.ts";

/** The progress of a call. */
export interface Progress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

interface GuardParts {
  readonly report: ReportViolation;
  readonly clock: Pick<Clock, "now">;
  /** Whether a call is running: the server may ask a person or a model during calls alone. */
  readonly calling: () => boolean;
  /** Methods that the server may request, beside `ping`. */
  readonly serves: ReadonlySet<string>;
}

/** The decision about a server's message. */
type Verdict =
  /** Pass this message to the SDK. */
  | { readonly kind: "pass"; readonly message: JsonObject }
  /** Send this message back to the server. */
  | { readonly kind: "answer"; readonly message: JsonObject }
  | { readonly kind: "drop" };

/** The guard of one connection. */
export interface Guard {
  /** Records an outgoing message, except the answers that {@link Guard.take} makes. */
  sent(message: JsonObject): void;
  /** Decides about an incoming message. */
  take(message: Message): Verdict;
  /** Sets the server's capabilities; announcements of others are violations. A `modern` server requests nothing. */
  promised(capabilities: JsonObject, modern: boolean): void;
  /** Listens for progress under one of our tokens, until the returned function is called. */
  listen(token: string, hear: (progress: Progress) => void): () => void;
}

const DROP: Verdict = Object.freeze({ kind: "drop" });
/** Finished requests that are remembered at least, to tell a second answer from an unrelated one. */
const MIN_REMEMBERED = 512;
/** JSON-RPC's first server error: refused by policy. */
const REFUSED = -32_000;
const INTERNAL = -32_603;
const UNKNOWN = -32_601;
const ASKS_WITHIN_CALLS: ReadonlySet<string> = new Set([
  "elicitation/create",
  "sampling/createMessage",
]);
/** The capability, as a path, without which a notification is a violation. */
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
  /** Methods of our unanswered requests, by id. */
  const waiting = new Map<RpcId, string>();
  /** Our finished requests: how they ended. */
  let over = new Map<RpcId, "answered" | "cancelled">(), older = over;
  /** The server's requests that we have not answered. */
  const asked = new Set<RpcId>();
  const listeners = new Map<string, (progress: Progress) => void>();
  let capabilities: JsonObject = {};
  let modern = false;
  let second = -Infinity, seen = 0;

  function end(id: RpcId, how: "answered" | "cancelled"): void {
    waiting.delete(id);
    // Two generations: removing the oldest entry of a map one by one is slow.
    if (over.size >= MIN_REMEMBERED) [older, over] = [over, new Map()];
    over.set(id, how);
  }

  function drop(what: string): Verdict {
    report(what);
    return DROP;
  }

  function unexpected(id: RpcId): string {
    const how = over.get(id) ?? older.get(id);
    if (how === "answered") return "It answered a request twice";
    // No violation by itself, since an answer and a cancellation may cross; reported all the same.
    if (how === "cancelled") return "It answered a request that was cancelled";
    const twin = typeof id === "string" ? Number(id) : String(id);
    if (waiting.has(twin) && String(twin) === String(id)) {
      return `It answered ${JSON.stringify(twin)} as ${JSON.stringify(id)}`;
    }
    return `It answered a request that nobody made (${quoted(String(id))})`;
  }

  function fail(id: RpcId, why: string): Verdict {
    end(id, "answered");
    return { kind: "pass", message: errorAnswer(id, INTERNAL, `The answer is ${why}`) };
  }

  function request(id: RpcId, method: string, params: JsonObject | undefined): Verdict {
    const refuse = (why: string): Verdict => {
      report(`It asked ${quoted(method)}: ${why}`);
      const code = serves.has(method) ? REFUSED : UNKNOWN;
      return { kind: "answer", message: errorAnswer(id, code, `Refused: ${why}`) };
    };
    if (modern) return drop(`It asked ${quoted(method)}, which its revision no longer has`);
    if (asked.has(id)) return drop(`It used the id ${quoted(String(id))} twice at once`);
    if (asked.size >= MAX_SERVER_REQUESTS) return refuse("too many requests wait");
    if (method !== "ping" && !serves.has(method)) {
      return refuse(ASKS_WITHIN_CALLS.has(method) ? "that was not allowed" : "nobody serves that");
    }
    if (ASKS_WITHIN_CALLS.has(method) && !calling()) return refuse("no call is under way");
    asked.add(id);
    return { kind: "pass", message: toSdk({ id, method, params }) };
  }

  function notification(method: string, params: JsonObject | undefined): Verdict {
    const now = clock.now();
    if (now - second >= 1_000) [second, seen] = [now, 0];
    if (++seen > MAX_NOTIFICATIONS_A_SECOND) {
      return seen === MAX_NOTIFICATIONS_A_SECOND + 1
        ? drop("It floods us with notifications")
        : DROP;
    }
    if (method === "notifications/progress") return progress(params);
    if (method === "notifications/cancelled") return cancelled(params);
    const needs = Object.hasOwn(NEEDS, method) ? NEEDS[method] : undefined;
    if (needs === undefined) return drop(`It sent ${quoted(method)}, which nobody knows`);
    if (!holds(capabilities, needs)) return drop(`It sent ${method}, which it never promised`);
    return { kind: "pass", message: toSdk({ method, params }) };
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
    // A server also ends a subscription of ours this way; that id is a string.
    if (known && (asked.has(id) || waiting.has(id))) {
      asked.delete(id);
      return { kind: "pass", message: toSdk({ method: "notifications/cancelled", params }) };
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
          // An answer to a subscription ends the subscription; its id is not used again either.
          end(id, "answered");
          return { kind: "pass", message: toSdk(message) };
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

/** A message as the SDK takes it: without undefined members. */
function toSdk({ kind: _, ...message }: Partial<Message> & Record<string, unknown>): JsonObject {
  const members = Object.entries(message).filter(([, value]) => value !== undefined);
  return asJson({ jsonrpc: "2.0", ...Object.fromEntries(members) }) as JsonObject;
}

function holds(capabilities: Json, path: readonly string[]): boolean {
  let at: Json | undefined = capabilities;
  for (const name of path) at = isObject(at) ? at[name] : undefined;
  return at !== undefined && at !== false && at !== null;
}
