/** Audit records: calls as `audit query` prints them. @module */
import type { AuditRecord, Decided } from "../../contracts/task/event.ts";
import { Fault } from "../../contracts/base/fault.ts";
import { TaskId } from "../../contracts/authority/ids.ts";
import type { Json, JsonObject } from "../../contracts/base/json.ts";
import type { Store, StoredEvent } from "../../contracts/task/store.ts";
import { type CallJoin, makeCallJoin } from "./receipts.ts";
import { readPrivate, tryObject } from "./private.ts";

/** Selects calls. Every field narrows; an empty filter selects all. Times are milliseconds, UTC. */
export interface RecordFilter {
  readonly task?: string | undefined;
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  readonly session?: string | undefined;
  readonly tool?: string | undefined;
  readonly model?: string | undefined;
  readonly decision?: string | undefined;
  readonly outcome?: string | undefined;
}

const DECISIONS: ReadonlySet<string> = new Set<Decided>([
  "auto",
  "consented",
  "reused",
  "denied",
  "stepUpSucceeded",
  "stepUpFailed",
  "forbidden",
  "queued",
]);

function isDecision(value: string): value is Decided {
  return DECISIONS.has(value);
}

/** Texts that a record has only where its events have them. */
const OPTIONAL_TEXTS = [
  ...["gatewaySession", "arguments", "question", "actor", "resultHash", "error"] as const,
  ...["observedVersion", "writtenVersion", "lease"] as const,
] as const;

type Fields = {
  readonly text: (key: string) => string;
  readonly count: (key: string) => number;
  readonly optional: () => { [P in (typeof OPTIONAL_TEXTS)[number]]?: string };
  readonly get: (key: string) => Json | undefined;
};

/** Fields from several objects; later objects win, so the outcome overrides the intent. */
function fieldsOf(parts: readonly (JsonObject | undefined)[]): Fields {
  const get = (key: string): Json | undefined =>
    parts.findLast((part) => part !== undefined && Object.hasOwn(part, key))?.[key];
  const text = (key: string): string => {
    const value = get(key);
    return typeof value === "string" ? value : "";
  };
  return {
    get,
    text,
    count: (key) => {
      const value = get(key);
      return typeof value === "number" ? value : 0;
    },
    optional: () => {
      const found = OPTIONAL_TEXTS.filter((key) => typeof get(key) === "string");
      return Object.fromEntries(found.map((key) => [key, text(key)]));
    },
  };
}

/** A record from the events' fields; missing fields are empty, 0 or absent. */
function recordOf(
  fields: Fields,
  { first, end }: { readonly first: StoredEvent; readonly end: StoredEvent | undefined },
): AuditRecord {
  const { text, count, optional, get } = fields;
  const decision = text("decision");
  const scope = get("scope");
  const resultBytes = get("resultBytes");
  return Object.freeze({
    session: text("session"),
    principal: text("principal"),
    task: TaskId.parse(first.task),
    conversation: text("conversation"),
    turn: count("turn"),
    call: text("call"),
    pid: count("pid"),
    model: text("model"),
    backend: text("backend"),
    nonce: text("nonce"),
    runner: text("runner") || "hosted",
    tool: text("tool"),
    descriptor: text("descriptor"),
    mode: text("mode"),
    argumentsHash: text("argumentsHash"),
    decision: isDecision(decision) ? decision : end?.kind === "refused" ? "forbidden" : "auto",
    rule: text("rule"),
    outcome: end === undefined ? "unfinished" : text("outcome"),
    scope: Array.isArray(scope) ? scope.filter((each) => typeof each === "string") : [],
    colour: text("colour"),
    label: text("label"),
    effect: text("effect"),
    at: count("at") || first.at,
    ms: count("ms") || (end === undefined ? 0 : end.at - first.at),
    ...optional(),
    ...(typeof resultBytes === "number" ? { resultBytes } : {}),
  });
}

/** The private part, or undefined if missing or damaged: damage must not hide the rest of a record. */
async function content(store: Store, event: StoredEvent): Promise<JsonObject | undefined> {
  try {
    return await readPrivate(store, event);
  } catch (error) {
    if (error instanceof Fault && error.code === "storeCorrupt") return undefined;
    throw error;
  }
}

async function joined(
  store: Store,
  intent: StoredEvent | undefined,
  end: StoredEvent | undefined,
): Promise<AuditRecord | undefined> {
  const first = intent ?? end;
  if (first === undefined || !TaskId.safeParse(first.task).success) return undefined;
  const parts: (JsonObject | undefined)[] = [];
  for (const event of [intent, end]) {
    if (event !== undefined) parts.push(tryObject(event.body), await content(store, event));
  }
  return recordOf(fieldsOf(parts), { first, end });
}

function matches(record: AuditRecord, filter: RecordFilter): boolean {
  const { since = 0, until = Infinity, session, tool, model, decision, outcome } = filter;
  return record.at >= since && record.at <= until &&
    (session === undefined || record.session === session) &&
    (tool === undefined || record.tool === tool) &&
    (model === undefined || record.model === model) &&
    (decision === undefined || record.decision === decision) &&
    (outcome === undefined || record.outcome === outcome);
}

