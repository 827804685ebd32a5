/**
 * Converts a task's events to session updates of the Agent Client Protocol, version 1:
 * https://agentclientprotocol.com/protocol. Used by cli/acp/sessions.ts.
 * @module
 */
import type { SessionUpdate, ToolCallContent, ToolKind } from "@agentclientprotocol/sdk";
import { displayBlock, displayText } from "../../text/mod.ts";

/** An event of a task's log, from a watch. */
export interface TaskEvent {
  readonly n: number;
  readonly event: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly private: Readonly<Record<string, unknown>>;
}

/** What a watch sends: an event, or a piece of the answer. */
export type SeenOfTask =
  | { readonly kind: "event"; readonly event: TaskEvent }
  | { readonly kind: "chunk"; readonly text: string };

/** The question that a call waits for. */
export interface AskedCall {
  readonly pid: number;
  readonly callId?: string | undefined;
  readonly tool: string;
  readonly summary: string;
  readonly argumentsText: string;
}

/** The updates of one session. */
export interface SessionUpdates {
  /** Converts an event or piece; with `past` a replay, whose texts come from the events. */
  take(seen: SeenOfTask, options: { readonly past: boolean }): readonly SessionUpdate[];
  /** The id of a call that waits for a person, with its announcement if it is new. */
  asked(call: AskedCall): { readonly id: string; readonly updates: readonly SessionUpdate[] };
  /** Whether text was sent since the last call of this method. */
  spoke(): boolean;
}

const KINDS: Readonly<Record<string, ToolKind>> = {
  file_list: "search",
  file_search: "search",
  text_search: "search",
  tool_search: "search",
  file_read: "read",
  file_stat: "read",
  file_edit: "edit",
  file_write: "edit",
  patch_apply: "edit",
  file_delete: "delete",
  command: "execute",
  exec: "execute",
  http_fetch: "fetch",
  web_read: "fetch",
};
/** Characters of a result shown, at most. */
const MAX_RESULT = 4_000;
const MAX_TITLE = 160;

