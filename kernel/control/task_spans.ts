/**
 * A task's activities as spans: names, ids, counts and outcomes. Only public bodies of events are
 * read, so spans contain no content. Wired in kernel/main_agents.ts.
 * @module
 */
import type { TaskId } from "../../contracts/authority/mod.ts";
import type { JsonObject } from "../../contracts/base/mod.ts";
import type { StoredEvent, TaskSpan } from "../../contracts/task/mod.ts";
import { bodyOf, eventsOf } from "../core/log/read_events.ts";

/** Spans of one task; further ones are left out and counted. */
const MAX_SPANS = 5_000;
const NAMES = [
  ...["tool", "effect", "mode", "decision", "rule", "outcome", "model", "backend", "kind", "state"],
  ...["pid", "turn", "inputTokens", "outputTokens", "money", "finish", "channel", "profile"],
  ...["interactive", "harness", "status", "exit"],
] as const;

/** Copies known attributes: short strings of Remit's own or reviewed names, numbers, booleans. */
function attributesOf(body: JsonObject): Record<string, string | number | boolean> {
  const found: Record<string, string | number | boolean> = {};
  for (const name of NAMES) {
    const value = Object.hasOwn(body, name) ? body[name] : undefined;
    if (typeof value === "string") found[name] = value.slice(0, 256);
    else if (typeof value === "number" || typeof value === "boolean") found[name] = value;
  }
  return found;
}

const textOf = (body: JsonObject, name: string): string => {
  const value = body[name];
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
};

interface Begun {
  readonly at: number;
  readonly body: JsonObject;
}

/** Reads a task's spans from the log; the first is the task itself, from its creation to its last event. */
export async function taskSpans(
  store: Parameters<typeof eventsOf>[0],
  task: TaskId,
): Promise<readonly TaskSpan[]> {
  const spans: TaskSpan[] = [];
  const begun = new Map<string, Begun>();
  let made: Begun | undefined;
  let last = 0;
  let dropped = 0;
  let status: JsonObject = {};
  const add = (
    kind: TaskSpan["kind"],
    id: string,
    span: { readonly from: Begun; readonly to: Begun; readonly ok: boolean },
  ): void => {
    if (spans.length >= MAX_SPANS) dropped += 1;
    else {
      spans.push({
        kind,
        id,
        ...{ from: span.from.at, to: span.to.at, ok: span.ok },
        attributes: { ...attributesOf(span.from.body), ...attributesOf(span.to.body) },
      });
    }
  };
  const take = (event: StoredEvent): void => {
    const body = bodyOf(event);
    const now: Begun = { at: event.at, body };
    const pid = textOf(body, "pid");
    switch (event.kind) {
      case "taskCreated":
        made = now;
        break;
      case "taskStatus":
        status = body;
        break;
      case "modelAsked":
        begun.set(`model ${textOf(body, "nonce")}`, now);
        break;
      case "inferred":
      case "modelFailed": {
        const key = `model ${textOf(body, "nonce")}`;
        // Requests to local models are not logged; they began after the event before.
        const from = begun.get(key) ?? { at: last === 0 ? event.at : last, body: {} };
        begun.delete(key);
        add("inference", `${event.n}`, { from, to: now, ok: event.kind === "inferred" });
        break;
      }
      case "intent":
        begun.set(`call ${pid} ${textOf(body, "call")}`, now);
        break;
      case "outcome": {
        const key = `call ${pid} ${textOf(body, "call")}`;
        const from = begun.get(key) ?? now;
        begun.delete(key);
        add("call", `${event.n}`, { from, to: now, ok: body["outcome"] === "ok" });
        break;
      }
      case "refused":
        add("call", `${event.n}`, { from: now, to: now, ok: false });
        break;
      case "questionAsked":
        begun.set(`question ${textOf(body, "question")}`, now);
        break;
      case "questionAnswered": {
        const from = begun.get(`question ${textOf(body, "question")}`) ?? now;
        add("question", textOf(body, "question"), { from, to: now, ok: true });
        break;
      }
    }
    last = event.at;
  };
  for await (const event of eventsOf(store, task)) take(event);
  if (made === undefined) return [];
  const { at: from, body } = made;
  const own: TaskSpan = {
    ...{ kind: "task", id: task, from, to: last },
    ok: status["status"] !== "failed",
    attributes: {
      ...attributesOf(body),
      ...attributesOf(status),
      ...(dropped === 0 ? {} : { dropped }),
    },
  };
  return [own, ...spans];
}