async function requested(
  store: Store,
  request: ModelRequest,
): Promise<EgressRecord | undefined> {
  const { end } = request;
  const secret = end?.kind === "modelFailed" ? await content(store, end) : undefined;
  const error = secret?.["error"];
  return egressRecord(request, typeof error === "string" ? error : undefined);
}

const KINDS = ["intent", "outcome", "refused", "modelAsked", "modelFailed", "inferred"];

interface Joins {
  readonly calls: CallJoin;
  readonly models: ModelJoin;
}

/**
 * The calls of a log in the order in which they ended, joined from `intent`, `outcome` and
 * `refused` events and their private parts, together with requests to remote models ({@link
 * EgressRecord}). Unfinished calls follow, with outcome `unfinished`. Does not verify the log.
 */
export async function* auditRecords(
  { store, filter = {} }: { readonly store: Store; readonly filter?: RecordFilter },
): AsyncGenerator<AuditRecord> {
  const joins = new Map<string, Joins>();
  const { task } = filter;
  const page = (after: StoredEvent | undefined): Promise<readonly StoredEvent[]> =>
    task === undefined
      ? store.events({ afterSeq: after?.seq ?? 0, kinds: KINDS })
      : store.events({ task, fromN: after === undefined ? 0 : after.n + 1, kinds: KINDS });
  for (let events = await page(undefined); events.length > 0; events = await page(events.at(-1))) {
    for (const event of events) {
      const join = joins.get(event.task) ?? { calls: makeCallJoin(), models: makeModelJoin() };
      joins.set(event.task, join);
      const request = join.models.feed(event);
      const call = join.calls.feed(event);
      const record = request !== undefined
        ? await requested(store, request)
        : call !== undefined
        ? await joined(store, call.intent, call.end)
        : undefined;
      if (record !== undefined && matches(record, filter)) yield record;
    }
  }
  for (const { calls, models } of joins.values()) {
    for (const intent of calls.open()) {
      const record = await joined(store, intent, undefined);
      if (record !== undefined && matches(record, filter)) yield record;
    }
    for (const request of models.open()) {
      const record = await requested(store, request);
      if (record !== undefined && matches(record, filter)) yield record;
    }
  }
}

/** A request to a remote model: what left the machine, and its cost. */
export interface EgressRecord extends AuditRecord {
  readonly egress: {
    /** `inference`, `aside`, `summary`, `embedding`. */
    readonly use: string;
    readonly host: string;
    /** UTF-8 bytes of texts and tools, before redaction. */
    readonly bytes: number;
    /** Estimate at the time of the request. */
    readonly tokens: number;
    /** Number of redacted passages, if the service reported it. */
    readonly redactions?: number;
    readonly inputTokens: number;
    readonly outputTokens: number;
    /** US dollars. */
    readonly money: number;
  };
}

/** Tool name in records of model requests. */
const MODEL_TOOL = "model_complete";

/** Outcome of a failed request by fault code; others are `executionError`. */
const OUTCOMES: Readonly<Record<string, string>> = { cancelled: "cancelled", timedOut: "timedOut" };

/** The record of a request; undefined outside a task. `error` is private content and may have been erased. */
function egressRecord(
  { asked, end }: ModelRequest,
  error: string | undefined,
): EgressRecord | undefined {
  const task = TaskId.safeParse(asked.task);
  if (!task.success) return undefined;
  const body = fieldsOf([tryObject(asked.body)]), answer = fieldsOf([tryObject(end?.body ?? "{}")]);
  const redactions = answer.get("redactions");
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

/** A request to a remote model, with its answer or failure when it has one. */
interface ModelRequest {
  readonly asked: StoredEvent;
  readonly end?: StoredEvent;
}

/** Joins model requests and answers; takes the events of one task in order. */
interface ModelJoin {
  /** The request that this event ends; undefined for an event that starts a request, and for local models. */
  feed(event: StoredEvent): ModelRequest | undefined;
  /** Requests without an answer, oldest first. */
  open(): readonly ModelRequest[];
}

/** Joins by nonce, which is unique for each request. */
function makeModelJoin(): ModelJoin {
  const open = new Map<string, StoredEvent>();
  return Object.freeze({
    feed(event: StoredEvent): ModelRequest | undefined {
      const isAsked = event.kind === "modelAsked";
      if (!isAsked && event.kind !== "inferred" && event.kind !== "modelFailed") return undefined;
      const nonce = tryObject(event.body)?.["nonce"];
      if (typeof nonce !== "string") return undefined;
      if (isAsked) {
        open.set(nonce, event);
        return undefined;
      }
      const asked = open.get(nonce);
      open.delete(nonce);
      return asked === undefined ? undefined : { asked, end: event };
    },
    open: () => [...open.values()].map((asked) => ({ asked })),
  });
}