/** Makes a session's updates; `pathOf` makes `MOUNT/relative` absolute, `window` is in tokens. */
export function makeSessionUpdates({ pathOf, window }: {
  pathOf(path: string): string | undefined;
  readonly window: number;
}): SessionUpdates {
  /** Announced calls without an outcome, by process and call. */
  const open = new Map<string, string>();
  const children = new Set<unknown>();
  let next = 0;
  let spent = 0;
  let spoke = false;

  const idOf = (pid: unknown, call: unknown): { readonly id: string; readonly isNew: boolean } => {
    const key = `${pid} ${call}`;
    const known = open.get(key);
    if (known !== undefined) return { id: known, isNew: false };
    // A later turn may reuse the call's id for another call.
    const id = `call-${++next}`;
    open.set(key, id);
    return { id, isNew: true };
  };

  const described = (tool: string, args: Readonly<Record<string, unknown>>) => {
    const path = typeof args["path"] === "string" ? args["path"] : undefined;
    const at = path === undefined ? undefined : pathOf(path);
    const line = typeof args["from"] === "number" ? { line: args["from"] } : {};
    const subject = [path, args["url"], args["query"], args["command"], args["request"]].find((
      each,
    ) => typeof each === "string");
    return {
      title: displayText(subject === undefined ? tool : `${tool} ${subject}`, { max: MAX_TITLE }),
      kind: KINDS[tool] ?? "other" as const,
      rawInput: args,
      ...(at === undefined ? {} : { locations: [{ path: at, ...line }] }),
      ...contentOf(tool, args, at),
    };
  };

  const announce = (
    { pid, call, tool, args }: {
      readonly pid: unknown;
      readonly call: unknown;
      readonly tool: string;
      readonly args: Readonly<Record<string, unknown>>;
    },
    status: "pending" | "in_progress",
  ): readonly SessionUpdate[] => {
    const { id, isNew } = idOf(pid, call);
    return isNew
      ? [{ sessionUpdate: "tool_call", toolCallId: id, status, ...described(tool, args) }]
      : [{ sessionUpdate: "tool_call_update", toolCallId: id, status }];
  };

  const text = (content: string): readonly SessionUpdate[] => {
    if (content === "") return [];
    spoke = true;
    return [{ sessionUpdate: "agent_message_chunk", content: { type: "text", text: content } }];
  };
  const user = (content: string): readonly SessionUpdate[] => [
    { sessionUpdate: "user_message_chunk", content: { type: "text", text: content } },
  ];

  const ofEvent = (
    { event, body, private: inner }: TaskEvent,
    past: boolean,
  ): readonly SessionUpdate[] => {
    const call = { pid: body["pid"], call: body["call"], tool: String(body["tool"] ?? "") };
    switch (event) {
      case "taskCreated":
        return past ? user(String(recordOf(inner["request"])["request"] ?? "")) : [];
      case "message":
        return past ? user(contentIn(inner["message"])) : [];
      case "processStarted":
        children.add(body["pid"]);
        return [];
      case "intent":
        return announce({ ...call, args: argumentsIn(inner) }, "in_progress");
      case "outcome":
      case "refused": {
        const announced = announce({ ...call, args: argumentsIn(inner) }, "in_progress")
          .filter(({ sessionUpdate }) => sessionUpdate === "tool_call");
        const { id } = idOf(call.pid, call.call);
        open.delete(`${call.pid} ${call.call}`);
        const ok = body["outcome"] === "ok";
        const result = String(
          inner["content"] ?? inner["why"] ?? inner["error"] ?? body["why"] ?? "",
        );
        const rule = typeof body["rule"] === "string" && !ok ? ` (rule: ${body["rule"]})` : "";
        const shown = displayBlock(`${result}${rule}`, {
          prefix: "",
          max: MAX_RESULT,
          maxLines: 200,
          columns: 2_000,
        });
        return [...announced, {
          sessionUpdate: "tool_call_update",
          toolCallId: id,
          status: ok ? "completed" : "failed",
          rawOutput: { outcome: body["outcome"] ?? null, colour: body["colour"] ?? null },
          // Keep the diff that was shown.
          ...(shown.length === 0 || (ok && KINDS[call.tool] === "edit") ? {} : {
            content: [{ type: "content", content: { type: "text", text: shown.join("\n") } }],
          }),
        }];
      }
      case "inferred": {
        if (typeof body["money"] === "number") spent += body["money"];
        const own = !children.has(body["pid"]) && body["aside"] !== true;
        const used = Number(body["inputTokens"] ?? 0) + Number(body["outputTokens"] ?? 0);
        return [
          ...(past && own ? text(contentIn(inner["message"])) : []),
          ...(own
            ? [{
              sessionUpdate: "usage_update" as const,
              used,
              size: Math.max(window, used),
              cost: { amount: spent, currency: "USD" },
            }]
            : []),
        ];
      }
      default:
        return [];
    }
  };

  return Object.freeze<SessionUpdates>({
    take: (seen, { past }) => seen.kind === "chunk" ? text(seen.text) : ofEvent(seen.event, past),
    asked({ pid, callId, tool, summary, argumentsText }) {
      const args = parsed(argumentsText);
      const updates = announce(
        { pid, call: callId ?? `question ${summary}`, tool, args },
        "pending",
      );
      return { id: idOf(pid, callId ?? `question ${summary}`).id, updates };
    },
    spoke(): boolean {
      const before = spoke;
      spoke = false;
      return before;
    },
  });
}

/** The diff of an edit, if the call's arguments hold it whole. */
function contentOf(
  tool: string,
  args: Readonly<Record<string, unknown>>,
  path: string | undefined,
): { readonly content?: ToolCallContent[] } {
  if (path === undefined) return {};
  const { old, new: now, content } = args;
  if (tool === "file_edit" && typeof old === "string" && typeof now === "string") {
    return { content: [{ type: "diff", path, oldText: old, newText: now }] };
  }
  if (tool === "file_write" && typeof content === "string") {
    return { content: [{ type: "diff", path, oldText: null, newText: content }] };
  }
  return {};
}

function argumentsIn(inner: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const given = inner["arguments"] ?? inner["args"];
  return typeof given === "string" ? parsed(given) : recordOf(given);
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    return recordOf(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value))
    : {};
}

function contentIn(message: unknown): string {
  const { content } = recordOf(message);
  return typeof content === "string" ? content : "";
}
