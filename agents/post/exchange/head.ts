/** An exchange as the kernel stores it: a mutable head, and immutable messages and artifacts. @module */
import { Fault, unreachable } from "../../../contracts/base/fault.ts";
import { EXIT } from "../../../contracts/base/fault_exit.ts";
import type { NewEvent } from "../../../contracts/task/event.ts";
import {
  Exchange,
  type ExchangeId,
  type ExchangeState,
  PeerArtifact,
  PeerMessage,
  PeerSend,
  PushConfig,
} from "../../../contracts/exchange/exchange.ts";
import {
  isObject,
  type Json,
  type JsonObject,
  toJsonObject,
} from "../../../contracts/base/json.ts";
import type { DocumentRow, DocumentWrite } from "../../../contracts/task/store.ts";
import type { AgentTask, TaskRequest } from "../../../contracts/task/task.ts";
import { sha256Hex } from "../../../port/digest.ts";
import { canonicalJson } from "../../../port/mod.ts";

/** Document kinds: head, messages and artifacts, and the request that waits for a person. */
export const HEAD = "exchange", PART = "exchangePart", REQUEST = "exchangeRequest";

/** A push configuration and its delivery state. */
export interface Push {
  readonly config: PushConfig;
  /** The newest delivered version. */
  readonly delivered: number;
  readonly attempt: number;
  /** Earliest time of the next attempt, milliseconds since 1970. */
  readonly again: number;
}

/** An exchange without its contents. */
export interface ExchangeHead extends Omit<Exchange, "history" | "artifacts" | "pushes"> {
  readonly clearance: PeerSend["clearance"];
  /** Digest of the first message and the peer's context, if any; identifies a retry. */
  readonly first?: string;
  /** The agent's question in this turn. */
  readonly asking?: string;
  /** The agent's answer that ends the exchange at the end of this turn, in place of its last text. */
  readonly answering?: string;
  /** Whether the status is a message of its own, which enters the history when another status follows. */
  readonly said: boolean;
  readonly pushes: readonly Push[];
  /** Numbers of stored messages and artifacts, and their characters by side. */
  readonly messages: number;
  readonly artifacts: number;
  readonly bytes: { readonly theirs: number; readonly ours: number };
}

const Base = Exchange.omit({ history: true, artifacts: true, pushes: true }).strip();

/** Parses a head; undefined if it was erased. @throws Fault `storeCorrupt` */
export function headOf({ id, body }: Pick<DocumentRow, "id" | "body">): ExchangeHead | undefined {
  if (body["erased"] === true) return undefined;
  const base = Base.safeParse(body);
  const { clearance, first, asking, answering, said, messages, artifacts, bytes } = body;
  const label = PeerSend.shape.clearance.safeParse(clearance);
  if (!base.success || !label.success) {
    throw new Fault("storeCorrupt", `Cannot read exchange ${id}: it does not parse`);
  }
  return {
    ...base.data,
    clearance: label.data,
    ...(typeof first === "string" ? { first } : {}),
    ...(typeof asking === "string" ? { asking } : {}),
    ...(typeof answering === "string" ? { answering } : {}),
    said: said === true,
    pushes: listOf(body["pushes"]).flatMap((each) => pushOf(each) ?? []),
    messages: Number(messages),
    artifacts: Number(artifacts),
    bytes: { theirs: Number(at(bytes, "theirs")), ours: Number(at(bytes, "ours")) },
  };
}

/** A message or an artifact, as a document of its own. */
export type Part =
  /** `first`: began the exchange, without naming one. */
  | { readonly kind: "message"; readonly message: PeerMessage; readonly first?: true }
  | { readonly kind: "artifact"; readonly artifact: PeerArtifact };

/** Parses a part; undefined if it was erased. */
export function partOf({ body }: Pick<DocumentRow, "body">): Part | undefined {
  const message = PeerMessage.safeParse(body["message"]);
  if (message.success) return { kind: "message", message: message.data };
  const artifact = PeerArtifact.safeParse(body["artifact"]);
  return artifact.success ? { kind: "artifact", artifact: artifact.data } : undefined;
}

/** Names a message within its exchange by id and content. */
export function wordsDigest({ id, parts }: Pick<PeerMessage, "id" | "parts">): string {
  return sha256Hex(canonicalJson([id, toJsonObject({ parts })])).slice(0, 40);
}

/** The document id of a part; writing the same part twice is a conflict in the store. */
export function partId(exchange: ExchangeId, part: Part): string {
  return part.kind === "message"
    ? `${exchange}.${part.first === true ? "f" : "m"}.${wordsDigest(part.message)}`
    : `${exchange}.a.${part.artifact.id}`;
}

function pushOf(value: Json): Push | undefined {
  const config = PushConfig.safeParse(at(value, "config"));
  if (!config.success) return undefined;
  const [delivered, attempt, again] = ["delivered", "attempt", "again"].map((key) =>
    Number(at(value, key) ?? 0)
  );
  return {
    config: config.data,
    delivered: delivered ?? 0,
    attempt: attempt ?? 0,
    again: again ?? 0,
  };
}

const listOf = (value: Json | undefined): readonly Json[] => Array.isArray(value) ? value : [];

function at(value: Json | undefined, key: string): Json | undefined {
  return isObject(value) ? value[key] : undefined;
}

// Transitions of exchanges, and the effect of a task's status. A2A protocol 1.0, TaskState.

