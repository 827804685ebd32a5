/** A request that left this machine for a model, as `audit query` prints it. @module */
import type { AuditRecord } from "../../contracts/event.ts";
import { TaskId } from "../../contracts/ids.ts";
import type { JsonObject } from "../../contracts/json.ts";
import type { ModelRequest } from "./_model_join.ts";
import { tryObject } from "./private.ts";

/** What left, and what was paid for. */
export interface EgressRecord extends AuditRecord {
  readonly egress: {
    /** `inference`, `aside`, `summary`, `embedding`. */
    readonly use: string;
    readonly host: string;
    /** UTF-8 bytes of texts and tools, before redaction. */
    readonly bytes: number;
    /** Estimated when it was asked. */
    readonly tokens: number;
    /** What was taken out before it left, where the service said so. */
    readonly redactions?: number;
    readonly inputTokens: number;
    readonly outputTokens: number;
    /** US dollars. */
    readonly money: number;
  };
}

/** The tool's name of a record that is no call. */
const MODEL_TOOL = "model_complete";

/** Outcome of a request that failed, by the code of its fault; others are `executionError`. */
const OUTCOMES: Readonly<Record<string, string>> = { cancelled: "cancelled", timedOut: "timedOut" };

/** The record of a request; undefined for an event of no task. `error` is private: gone after a purge. */
export function egressRecord(
  { asked, end }: ModelRequest,
  error: string | undefined,
): EgressRecord | undefined {
  const task = TaskId.safeParse(asked.task);
  if (!task.success) return undefined;
  const body = fieldsOf(tryObject(asked.body)), answer = fieldsOf(tryObject(end?.body ?? "{}"));
  const redactions = answer.value("redactions");
  const code = answer.text("code");
  return Object.freeze({
    session: body.text("session"),
    principal: body.text("principal"),
    task: task.data,
    conversation: body.text("conversation"),
    turn: body.count("turn"),
    call: "",
    pid: body.count("pid"),
    model: body.text("model"),
    backend: body.text("backend"),
    nonce: body.text("nonce"),
    runner: "hosted",
    tool: MODEL_TOOL,
    descriptor: "",
    mode: "auto",
    argumentsHash: "",
    decision: "auto",
    rule: "",
    outcome: end === undefined
      ? "unfinished"
      : end.kind === "inferred"
      ? "ok"
      : OUTCOMES[code] ?? "executionError",
    scope: [`model:${body.text("host")}`],
    colour: body.text("colour"),
    label: body.text("label"),
    effect: "inference",
    at: asked.at,
    ms: end === undefined ? 0 : answer.count("ms") || end.at - asked.at,
    ...(error === undefined && code === "" ? {} : { error: error ?? code }),
    egress: {
      use: body.text("use"),
      host: body.text("host"),
      bytes: body.count("bytes"),
      tokens: body.count("tokens"),
      ...(typeof redactions === "number" ? { redactions } : {}),
      inputTokens: answer.count("inputTokens"),
      outputTokens: answer.count("outputTokens"),
      money: answer.count("money"),
    },
  });
}

function fieldsOf(body: JsonObject | undefined): {
  value(key: string): unknown;
  text(key: string): string;
  count(key: string): number;
} {
  const value = (key: string): unknown =>
    body !== undefined && Object.hasOwn(body, key) ? body[key] : undefined;
  return {
    value,
    text(key): string {
      const found = value(key);
      return typeof found === "string" ? found : "";
    },
    count(key): number {
      const found = value(key);
      return typeof found === "number" ? found : 0;
    },
  };
}