/** Allowed transitions. States without successors are final. */
export const EXCHANGE_MOVES: Readonly<Record<ExchangeState, readonly ExchangeState[]>> = Object
  .freeze({
    submitted: ["working", "failed", "canceled", "rejected"],
    working: ["inputRequired", "authRequired", "completed", "failed", "canceled"],
    inputRequired: ["working", "failed", "canceled"],
    authRequired: ["working", "failed", "canceled"],
    completed: [],
    failed: [],
    canceled: [],
    rejected: [],
  });

/** Whether a state is final. */
export function isOver(state: ExchangeState): boolean {
  return EXCHANGE_MOVES[state].length === 0;
}

/** Throws `conflict` for a transition that is not allowed; staying in a state that is not final is allowed. */
export function checkMove(exchange: ExchangeId, from: ExchangeState, to: ExchangeState): void {
  if (EXCHANGE_MOVES[from].includes(to) || (from === to && !isOver(from))) return;
  throw new Fault("conflict", `Cannot make exchange ${exchange} "${to}": it is "${from}"`);
}

/** The consequence of a task's state for its exchange. */
export type TaskSays =
  | { readonly kind: "works"; readonly waits: boolean }
  /** The turn has ended: the exchange depends on the agent's question and waiting messages. */
  | { readonly kind: "turnOver" }
  | { readonly kind: "ended"; readonly state: "completed" | "failed" | "canceled" };

/** The consequence of a task's status for its exchange. */
export function whatTaskSays(task: AgentTask, turnOver: boolean): TaskSays {
  switch (task.status) {
    case "open":
      return turnOver ? { kind: "turnOver" } : { kind: "works", waits: false };
    case "blocked":
    case "reviewing":
      return { kind: "works", waits: false };
    case "needsApproval":
      return { kind: "works", waits: true };
    case "done":
      return { kind: "ended", state: "completed" };
    case "failed":
    case "expired":
      return { kind: "ended", state: "failed" };
    case "cancelled":
      return { kind: "ended", state: "canceled" };
    default:
      return unreachable(task.status);
  }
}

/** Reason of a failure for the peer, without any text of the task. */
export function plainFailure({ status, exit }: Pick<AgentTask, "status" | "exit">): string {
  if (status === "expired") return "The task took longer than it may.";
  switch (exit) {
    case EXIT.budgetExhausted:
      return "The task used up what it was given.";
    case EXIT.contextOverflow:
      return "The task is too long for the agent.";
    case EXIT.upstreamFailure:
      return "The agent could not be reached.";
    default:
      return "The task failed.";
  }
}

/** Maximum messages and artifacts of one exchange, as in contracts/exchange/exchange.ts. */
export const MAX_MESSAGES = 1_000, MAX_ARTIFACTS = 256;

/** A change of one exchange. */
export interface ExchangeChange {
  readonly before?: ExchangeHead | undefined;
  readonly next: ExchangeHead;
  readonly parts?: readonly Part[];
  /** The request for the task once a person accepts it; null: no longer needed. */
  readonly request?: TaskRequest | null;
  /** The change is internal to the kernel: the version does not change. */
  readonly quiet?: boolean;
  /** Ids and counts for the event. */
  readonly note?: JsonObject;
}

/** An exchange as shown to its peer. */
export function shownOf(head: ExchangeHead, parts: readonly Part[]): Exchange {
  const { clearance: _c, first: _f, asking: _a, said: _s, bytes: _b, ...rest } = head;
  const { messages: _m, answering: _w, ...shown } = rest;
  return {
    ...shown,
    history: parts.flatMap((part) => part.kind === "message" ? [part.message] : []),
    artifacts: parts.flatMap((part) => part.kind === "artifact" ? [part.artifact] : []),
    pushes: head.pushes.map(({ config }) => config),
  };
}

/** The old status as a history message, if a new status replaces it. */
export function supersededBy({ before, next }: ExchangeChange): readonly Part[] {
  const old = before?.status;
  if (before === undefined || old === undefined || !before.said) return [];
  if (next.status?.id === old.id || before.messages >= MAX_MESSAGES) return [];
  return [{ kind: "message", message: old }];
}

/** The event of a change: ids, states and counts. */
export function exchangeEvent({ before, note = {} }: ExchangeChange, head: ExchangeHead): NewEvent {
  const { id, peer, agent, state, version, task, messages, artifacts } = head;
  return {
    kind: "exchange",
    body: {
      ...{ exchange: id, peer, agent, state, version, messages, artifacts },
      ...(before === undefined || before.state === state ? {} : { from: before.state }),
      ...(task === undefined ? {} : { task }),
      ...note,
    },
  };
}

/** The documents of a change: head, new parts, and the request while it waits for a person. */
export function documentsOf(
  { before, next, parts = [], request }: ExchangeChange,
  expect: number,
): readonly DocumentWrite[] {
  const { id } = next;
  const written = parts.map((part): DocumentWrite => ({
    ...{ kind: PART, id: partId(id, part), task: id, expect: 0, body: toJsonObject(part) },
  }));
  const kept: DocumentWrite[] = request === undefined ? [] : [{
    ...{ kind: REQUEST, id, task: id, expect: before === undefined ? 0 : 1 },
    body: request === null ? {} : toJsonObject({ request }),
  }];
  return [{ kind: HEAD, id, task: id, expect, body: toJsonObject(next) }, ...written, ...kept];
}
